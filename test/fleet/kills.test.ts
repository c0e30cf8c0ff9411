import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { besiege, type Siege } from './siege.ts'
import { makeHome } from './stage.ts'

const PLAN = `
targets: [sim:si, "sim:si+lost-update"]
parameters: {sessions: 4, transactions: 60}
seeds: 1..30
levels: [si]
attempts: 5
`

function siegeIn(home: string): Siege {
  const plan = join(home, 'plan.yaml')
  writeFileSync(plan, PLAN)
  const data = join(home, 'data')
  return {
    ...{ plan, data, place: ['--data', data], results: null, restartServer: null, seed: 1 },
    ...{ workers: 2, workerKills: 3, coordinatorKills: 1, serverRestarts: 1 },
  }
}

describe('a night', () => {
  it('has one result for every job, whoever is killed, with its queue in PostgreSQL', async () => {
    const { code, jobs, results, failed, out } = await besiege(siegeIn(makeHome()))
    expect([code, jobs, results, failed], out).toEqual([1, 60, 60, 0])
    expect(out).toContain('LostUpdate at si')
  }, 300_000)
})

const redisPath = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find((path) => {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
})
if (redisPath === undefined) process.stderr.write('skipped: no redis-server for the queue\n')

describe.skipIf(redisPath === undefined)('a night', () => {
  const home = makeHome()
  let redis: ChildProcess | null = null
  let server: EmbeddedServer | null = null
  afterAll(async () => {
    redis?.kill('SIGKILL')
    await server?.stop()
  })

  it('has one result for every job, whoever is killed, with its queue in Redis', async () => {
    const port = await freePort()
    const startRedis = async () => {
      redis = await startRedisServer(join(home, 'redis'), port)
    }
    await startRedis()
    server = await EmbeddedServer.start()
    const results = `postgres://isobar:${server.password}@127.0.0.1:${server.port}/postgres?sslmode=disable`
    const outlasted = await besiege({
      ...siegeIn(home),
      ...{ place: ['--queue', `redis://127.0.0.1:${port}`, '--results', results], results },
      restartServer: async () => {
        redis!.kill('SIGKILL')
        await once(redis!, 'exit')
        await startRedis()
      },
    })
    const { code, jobs, results: count, failed, out } = outlasted
    expect([code, jobs, count, failed], out).toEqual([1, 60, 60, 0])
  }, 300_000)
})

async function startRedisServer(home: string, port: number): Promise<ChildProcess> {
  mkdirSync(home, { recursive: true })
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', home, '--appendonly', 'yes']
  const child = spawn(redisPath!, [...args, '--appendfsync', 'always'], { stdio: 'ignore' })
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error('redis-server does not start')
    await pause(50)
  }
  return child
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection({ port, host: '127.0.0.1' })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
