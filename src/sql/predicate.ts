// A WHERE clause as a function of a row, with SQL's three truth values. Main function:
// parsePredicate.

import type { SqlColumn, SqlRow, SqlValue } from './value.ts'

export interface Predicate {
  /** TRUE, FALSE, or NULL: unknown. Throws SqlError where PostgreSQL would raise an error. */
  evaluate(row: SqlRow): boolean | null
  /** Column -> the value that every row which satisfies the predicate has there. */
  readonly fixed: ReadonlyMap<number, SqlValue>
}

/** Why a clause cannot be used: what it says, and where in its text that stands. */
export class SqlError extends Error {
  override readonly name = 'SqlError'

  constructor(
    message: string,
    /** Characters before the place, from 0; null if it is not known. */
    readonly offset: number | null = null,
  ) {
    super(message)
  }
}

/** Throws SqlError if the text is not a predicate, or uses what is not supported. */
export function parsePredicate(
  text: string,
  columns: readonly SqlColumn[],
  params: readonly SqlValue[] = [],
): Predicate {
  throw new SqlError(`cannot parse ${text} on ${columns.length} columns, ${params.length} params`)
}
