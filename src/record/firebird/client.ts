// The node-firebird driver, as far as it is used here, and what went wrong with a server in terms
// of its address. Main function: connectClient.

import type { Socket } from 'node:net'
import { DatabaseError } from '../../base/errors.ts'
import { type Driver, loadDriver } from '../driver.ts'
import { cutBy } from '../patience.ts'
import type { Answer } from '../rows.ts'
import { type FirebirdAddress, showAddress } from './address.ts'

export const DRIVER: Driver = { name: 'node-firebird', version: '2.17.1', least: '2.17' }

/** An attachment of the driver. */
export interface FirebirdClient {
  readonly connection: Wire
  transactionAsync(options: TransactionOptions): Promise<FirebirdTransaction>
  on(event: 'error', listener: () => void): void
}

interface Wire {
  readonly _socket: Socket
}

export interface TransactionOptions {
  /** Bytes of Firebird's own transaction parameters. */
  readonly isolation: readonly number[]
  readonly wait?: boolean
  readonly waitTimeout?: number
}

export interface FirebirdTransaction {
  executeAsync(text: string, values: [], options: { withMeta: true }): Promise<Executed>
  commitAsync(): Promise<void>
  rollbackAsync(): Promise<void>
}

interface Executed {
  /** Of a procedure, one row by itself; of what returns none, undefined. */
  readonly rows: readonly unknown[][] | undefined
  readonly affectedRows: number
}

interface NodeFirebird {
  attach(options: object, done: (error: ServerError | null, client: FirebirdClient) => void): void
  /** What the last call of attach began. */
  readonly connection: Wire
}

export interface ServerError extends Error {
  readonly code?: string
  /** Only the server's own errors have one. */
  readonly gdscode?: number
}

/** isc_tpb_read_committed with isc_tpb_rec_version: readers do not wait for writers. */
export const READ_COMMITTED = [15, 17]
/** isc_tpb_concurrency: all is read from one snapshot. */
export const SNAPSHOT = [2]
/** isc_tpb_consistency: the same, and tables that were read or written stay locked. */
export const TABLE_STABILITY = [1]

/** Throws what the driver throws, or DatabaseError without a driver; what aborts the signal. */
export async function connectClient(
  address: FirebirdAddress,
  signal: AbortSignal | null = null,
): Promise<FirebirdClient> {
  const driver = await loadDriver<NodeFirebird>(DRIVER)
  const { host, port, user, password, database } = address
  const options = {
    ...{ host, port, user, database },
    ...(password === undefined ? {} : { password }),
    encoding: 'UTF8',
    numericMode: 'safe',
    // The driver connects again by itself what is lost, unless it is told that a pool would.
    isPool: true,
  }
  let wire: Wire | null = null
  const cut = () => wire?._socket.destroy()
  const client = await cutBy(signal, cut, () => {
    return new Promise<FirebirdClient>((resolve, reject) => {
      driver.attach(options, (error, attached) => (error ? reject(error) : resolve(attached)))
      wire = driver.connection
    })
  })
  client.on('error', () => {}) // found out by the next use
  return client
}

/** Nothing is open any more, or it may be lost: the server rolls back what is. */
export function hangUp(client: FirebirdClient): void {
  client.connection._socket.destroy()
}

export async function execute(transaction: FirebirdTransaction, text: string): Promise<Answer> {
  const { rows, affectedRows } = await transaction.executeAsync(text, [], { withMeta: true })
  return { rows: rows ?? [], rowCount: affectedRows }
}

/** Runs statements as one transaction, which waits for others as long as it takes. */
export async function together(client: FirebirdClient, ...texts: string[]): Promise<Answer> {
  const transaction = await client.transactionAsync({ isolation: READ_COMMITTED })
  try {
    let answer: Answer = { rows: [], rowCount: 0 }
    for (const text of texts) answer = await execute(transaction, text)
    await transaction.commitAsync()
    return answer
  } catch (error) {
    await transaction.rollbackAsync().catch(() => {})
    throw error
  }
}

/** The first column of the first row, null if there is none. */
export async function scalar(client: FirebirdClient, text: string): Promise<unknown> {
  return (await together(client, text)).rows[0]?.[0] ?? null
}

const HINTS: Readonly<Record<string, string>> = {
  335544344: 'is the name of the database right? A path of the server has two slashes before it',
  335544352: 'the user must be allowed to create a table in this database',
  335544375: 'is the name of the database right?',
  335544472: 'set ISC_USER and ISC_PASSWORD, or use --password-file',
  335544765: 'name a database that can be written to',
  ECONNREFUSED: 'is it running, and is the port right?',
  ENOTFOUND: 'is the host spelled right?',
  ETIMEDOUT: 'is it the right port? --patience waits longer',
  EAI_AGAIN: 'is the host spelled right?',
}

export function asDatabaseError(error: unknown, address: FirebirdAddress): DatabaseError {
  if (error instanceof DatabaseError) return error
  const { code, gdscode, message } = error as ServerError
  const hint = HINTS[gdscode ?? code ?? ''] ?? null
  return new DatabaseError(`${showAddress(address)}: ${message || code || 'no answer'}`, hint)
}
