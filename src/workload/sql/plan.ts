// A plan of SQL transactions: tables, the rows they hold at first, and for each session programs
// that decide from statement to statement. A program can be started any number of times, and makes
// the same choices each time as long as it is shown the same rows: that is how it is retried.

import type { Random } from '../../base/random.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { SqlSteps } from '../../sql/statement.ts'
import type { SqlRow, SqlType, SqlValue } from '../../sql/value.ts'

/** One transaction of a session. */
export interface SqlTask {
  readonly session: number
  readonly level: LevelId
  /** What it does in the application, such as "new order". */
  readonly name: string
  start(): SqlSteps
}

export interface SqlPlan {
  readonly sessionCount: number
  readonly tables: readonly SqlTable[]
  readonly rows: readonly (readonly SqlRow[])[] // table -> the rows it holds at first
  readonly tasks: readonly SqlTask[] // a session runs its own in ascending order
  /** The level of transactions that show a fault: the strongest one that there is. */
  readonly strongLevel: LevelId
}

/** A kind of transaction that an application runs. */
export interface TransactionKind<Choices> {
  readonly name: string
  /** How often it is drawn, on any scale. */
  readonly weight: number
  /** Whether it asks for the first of two levels. */
  readonly isStrong: boolean
  /** @param number the same for every attempt, and for no other transaction */
  run(choices: Choices, random: Random, number: number): SqlSteps
}

/** A table together with the places of its columns, by name. */
export interface NamedTable<Column extends string> extends SqlTable {
  readonly at: Readonly<Record<Column, number>>
}

export function table<Column extends string>(
  name: string,
  types: Readonly<Record<Column, SqlType>>,
  key: readonly NoInfer<Column>[],
): NamedTable<Column> {
  const names = Object.keys(types) as Column[]
  const columns = names.map((column) => ({ name: column, type: types[column] }))
  const at = Object.fromEntries(names.map((column, i) => [column, i])) as Record<Column, number>
  return { name, columns, keyColumns: key.map((column) => at[column]), at }
}

/** The integer in a column that is never NULL. */
export function integer(row: SqlRow, column: number): bigint {
  return row[column] as bigint
}

/** `$3, $4, $5`: so many parameters behind those before. */
export function placeholders(before: number, values: readonly SqlValue[]): string {
  return values.map((_, i) => `$${before + i + 1}`).join(', ')
}
