// A Redis of Debian's for the queue of a fleet, that writes down what it is told before it says
// so. Main function: startRedisServer.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, statSync } from 'node:fs'
import { createConnection, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** Undefined if there is none on this machine. */
export const redisPath = ['/usr/bin/redis-server', '/usr/local/bin/redis-server'].find(
  (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
)

export async function startRedisServer(home: string, port: number): Promise<ChildProcess> {
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

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { port: number }
  probe.close()
  await once(probe, 'close')
  return port
}
