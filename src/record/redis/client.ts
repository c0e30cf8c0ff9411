// The ioredis driver, as far as it is used here, and where a server is. Main functions:
// parseRedisAddress, connectClient.

import type { Socket } from 'node:net'
import { DatabaseError, UsageError } from '../../base/errors.ts'
import { type Driver, loadDriver } from '../driver.ts'
import { cutBy } from '../patience.ts'
import { parseServerUrl, portOf } from '../server-url.ts'
import type { Given } from '../target.ts'

export const DRIVER: Driver = { name: 'ioredis', version: '6.0.0', least: '5' }
const CONNECT_PATIENCE_MS = 10_000

export interface RedisAddress {
  readonly host: string
  readonly port: number
  readonly user: string | undefined
  readonly password: string | undefined
  /** Number of the database. */
  readonly database: number
  readonly isEncrypted: boolean
}

const FORM = 'redis://host:6379/0'

/** `redis://user:password@host:6379/0`; `rediss://` is encrypted. */
export function parseRedisAddress(text: string, { environment, password }: Given): RedisAddress {
  const url = parseServerUrl(text, FORM, [])
  const database = Number(url.pathname.slice(1) || '0')
  if (!Number.isInteger(database) || database < 0) {
    throw new UsageError('databases of Redis are numbers', `write it as ${FORM}`)
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, '') || '127.0.0.1',
    port: portOf(url.port || '6379'),
    user: decodeURIComponent(url.username) || undefined,
    password: password ?? (decodeURIComponent(url.password) || environment['REDISCLI_AUTH']),
    database,
    isEncrypted: url.protocol === 'rediss:',
  }
}

/** The address without the password. */
export function showAddress({ host, port, database, isEncrypted }: RedisAddress): string {
  const shown = host.includes(':') ? `[${host}]` : host
  return `${isEncrypted ? 'rediss' : 'redis'}://${shown}:${port}/${database}`
}

export interface RedisClient {
  readonly stream: Socket
  call(command: string, ...args: (string | number)[]): Promise<unknown>
  connect(): Promise<void>
  on(event: 'error', listener: (error: Error) => void): void
  on(event: 'end', listener: () => void): void
  disconnect(): void
}

interface Ioredis {
  readonly Redis: new (options: object) => RedisClient
}

/** Throws what the server or the system says, DatabaseError without a driver. */
export async function connectClient(
  address: RedisAddress,
  signal: AbortSignal | null = null,
): Promise<RedisClient> {
  const { Redis } = await loadDriver<Ioredis>(DRIVER)
  const { host, port, user, password, database, isEncrypted } = address
  const client = new Redis({
    ...{ host, port, username: user, password, db: database },
    ...(isEncrypted ? { tls: {} } : {}),
    lazyConnect: true,
    connectTimeout: CONNECT_PATIENCE_MS,
    // A connection that is lost is lost: what was sent on it may have been carried out.
    retryStrategy: null,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
  })
  let why: Error | null = null
  client.on('error', (error) => {
    why ??= error
  })
  const cut = () => {
    client.disconnect()
    // Not there before it connects; and the driver waits for the other side to hang up.
    ;(client.stream as Socket | undefined)?.destroy()
  }
  return cutBy(signal, cut, async () => {
    try {
      await client.connect()
      await client.call('PING') // a wrong password, or a server that still loads its data
      return client
    } catch (error) {
      throw why ?? error
    }
  })
}

/** Sends commands in one message; the answers, errors among them. */
export function callAll(
  client: RedisClient,
  commands: readonly (readonly [string, ...(string | number)[]])[],
): Promise<PromiseSettledResult<unknown>[]> {
  const { stream } = client
  stream.cork()
  const answers = Promise.allSettled(commands.map((command) => client.call(...command)))
  stream.uncork()
  return answers
}

/** The server's own word, the first of its answer: `WRONGPASS`; null if it said nothing. */
export function codeOf(error: unknown): string | null {
  const { name, message } = error as Error
  return name === 'ReplyError' ? (/^[A-Z]+/.exec(message)?.[0] ?? 'ERR') : null
}

const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [/NOAUTH|WRONGPASS|invalid password/, 'set REDISCLI_AUTH, or use --password-file'],
  [/NOPERM/, 'the user may not do what a run needs: GET, SET, WATCH, MULTI, EVAL, CLIENT'],
  [/max number of clients/, 'ask for fewer --sessions, or raise maxclients'],
  [/READONLY/, 'name the primary, not a replica'],
  [/DB index is out of range/, 'name another database: redis://host:6379/0'],
  [/ECONNREFUSED/, 'is it running, and is the port right?'],
  [/ENOTFOUND|EAI_AGAIN/, 'is the host spelled right?'],
  [/no answer within/, 'is it the right port? --patience waits longer'],
]

export function asDatabaseError(error: unknown, address: RedisAddress): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { message } = error as Error
  const hint = HINTS.find(([pattern]) => pattern.test(message))?.[1] ?? null
  return new DatabaseError(`${showAddress(address)}: ${message}`, hint)
}
