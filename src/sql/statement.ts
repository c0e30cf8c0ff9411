// Statements as programs issue them, to a simulated store or to a database. A program is a
// generator: it yields a statement, is handed the rows that the statement returned, and goes on
// from there, so that what it does later depends on what it has seen.
//
//   function* raise(id: bigint): SqlSteps {
//     const [row] = yield select('orders', 'id = $1', id)
//     if (!row) return 'abort'
//     yield update('orders', { total: add(5n) }, 'id = $1', id)
//     return 'commit'
//   }

import type { SqlRow, SqlValue } from './value.ts'

/** What an UPDATE puts into a column: a value, or what is there plus something. */
export type SqlAssignment = SqlValue | { readonly add: bigint }

/** WHERE, with parameters $1, $2, …; TRUE is every row. */
interface Filtered {
  readonly table: string
  readonly where: string
  readonly params: readonly SqlValue[]
}

export type SelectStatement = Filtered & { readonly kind: 'select' }

/** Rows as they are to be, whether the key is there already or not. */
export interface InsertStatement {
  readonly kind: 'insert'
  readonly table: string
  readonly rows: readonly SqlRow[]
}

export interface UpdateStatement extends Filtered {
  readonly kind: 'update'
  /** Column -> what it becomes; never a column of the primary key. */
  readonly set: Readonly<Record<string, SqlAssignment>>
}

export type DeleteStatement = Filtered & { readonly kind: 'delete' }

export type SqlStatement = SelectStatement | InsertStatement | UpdateStatement | DeleteStatement

/** Part of a transaction. It is handed the rows selected, or as updated, or as deleted. */
export type SqlPart<Result> = Generator<SqlStatement, Result, readonly SqlRow[]>
/** A transaction at work. */
export type SqlSteps = SqlPart<'commit' | 'abort'>

export function select(table: string, where = 'TRUE', ...params: SqlValue[]): SelectStatement {
  return { kind: 'select', table, where, params }
}

export function insert(table: string, ...rows: SqlRow[]): InsertStatement {
  return { kind: 'insert', table, rows }
}

export function update(
  table: string,
  set: Readonly<Record<string, SqlAssignment>>,
  where = 'TRUE',
  ...params: SqlValue[]
): UpdateStatement {
  return { kind: 'update', table, set, where, params }
}

export function deleteFrom(table: string, where = 'TRUE', ...params: SqlValue[]): DeleteStatement {
  return { kind: 'delete', table, where, params }
}

/** In an UPDATE: the column plus `amount`. */
export function add(amount: bigint): { readonly add: bigint } {
  return { add: amount }
}

/** What a column becomes; NULL plus anything stays NULL. */
export function assign(to: SqlAssignment, before: SqlValue): SqlValue {
  if (to === null || typeof to !== 'object') return to
  return typeof before === 'bigint' ? before + to.add : null
}
