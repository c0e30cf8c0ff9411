// A session's connection to PostgreSQL: prepared statements over the pg driver, one at a time (with
// pipelining on, conflicts would hide). Errors become the transaction's fate by sqlstate.ts.

import { Socket } from 'node:net'
import { Client, type QueryArrayConfig, type QueryArrayResult } from 'pg'
import { assert, DatabaseError } from '../../base/errors.ts'
import type { Value } from '../../history/values.ts'
import type { LevelId } from '../../levels/levels.ts'
import { type Connection, TransactionFailure } from '../database.ts'
import type { PostgresAddress } from './address.ts'
import { fateOf, isHopeless, type Phase } from './sqlstate.ts'
import { TABLE } from './table.ts'

export const POSTGRES_LEVELS: ReadonlyMap<LevelId, string> = new Map([
  ['rc', 'READ COMMITTED'],
  ['si', 'REPEATABLE READ'],
  ['ser', 'SERIALIZABLE'],
])

const CONNECT_PATIENCE_MS = 10_000

const READ = { name: 'isobar_r', text: `SELECT v FROM ${TABLE} WHERE k = $1` }
const READ_LIST = { name: 'isobar_rl', text: `SELECT l FROM ${TABLE} WHERE k = $1` }
const WRITE = { name: 'isobar_w', text: `UPDATE ${TABLE} SET v = $2 WHERE k = $1` }
const APPEND = {
  name: 'isobar_a',
  text: `UPDATE ${TABLE} SET l = array_append(l, $2::bigint) WHERE k = $1`,
}
const CAS = {
  name: 'isobar_cas',
  text: `UPDATE ${TABLE} SET v = $3 WHERE k = $1 AND v IS NOT DISTINCT FROM $2::bigint`,
}

/** Values stay text until we know what to make of them. */
const AS_TEXT = { getTypeParser: () => (text: string) => text } as never

interface ServerError {
  code?: string
  severity?: string
  message: string
}

export class PostgresConnection implements Connection {
  private readonly socket = new Socket()
  private readonly client: Client
  private lost = false
  private autocommitLevel: LevelId | null = null

  constructor(address: PostgresAddress) {
    this.client = new Client({
      ...address,
      types: AS_TEXT,
      stream: () => this.socket,
      application_name: 'isobar',
      connectionTimeoutMillis: CONNECT_PATIENCE_MS,
      keepAlive: true,
    })
    // Losing an idle connection is noticed by the next transaction.
    this.client.on('error', () => this.cut())
    this.client.on('end', () => {
      this.lost = true
    })
  }

  async connect(): Promise<void> {
    await this.client.connect()
    // At ser, a sequential scan would conflict with every write; tables here are small.
    await this.client.query('SET enable_seqscan = off; SET enable_bitmapscan = off')
  }

  get localPort(): number {
    return this.socket.localPort ?? 0
  }

  get isLost(): boolean {
    return this.lost
  }

  async begin(level: LevelId): Promise<void> {
    await this.run('work', `BEGIN ISOLATION LEVEL ${POSTGRES_LEVELS.get(level)}`)
  }

  async read(key: number): Promise<Value> {
    const result = await this.execute('work', READ, [key])
    return numberOf(this.cell(result, key))
  }

  async readList(key: number): Promise<Value[]> {
    const result = await this.execute('work', READ_LIST, [key])
    const text = this.cell(result, key) ?? '{}'
    return text === '{}' ? [] : text.slice(1, -1).split(',').map(numberOf)
  }

  async write(key: number, value: number): Promise<void> {
    this.expectRow(await this.execute('work', WRITE, [key, value]), key)
  }

  async append(key: number, value: number): Promise<void> {
    this.expectRow(await this.execute('work', APPEND, [key, value]), key)
  }

  async get(key: number, level: LevelId): Promise<Value> {
    await this.setAutocommitLevel(level)
    return this.read(key)
  }

  async cas(key: number, old: Value, value: number, level: LevelId): Promise<boolean> {
    await this.setAutocommitLevel(level)
    // The statement commits by itself, so whatever goes wrong goes wrong at its commit.
    const result = await this.execute('commit', CAS, [key, old as number | null, value])
    return result.rowCount === 1
  }

  async commit(): Promise<void> {
    const result = await this.run('commit', 'COMMIT')
    // To COMMIT a failed transaction is to roll it back, and the answer says so.
    if (result.command !== 'COMMIT') {
      throw new TransactionFailure('aborted', `COMMIT was answered by ${result.command}`)
    }
  }

  async rollback(): Promise<void> {
    if (!this.lost) await this.run('work', 'ROLLBACK')
  }

  async close(): Promise<void> {
    if (this.lost) return this.cut()
    this.lost = true
    const timer = setTimeout(() => this.socket.destroy(), 1000)
    try {
      await this.client.end()
    } catch {
      // Gone already.
    } finally {
      clearTimeout(timer)
    }
  }

  cut(): void {
    this.lost = true
    this.socket.destroy()
  }

  /** Statements outside of transactions run at the connection's default level. */
  private async setAutocommitLevel(level: LevelId): Promise<void> {
    if (this.autocommitLevel === level) return
    const own = POSTGRES_LEVELS.get(level)!.toLowerCase()
    await this.run('work', `SET default_transaction_isolation = '${own}'`)
    this.autocommitLevel = level
  }

  private async run(phase: Phase, text: string): Promise<{ command: string }> {
    // A statement that is not sent any more commits nothing.
    if (this.lost) throw new TransactionFailure('aborted', 'the connection was lost before')
    try {
      return await this.client.query(text)
    } catch (error) {
      throw this.failure(phase, error as ServerError)
    }
  }

  private async execute(
    phase: Phase,
    statement: { name: string; text: string },
    values: (number | null)[],
  ): Promise<QueryArrayResult<(string | null)[]>> {
    if (this.lost) throw new TransactionFailure('aborted', 'the connection was lost before')
    const query: QueryArrayConfig = { ...statement, values, rowMode: 'array' }
    try {
      return await this.client.query<(string | null)[]>(query)
    } catch (error) {
      throw this.failure(phase, error as ServerError)
    }
  }

  private failure(phase: Phase, error: ServerError): Error {
    const fromServer = typeof error.severity === 'string'
    const code = fromServer && error.code ? error.code : null
    if (!fromServer || error.severity !== 'ERROR') this.cut()
    if (isHopeless(code)) {
      return new DatabaseError(`the database refuses the workload: ${error.message} (${code})`)
    }
    const severity = fromServer ? error.severity! : null
    return new TransactionFailure(fateOf(phase, code, severity), error.message, code)
  }

  private cell(result: QueryArrayResult<(string | null)[]>, key: number): string | null {
    this.expectRow(result, key)
    return result.rows[0]![0] ?? null
  }

  private expectRow(result: { rowCount: number | null }, key: number): void {
    if (result.rowCount === 1) return
    assert(result.rowCount === 0, 'a primary key names one row')
    throw new DatabaseError(
      `key ${key} has disappeared from the table ${TABLE}`,
      'something else works on the table; give the run a database of its own',
    )
  }
}

function numberOf(text: string | null): Value {
  if (text === null) return null
  const near = Number(text)
  return Number.isSafeInteger(near) ? near : BigInt(text)
}
