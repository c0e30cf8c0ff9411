// A worker in a network of its own: nothing leads out of it but a socket, which this program makes
// the port of the queue's server.
//
//   node apart-worker.mjs SOCKET PORT PROGRAM ...

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createConnection, createServer } from 'node:net'

const [socketPath, port, ...command] = process.argv.slice(2)
const REACHED = 99

const probe = createConnection({ port: Number(port), host: '127.0.0.1' })
const isReached = await Promise.race([
  once(probe, 'connect').then(() => true),
  once(probe, 'error').then(() => false),
]).catch(() => false)
// The network is not its own.
if (isReached) process.exit(REACHED)

const relay = createServer((near) => {
  const far = createConnection(socketPath)
  near.pipe(far).pipe(near)
  for (const end of [near, far]) {
    end.on('error', () => {})
    end.on('close', () => {
      near.destroy()
      far.destroy()
    })
  }
})
relay.listen(Number(port), '127.0.0.1')
await once(relay, 'listening')
const child = spawn(process.execPath, command, { stdio: 'inherit' })
const [code] = await once(child, 'exit')
process.exit(code ?? 70)
