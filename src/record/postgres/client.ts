// Connecting to a server by its address: how it is encrypted, how long that may take.

import { Socket } from 'node:net'
import { type ConnectionOptions, checkServerIdentity } from 'node:tls'
import { Client, type ClientConfig } from 'pg'
import { cutBy } from '../patience.ts'
import type { Encryption, PostgresAddress } from './address.ts'

/** The address with the one way to connect that the server accepts, and a connection. */
export interface Connected {
  readonly client: Client
  readonly address: PostgresAddress
}

const GOODBYE_MS = 1000

export function configOf(address: PostgresAddress, encryption: Encryption): ClientConfig {
  const { host, port, user, password, database, options, connectTimeoutMs } = address
  return {
    ...{ host, port, user, password, database },
    ...(options === undefined ? {} : { options }),
    ssl: tlsOf(encryption),
    application_name: 'isobar',
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  }
}

function tlsOf(encryption: Encryption): false | ConnectionOptions {
  if (encryption === false) return false
  const { certifies, ...options } = encryption
  if (certifies === undefined) return options
  if (certifies === null) return { ...options, checkServerIdentity: () => undefined }
  return { ...options, checkServerIdentity: (_, it) => checkServerIdentity(certifies, it) }
}

/** Tries the ways to connect one after another. Throws what the first one failed with, or the signal's reason. */
export async function connectClient(
  address: PostgresAddress,
  queryTimeoutMs: number,
  signal: AbortSignal | null = null,
): Promise<Connected> {
  let first: unknown = null
  for (const encryption of address.encryptions) {
    const socket = new Socket()
    const client = new Client({
      ...configOf(address, encryption),
      query_timeout: queryTimeoutMs,
      stream: () => socket,
    })
    client.on('error', () => {}) // found out by the next use
    try {
      await cutBy(
        signal,
        () => socket.destroy(),
        () => client.connect(),
      )
      return { client, address: { ...address, encryptions: [encryption] } }
    } catch (error) {
      await client.end().catch(() => {})
      first ??= error
      if (signal?.aborted || !mayDependOnEncryption(error)) throw error
    }
  }
  throw first
}

/** Says goodbye, and waits no longer than a moment for the server to hang up. */
export async function hangUp(client: Client): Promise<void> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  const timer = setTimeout(() => stream.destroy(), GOODBYE_MS)
  try {
    await client.end()
  } catch {
    // Gone already.
  } finally {
    clearTimeout(timer)
  }
}

/** The server has no encryption, or only; or it failed in a way that says neither. */
function mayDependOnEncryption(error: unknown): boolean {
  const { code, message } = error as { code?: string; message: string }
  return code === '28000' || /does not support SSL/.test(message) || /SSL|TLS/.test(code ?? '')
}
