// Connections of the proxy to the server, encrypted as its address asks for. Main function:
// connectUpstream.

import { connect as connectSocket, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { DatabaseError } from '../../base/errors.ts'
import type { Encryption, PostgresAddress } from '../../record/postgres/address.ts'
import { int32 } from './frames.ts'
import { ENCRYPT_TLS } from './frontend.ts'

/** The ways that an address allows are tried in turn. Throws DatabaseError. */
export async function connectUpstream(address: PostgresAddress): Promise<Socket> {
  let first: Error | null = null
  for (const encryption of address.encryptions) {
    try {
      return await connectOnce(address, encryption)
    } catch (error) {
      first ??= error as Error
    }
  }
  const { host, port } = address
  throw new DatabaseError(`cannot reach the server at ${host}:${port}: ${first!.message}`)
}

async function connectOnce(address: PostgresAddress, encryption: Encryption): Promise<Socket> {
  const { host, port, connectTimeoutMs } = address
  const where = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port }
  const socket = connectSocket(where)
  socket.setNoDelay(true)
  const timer = setTimeout(
    () => socket.destroy(new Error('no answer within connect_timeout')),
    connectTimeoutMs,
  )
  try {
    await happens(socket, 'connect')
    if (encryption === false) return socket
    socket.write(Buffer.concat([int32(8), int32(ENCRYPT_TLS)]))
    const answer = (await happens(socket, 'data')) as Buffer
    // More than one byte would be read as if it had been encrypted.
    if (answer.toString('latin1') !== 'S') throw new Error('the server does not support TLS')
    socket.pause()
    const secure = connectTls({ socket, ...encryption })
    await happens(secure, 'secureConnect')
    return secure
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function happens(socket: Socket, event: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const end = () => reject(new Error('the server hung up'))
    const settle = (given: unknown) => {
      socket.removeListener('error', reject)
      socket.removeListener('close', end)
      resolve(given)
    }
    socket.once(event, settle)
    socket.once('error', reject)
    socket.once('close', end)
  })
}
