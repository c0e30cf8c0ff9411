// The mysql2 driver, as far as it is used here, and what went wrong with a server in terms of its
// address. Main function: connectClient.

import type { Socket } from 'node:net'
import { DatabaseError } from '../../base/errors.ts'
import { type Driver, loadDriver } from '../driver.ts'
import { cutBy } from '../patience.ts'
import type { Answer } from '../rows.ts'
import { type MysqlAddress, showAddress } from './address.ts'

export const DRIVER: Driver = { name: 'mysql2', version: '3.24.5', least: '3.9' }
const CONNECT_PATIENCE_MS = 10_000
/** Quotes, strings and || mean what they mean elsewhere. */
const STANDARD_SQL = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT'

/** A connection of the driver. */
export interface MysqlClient {
  readonly stream: Socket
  readonly threadId: number
  query(options: object, done: (error: ServerError | null, result: unknown) => void): void
  connect(done: (error: Error | null) => void): void
  on(event: 'error' | 'end', listener: () => void): void
  end(done: () => void): void
  destroy(): void
}

interface Mysql2 {
  createConnection(options: object): MysqlClient
}

export interface ServerError extends Error {
  readonly code?: string
  readonly errno?: number
  /** Only the server's own errors have one. */
  readonly sqlState?: string
}

/** Throws what the driver throws, or DatabaseError without a driver; what aborts the signal. */
export async function connectClient(
  address: MysqlAddress,
  signal: AbortSignal | null = null,
): Promise<MysqlClient> {
  const { createConnection } = await loadDriver<Mysql2>(DRIVER)
  const { host, port, user, password, database, ssl } = address
  const client = createConnection({
    ...{ host, port, user, password, database },
    ...(ssl === 'disable' ? {} : { ssl: { rejectUnauthorized: ssl === 'verify' } }),
    connectTimeout: CONNECT_PATIENCE_MS,
    supportBigNumbers: true,
    rowsAsArray: true,
    charset: 'utf8mb4',
  })
  client.on('error', () => {}) // found out by the next use
  const cut = () => hangUp(client)
  return cutBy(signal, cut, async () => {
    await new Promise<void>((resolve, reject) => {
      client.connect((error) => (error ? reject(error) : resolve()))
    })
    client.stream.setNoDelay(true)
    await query(client, `SET SESSION sql_mode = CONCAT_WS(',', @@sql_mode, '${STANDARD_SQL}')`)
    for (const [name, value] of address.variables) {
      await query(client, `SET SESSION ${name} = ${value}`)
    }
    return client
  })
}

/** At once: the driver alone would wait for the other side to hang up. */
export function hangUp(client: MysqlClient): void {
  client.destroy()
  client.stream.destroy()
}

export function query(client: MysqlClient, sql: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    client.query({ sql }, (error, result) => {
      if (error) reject(error)
      else if (Array.isArray(result)) resolve({ rows: result, rowCount: 0 })
      else resolve({ rows: [], rowCount: (result as { affectedRows: number }).affectedRows })
    })
  })
}

/** The first column of the first row, null if there is none. */
export async function scalar(client: MysqlClient, sql: string): Promise<unknown> {
  return (await query(client, sql)).rows[0]?.[0] ?? null
}

/** The code of an error if the server itself said so, else null. */
export function codeOf({ sqlState, errno }: ServerError): number | null {
  return typeof sqlState === 'string' && typeof errno === 'number' ? errno : null
}

const READ_ONLY = 'name a server that can be written to'
const HINTS: Readonly<Record<string, string>> = {
  ER_ACCESS_DENIED_ERROR: 'set MYSQL_PWD, or use --password-file',
  ER_DBACCESS_DENIED_ERROR: 'grant the user all on this database, or name another',
  ER_TABLEACCESS_DENIED_ERROR: 'the user must be allowed to create a table in this database',
  ER_BAD_DB_ERROR: 'create it, or name another: mysql://user@host/database',
  ER_CON_COUNT_ERROR: 'ask for fewer --sessions, or raise max_connections',
  ER_TOO_MANY_USER_CONNECTIONS: 'ask for fewer --sessions, or raise the limit of the user',
  ER_OPTION_PREVENTS_STATEMENT: READ_ONLY,
  ER_READ_ONLY_MODE: READ_ONLY,
  ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION:
    "it is read-only: leave what says so out of the address (tx_read_only, transaction_read_only), or out of the server's settings",
  ER_UNKNOWN_SYSTEM_VARIABLE: 'this server does not know a variable that the address sets',
  ECONNREFUSED: 'is it running, and is the port right?',
  ENOTFOUND: 'is the host spelled right?',
  ETIMEDOUT: 'is it the right port? --patience waits longer',
  EAI_AGAIN: 'is the host spelled right?',
  HANDSHAKE_NO_SSL_SUPPORT: 'it takes no encrypted connections: leave ?ssl= out',
}

export function asDatabaseError(error: unknown, address: MysqlAddress): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, message } = error as ServerError
  const hint = HINTS[code ?? ''] ?? null
  return new DatabaseError(`${showAddress(address)}: ${message || code || 'no answer'}`, hint)
}
