// A WHERE clause as a function of a row, with SQL's three truth values. The clause is PostgreSQL's:
// its types, its precedence, its errors, in the collation C (docs/sql-predicates.md). It is scanned
// (scan.ts), parsed by pgsql-ast-parser (clause.ts), held against PostgreSQL's precedence
// (precedence.ts), then typed and turned into closures in one walk (compile.ts). Main function:
// parsePredicate.

import { parseClause } from './clause.ts'
import { compile } from './compile.ts'
import { type Among, asBoolean } from './expression.ts'
import type { SqlColumn, SqlRow, SqlValue } from './value.ts'

export { SqlError } from './error.ts'

export interface Predicate {
  /** TRUE, FALSE, or NULL: unknown. Throws SqlError where PostgreSQL would raise an error. */
  evaluate(row: SqlRow): boolean | null
  /**
   * Whether a row satisfies it. One that differs in a fixed column does not, whatever the rest of
   * the clause says of it, be that an error: PostgreSQL need not look at the rest either.
   */
  matches(row: SqlRow): boolean
  /** Column -> the value that every row which satisfies the predicate has there. */
  readonly fixed: ReadonlyMap<number, SqlValue>
  /** A column and the values one of which every such row has there; null if none is known. */
  readonly among: Among | null
}

/**
 * Throws SqlError if the text is not a predicate, or uses what is not supported. Columns may be
 * qualified: by the table only, if it is given.
 */
export function parsePredicate(
  text: string,
  columns: readonly SqlColumn[],
  params: readonly SqlValue[] = [],
  table: string | null = null,
): Predicate {
  const clause = parseClause(text)
  const compiled = compile({ clause, columns, params, table }, clause.root)
  const { evaluate, fixes, among = null } = asBoolean(compiled, 'WHERE')
  const fixed = new Map<number, SqlValue>()
  // Where two values contradict each other no row satisfies the predicate, and either is true.
  for (const { column, value } of fixes) if (!fixed.has(column)) fixed.set(column, value)
  const matches = (row: SqlRow) => {
    for (const [column, value] of fixed) if (row[column] !== value) return false
    return evaluate(row) === true
  }
  return { evaluate: evaluate as Predicate['evaluate'], matches, fixed, among }
}
