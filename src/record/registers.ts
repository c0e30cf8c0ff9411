// Registers and lists in a table of an SQL database, by plain statements, for databases that need
// nothing more than that: a row is a key `k`, its value `v`, and its list `l`, numbers with commas
// between them. What differs between databases stands in a Dialect and in `execute`. Main class:
// RegisterConnection.

import type { SqlTable } from '../history/sql-events.ts'
import type { Value } from '../history/values.ts'
import type { LevelId } from '../levels/levels.ts'
import type { SqlStatement } from '../sql/statement.ts'
import { PUT, REPLACE, UPDATE, UPSERT, type Way } from '../workload/plan.ts'
import {
  type Connection,
  type KeyRows,
  noLocks,
  type StatementAnswer,
  TransactionFailure,
} from './database.ts'
import { type Answer, type RowDialect, runOnRows } from './rows.ts'

export const TABLE = 'isobar_registers'
/** What tables of ours say of themselves. */
export const MARK = 'made by isobar for one run; safe to drop'

/** What the statement that fails means for its transaction. */
export type Phase =
  | 'work' // it is one of several: the transaction has not been asked to commit
  | 'alone' // it is a transaction by itself, and commits itself
  | 'commit' // it is COMMIT

export interface Dialect extends RowDialect {
  /** The same INSERT, but it writes over a row that is there. */
  upsert(insert: string): string
  /** Compares what may be null. */
  readonly same: string
  /** Text of two expressions behind one another. */
  concat(one: string, other: string): string
  /** What makes a SELECT lock what it reads; null if nothing does. */
  readonly forUpdate: string | null
}

export abstract class RegisterConnection implements Connection {
  abstract readonly localPort: number
  abstract readonly isLost: boolean

  /** @param keyCount how many keys have rows from the beginning */
  protected constructor(
    private readonly dialect: Dialect,
    private readonly keyCount: () => number,
  ) {}

  /** Throws TransactionFailure, DatabaseError. All values in statements are numbers of ours. */
  protected abstract execute(phase: Phase, statement: string): Promise<Answer>
  /** From now on statements outside of transactions run at this level. */
  protected abstract setLevelAlone(level: LevelId): Promise<void>

  abstract begin(level: LevelId): Promise<void>
  abstract commit(): Promise<void>
  abstract rollback(): Promise<void>
  abstract close(): Promise<void>
  abstract cut(): void

  async read(key: number): Promise<readonly Value[]> {
    return this.readIn('work', key)
  }

  async readList(key: number): Promise<readonly Value[][]> {
    const { rows } = await this.execute('work', `SELECT l FROM ${TABLE} WHERE k = ${key}`)
    return rows.length === 0 ? this.nothing(key, []) : rows.map(([list]) => listOf(list))
  }

  async readAll(keys: readonly number[], areLists: boolean): Promise<readonly KeyRows[]> {
    const held = new Map<number, (Value | Value[])[]>(keys.map((key) => [key, []]))
    if (keys.length > 0) {
      const text = `SELECT k, ${areLists ? 'l' : 'v'} FROM ${TABLE} WHERE k IN (${keys.join()})`
      const { rows } = await this.execute('work', text)
      for (const [key, value] of rows) {
        held.get(Number(key))?.push(areLists ? listOf(value) : numberOf(value))
      }
    }
    return Array.from(held, ([key, rows]): KeyRows => {
      const initial = areLists ? [] : null
      return [key, rows.length === 0 ? this.nothing<Value | Value[]>(key, initial) : rows]
    })
  }

  async write(key: number, value: number, way: Way = UPDATE): Promise<number> {
    const insert = `INSERT INTO ${TABLE} (k, v, l) VALUES (${key}, ${value}, '')`
    if (way === UPSERT) {
      await this.execute('work', this.dialect.upsert(insert))
      return 1
    }
    if (way === REPLACE) {
      const { rowCount } = await this.execute('work', `DELETE FROM ${TABLE} WHERE k = ${key}`)
      await this.execute('work', insert)
      return Math.max(1, rowCount)
    }
    const update = `UPDATE ${TABLE} SET v = ${value} WHERE k = ${key}`
    const { rowCount } = await this.execute('work', update)
    if (rowCount > 0 || way !== PUT) return rowCount
    await this.execute('work', insert)
    return 1
  }

  async append(key: number, value: number): Promise<number> {
    const longer = this.dialect.concat('l', `'${value},'`)
    const text = `UPDATE ${TABLE} SET l = ${longer} WHERE k = ${key}`
    return (await this.execute('work', text)).rowCount
  }

  async lock(key: number): Promise<readonly Value[]> {
    if (this.dialect.forUpdate === null) throw noLocks()
    return this.readIn('work', key, ` ${this.dialect.forUpdate}`)
  }

  async run(table: SqlTable, statement: SqlStatement, write: number): Promise<StatementAnswer> {
    const execute = (text: string) => this.execute('work', text)
    return runOnRows(this.dialect, execute, table, statement, write)
  }

  async cas(key: number, old: Value, value: number, level: LevelId): Promise<number> {
    await this.setLevelAlone(level)
    const isOld = `v ${this.dialect.same} ${old === null ? 'NULL' : old}`
    const text = `UPDATE ${TABLE} SET v = ${value} WHERE k = ${key} AND ${isOld}`
    return (await this.execute('alone', text)).rowCount
  }

  async get(key: number, level: LevelId): Promise<readonly Value[]> {
    await this.setLevelAlone(level)
    return this.readIn('alone', key)
  }

  private async readIn(phase: Phase, key: number, how = ''): Promise<readonly Value[]> {
    const { rows } = await this.execute(phase, `SELECT v FROM ${TABLE} WHERE k = ${key}${how}`)
    return rows.length === 0 ? this.nothing(key, null) : rows.map(([value]) => numberOf(value))
  }

  /** No row: the initial state, where keys have none from the beginning; else it has vanished. */
  private nothing<Held>(key: number, initial: Held): Held[] {
    return key < this.keyCount() ? [] : [initial]
  }
}

/** The statement was not sent, and what is not sent commits nothing. */
export function lostBefore(): TransactionFailure {
  return new TransactionFailure('aborted', 'the connection was lost before')
}

/** Statements that make rows for keys from `from` up to `to`, a thousand each. */
export function* rowsFor(from: number, to: number): Generator<string> {
  for (let start = from; start < to; start += 1000) {
    const keys = Array.from({ length: Math.min(1000, to - start) }, (_, i) => start + i)
    const rows = keys.map((key) => `(${key}, NULL, '')`)
    yield `INSERT INTO ${TABLE} (k, v, l) VALUES ${rows.join(', ')}`
  }
}

/** `7,9,` */
function listOf(text: unknown): Value[] {
  return String(text ?? '')
    .split(',')
    .slice(0, -1)
    .map(numberOf)
}

function numberOf(cell: unknown): Value {
  if (cell === null || cell === undefined) return null
  const near = Number(cell)
  return Number.isSafeInteger(near) ? near : BigInt(String(cell))
}
