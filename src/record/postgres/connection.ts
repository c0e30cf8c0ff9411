// A session's connection to PostgreSQL: the pg driver logs in, statements go over the wire as
// exchange.ts has it, those on registers prepared, one at a time (with pipelining on, conflicts
// would hide). Errors become the transaction's fate by sqlstate.ts.

import { Socket } from 'node:net'
import { Client } from 'pg'
import { DatabaseError } from '../../base/errors.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { Value } from '../../history/values.ts'
import { offeredBy } from '../../levels/databases.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlStatement } from '../../sql/statement.ts'
import { PUT, REPLACE, UPDATE, UPSERT as UPSERT_WAY, type Way } from '../../workload/plan.ts'
import {
  type Connection,
  type KeyRows,
  type StatementAnswer,
  TransactionFailure,
} from '../database.ts'
import { cutBy } from '../patience.ts'
import type { PostgresAddress } from './address.ts'
import { configOf, hangUp } from './client.ts'
import { type Answer, Inlet, type Inputs, type Statement, Wire } from './exchange.ts'
import { fateOf, isHopeless, type Phase } from './sqlstate.ts'
import { answerOf, queryOf } from './statement.ts'
import { TABLE } from './table.ts'

export const POSTGRES_LEVELS = offeredBy('postgres')

const READ: Statement = { name: 'isobar_r', text: `SELECT v FROM ${TABLE} WHERE k = $1` }
const LOCK: Statement = { name: 'isobar_lock', text: `${READ.text} FOR UPDATE` }
const READ_LIST: Statement = { name: 'isobar_rl', text: `SELECT l FROM ${TABLE} WHERE k = $1` }
const WRITE: Statement = { name: 'isobar_w', text: `UPDATE ${TABLE} SET v = $2 WHERE k = $1` }
const UPSERT: Statement = {
  name: 'isobar_u',
  text: `INSERT INTO ${TABLE} (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = excluded.v`,
}
const INSERT: Statement = {
  name: 'isobar_i',
  text: `INSERT INTO ${TABLE} (k, v) VALUES ($1, $2)`,
}
const DELETE: Statement = { name: 'isobar_d', text: `DELETE FROM ${TABLE} WHERE k = $1` }
const APPEND: Statement = {
  name: 'isobar_a',
  text: `UPDATE ${TABLE} SET l = array_append(l, $2::bigint) WHERE k = $1`,
}
const CAS: Statement = {
  name: 'isobar_cas',
  text: `UPDATE ${TABLE} SET v = $3 WHERE k = $1 AND v IS NOT DISTINCT FROM $2::bigint`,
}
const COMMIT: Statement = { name: 'isobar_commit', text: 'COMMIT' }
const ROLLBACK: Statement = { name: 'isobar_rollback', text: 'ROLLBACK' }
const BEGINS: ReadonlyMap<LevelId, Statement> = new Map(
  [...POSTGRES_LEVELS].map(([level, own]) => [
    level,
    { name: `isobar_begin_${level}`, text: `BEGIN ISOLATION LEVEL ${own}` },
  ]),
)
const STATEMENTS = [
  READ,
  LOCK,
  READ_LIST,
  WRITE,
  UPSERT,
  INSERT,
  DELETE,
  APPEND,
  CAS,
  COMMIT,
  ROLLBACK,
  ...BEGINS.values(),
]

interface ServerError {
  code?: string
  severity?: string
  message: string
}

export class PostgresConnection implements Connection {
  private readonly inlet: Inlet | null
  private readonly socket: Socket
  private readonly client: Client
  private wire: Wire | null = null // once it is connected
  private lost = false
  private autocommitLevel: LevelId | null = null
  private pendingBegin: string | null = null // statement that is to go out with the next
  private readonly failedWork = (error: Error) => this.failure('work', error)
  private readonly failedCommit = (error: Error) => this.failure('commit', error)

  /** @param keyCount how many keys have rows from the beginning */
  constructor(
    readonly address: PostgresAddress,
    private readonly keyCount: () => number,
  ) {
    const encryption = address.encryptions[0]!
    this.inlet = encryption === false ? new Inlet() : null
    this.socket = this.inlet?.socket ?? new Socket()
    this.client = new Client({ ...configOf(address, encryption), stream: () => this.socket })
    // Losing an idle connection is noticed by the next transaction.
    this.client.on('error', () => this.cut())
    this.client.on('end', () => {
      this.lost = true
    })
  }

  /** Throws what the driver throws, or why the signal was aborted. */
  async connect(signal: AbortSignal): Promise<void> {
    const cut = () => this.cut()
    await cutBy(signal, cut, async () => {
      await this.client.connect()
      // At ser, a sequential scan would conflict with every write; tables here are small.
      await this.client.query('SET enable_seqscan = off; SET enable_bitmapscan = off')
      this.wire = new Wire(this.client, this.inlet, () => this.cut())
      await this.wire.prepare(STATEMENTS)
    })
  }

  /** Of the process that serves it, by which the server knows it. */
  get serverPid(): number {
    return (this.client as unknown as { processID?: number }).processID ?? 0
  }

  get localPort(): number {
    return this.socket.localPort ?? 0
  }

  get isLost(): boolean {
    return this.lost
  }

  /** BEGIN goes out together with the first statement, which saves a round trip. */
  async begin(level: LevelId): Promise<void> {
    this.pendingBegin = BEGINS.get(level)!.name
  }

  async sendBegin(): Promise<void> {
    const name = this.takeBegin()
    if (name !== null) await this.send('work', { name }, [], rowCountOf)
  }

  read(key: number): Promise<readonly Value[]> {
    return this.readBy(READ, key)
  }

  lock(key: number): Promise<readonly Value[]> {
    return this.readBy(LOCK, key)
  }

  private readBy(statement: Statement, key: number): Promise<readonly Value[]> {
    return this.send('work', statement, [key], (answer) => {
      if (answer.rowCount === 1) return [numberOf(answer.cell)]
      return answer.rowCount === 0 ? this.nothing(key, null) : cellsOf(answer).map(numberOf)
    })
  }

  readList(key: number): Promise<readonly Value[][]> {
    return this.send('work', READ_LIST, [key], (answer) =>
      answer.rowCount === 0 ? this.nothing(key, []) : cellsOf(answer).map(listOf),
    )
  }

  async readAll(keys: readonly number[], areLists: boolean): Promise<readonly KeyRows[]> {
    const text = `SELECT k, ${areLists ? 'l' : 'v'} FROM ${TABLE} WHERE k = ANY($1::int[])`
    const answer = await this.ask(text, [0], [`{${keys.join(',')}}`])
    const rows = new Map<number, (Value | Value[])[]>(keys.map((key) => [key, []]))
    for (const [key, held] of answer.rows) {
      rows.get(Number(key))!.push(areLists ? listOf(held!) : numberOf(held!))
    }
    return Array.from(rows, ([key, held]): KeyRows => {
      return [
        key,
        held.length === 0 ? this.nothing<Value | Value[]>(key, areLists ? [] : null) : held,
      ]
    })
  }

  /** No row: the initial state, where keys have none from the beginning; else it has vanished. */
  private nothing<Held>(key: number, initial: Held): Held[] {
    return key < this.keyCount() ? [] : [initial]
  }

  write(key: number, value: number, way: Way = UPDATE): Promise<number> {
    const cells = [key, value]
    if (way === UPDATE) return this.send('work', WRITE, cells, rowCountOf)
    return this.writeBy(way, cells)
  }

  private async writeBy(way: Way, cells: Inputs): Promise<number> {
    if (way === UPSERT_WAY) {
      await this.send('work', UPSERT, cells, rowCountOf)
      return 1
    }
    if (way === REPLACE) {
      const rowCount = await this.send('work', DELETE, cells.slice(0, 1), rowCountOf)
      await this.send('work', INSERT, cells, rowCountOf)
      return Math.max(1, rowCount)
    }
    const rowCount = await this.send('work', WRITE, cells, rowCountOf)
    if (rowCount > 0 || way !== PUT) return rowCount
    await this.send('work', INSERT, cells, rowCountOf)
    return 1
  }

  append(key: number, value: number): Promise<number> {
    return this.send('work', APPEND, [key, value], rowCountOf)
  }

  async run(table: SqlTable, statement: SqlStatement, write: number): Promise<StatementAnswer> {
    const { text, types, values } = queryOf(table, statement, write)
    const { rows } = await this.ask(text, types, values)
    return answerOf(table, rows)
  }

  async get(key: number, level: LevelId): Promise<readonly Value[]> {
    await this.setAutocommitLevel(level)
    return this.read(key)
  }

  async cas(key: number, old: Value, value: number, level: LevelId): Promise<number> {
    await this.setAutocommitLevel(level)
    // The statement commits by itself, so whatever goes wrong goes wrong at its commit.
    const values = [key, old === null ? null : String(old), value]
    return this.send('commit', CAS, values, rowCountOf)
  }

  commit(): Promise<void> {
    return this.send('commit', COMMIT, [], ({ tag }) => {
      // To COMMIT a failed transaction is to roll it back, and the answer says so.
      if (tag !== 'COMMIT') throw new TransactionFailure('aborted', `COMMIT was answered by ${tag}`)
    })
  }

  async rollback(): Promise<void> {
    const isBegun = this.pendingBegin === null
    this.pendingBegin = null
    if (isBegun && !this.lost) await this.send('work', ROLLBACK, [], rowCountOf)
  }

  async close(): Promise<void> {
    if (this.lost) return this.cut()
    this.lost = true
    await hangUp(this.client)
  }

  cut(): void {
    this.lost = true
    this.socket.destroy()
  }

  /** Statements outside of transactions run at the connection's default level. */
  private async setAutocommitLevel(level: LevelId): Promise<void> {
    if (this.autocommitLevel === level) return
    const own = POSTGRES_LEVELS.get(level)!.toLowerCase()
    const text = `SET default_transaction_isolation = '${own}'`
    await this.ask(text, [], [])
    this.autocommitLevel = level
  }

  /** Each way through here is a step less for every answer: no promise but that of the exchange. */
  private send<Read>(
    phase: Phase,
    { name }: Pick<Statement, 'name'>,
    values: Inputs,
    read: (answer: Answer) => Read,
  ): Promise<Read> {
    if (this.lost) return Promise.reject(lostBefore())
    const fail = phase === 'work' ? this.failedWork : this.failedCommit
    return this.wire!.execute(this.takeBegin(), name, values, { read, fail })
  }

  /** A statement that is not prepared. */
  private ask(text: string, types: readonly number[], values: Inputs): Promise<Answer> {
    if (this.lost) return Promise.reject(lostBefore())
    const meaning = { read: (answer: Answer) => answer, fail: this.failedWork }
    return this.wire!.query(this.takeBegin(), text, types, values, meaning)
  }

  /** The statement that has to go out first, if there is one. */
  private takeBegin(): string | null {
    const first = this.pendingBegin
    this.pendingBegin = null
    return first
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
}

/** A statement that is not sent any more commits nothing. */
function lostBefore(): TransactionFailure {
  return new TransactionFailure('aborted', 'the connection was lost before')
}

function rowCountOf({ rowCount }: Answer): number {
  return rowCount
}

/** The first column of every row. */
function cellsOf({ rowCount, cell, rows }: Answer): Answer['cell'][] {
  if (rowCount === 0) return []
  return rowCount === 1 ? [cell] : [cell, ...rows.map(([first]) => first!)]
}

/** As PostgreSQL writes an array: `{1,2}`. */
function listOf(text: Answer['cell']): Value[] {
  return text === null || text === '{}' ? [] : String(text).slice(1, -1).split(',').map(numberOf)
}

function numberOf(text: Answer['cell']): Value {
  if (text === null || typeof text === 'number') return text
  const near = Number(text)
  return Number.isSafeInteger(near) ? near : BigInt(text)
}
