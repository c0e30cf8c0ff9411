// What comes out of a simulation of SQL transactions.

import type { SqlTable } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlRow, SqlValue } from '../../sql/value.ts'
import type { Outcome } from '../schedule.ts'

/** What a row may be at some moment. */
export interface RowState {
  readonly values: SqlRow | null // null: absent, or deleted
  readonly by: RanStatement | null // null: as it was at the start
  readonly seq: number // the commit that made it; 0: as it was at the start
}

/**
 * A version of a row. There is one object for whoever wrote it, committed it or saw it: histories
 * of many transactions are mostly these.
 */
export class Version implements RowState {
  seq = 0
  before: Version | null = null // the one committed before it, once it is committed itself

  /** @param since the first of its transaction's statements that wrote the row */
  constructor(
    readonly row: StoredRow,
    readonly values: SqlRow | null, // null: deleted
    readonly by: RanStatement | null,
    readonly since: number,
  ) {}
}

export interface StoredRow {
  readonly table: number
  readonly index: number // its place in the table
  readonly key: SqlRow
  newest: Version | null // null if it has never been committed
}

/** A row that a statement saw: the version that `by` wrote, null for the initial one. */
export interface SeenRow {
  readonly row: StoredRow
  readonly by: RanStatement | null
}

export interface WrittenRow {
  readonly row: StoredRow
  readonly values: SqlRow | null // null: deleted
}

/** A statement that ran. */
export interface RanStatement {
  readonly kind: number // SELECT, INSERT, UPDATE, DELETE
  readonly table: number
  readonly where: string
  readonly params: readonly SqlValue[]
  readonly seen: readonly SeenRow[] // rows returned or touched
  /** Rows passed over that are not its transaction's own; null if they were not asked for. */
  passed: readonly SeenRow[] | null
  readonly own: ReadonlySet<StoredRow> // then, the rows that its transaction wrote before
  written: readonly WrittenRow[]
  write: number // its number among the statements that write, as they are told; NONE before that
}

export interface RanTxn {
  readonly session: number
  readonly level: LevelId
  readonly status: number // COMMITTED, ABORTED, INDETERMINATE
  readonly rolledBack: boolean // aborted by itself, not by the store
  /**
   * In the commit order, equal ones in the order they ended; NaN if it did not take effect. What
   * those read that were rolled back has a place, too.
   */
  readonly place: number
  readonly statements: readonly RanStatement[]
  readonly start: number // step in which it began
  readonly finish: number // step in which its end was known, NaN if never
}

/** Where a fault struck: numbers of transactions, in their roles a, b, …, and rows. */
export interface SqlStrike {
  readonly fault: string
  readonly txns: readonly number[]
  readonly rows: readonly StoredRow[]
}

export interface SqlExecution extends Outcome {
  readonly tables: readonly SqlTable[]
  readonly rows: readonly (readonly SqlRow[])[] // table -> the rows it held at first
  readonly stored: readonly (readonly StoredRow[])[] // table -> every row there has been
  readonly txns: readonly RanTxn[] // in the order of the plan's tasks
  readonly strikes: readonly SqlStrike[]
}
