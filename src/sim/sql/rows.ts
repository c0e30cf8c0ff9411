// Tables of rows with all their versions, and predicates over them. A statement looks at one row if
// its predicate fixes the primary key, else at every row of the table there has ever been.

import type { SqlTable } from '../../history/sql-events.ts'
import { type Predicate, parsePredicate } from '../../sql/predicate.ts'
import { renderSqlValue, type SqlRow, type SqlValue } from '../../sql/value.ts'
import type { RanStatement } from './program.ts'

/** A committed version of a row. */
export interface Version {
  readonly values: SqlRow | null // null: deleted
  readonly by: RanStatement | null // null: there from the start
  readonly seq: number // the commit that made it; 0: there from the start
}

export interface StoredRow {
  readonly table: number
  readonly index: number // its place in the table
  readonly key: SqlRow
  readonly versions: Version[] // oldest first; none if it has never been committed
}

/** What every row is before it is first written: absent. */
export const ABSENT: Version = { values: null, by: null, seq: 0 }

/** The version of a row as of a commit. */
export function versionAt(row: StoredRow, seq: number): Version {
  const { versions } = row
  for (let i = versions.length - 1; i >= 0; i--) if (versions[i]!.seq <= seq) return versions[i]!
  return ABSENT
}

export function newestVersion(row: StoredRow): Version {
  return row.versions.at(-1) ?? ABSENT
}

export class StoredTable {
  readonly rows: StoredRow[] = []
  private readonly byKey = new Map<string, StoredRow>()
  private readonly predicates = new Map<string, Predicate>()

  constructor(
    readonly table: SqlTable,
    private readonly id: number,
    first: readonly SqlRow[],
  ) {
    for (const values of first) {
      this.row(this.keyOf(values)).versions.push({ values, by: null, seq: 0 })
    }
  }

  keyOf(values: SqlRow): SqlRow {
    return this.table.keyColumns.map((column) => values[column]!)
  }

  /** The row of that key, made on first use. */
  row(key: SqlRow): StoredRow {
    const name = nameOf(key)
    const known = this.byKey.get(name)
    if (known) return known
    const row = { table: this.id, index: this.rows.length, key, versions: [] }
    this.rows.push(row)
    this.byKey.set(name, row)
    return row
  }

  predicate(where: string, params: readonly SqlValue[]): Predicate {
    const name = `${nameOf(params)}\n${where}`
    const known = this.predicates.get(name)
    if (known) return known
    const predicate = parsePredicate(where, this.table.columns, params)
    this.predicates.set(name, predicate)
    return predicate
  }

  /** Rows of which some version may satisfy the predicate. */
  candidates(predicate: Predicate): readonly StoredRow[] {
    const { fixed } = predicate
    const { keyColumns } = this.table
    if (!keyColumns.every((column) => fixed.has(column))) return this.rows
    const row = this.byKey.get(nameOf(keyColumns.map((column) => fixed.get(column)!)))
    return row ? [row] : []
  }
}

function nameOf(values: readonly SqlValue[]): string {
  return values.map(renderSqlValue).join(',')
}

export function satisfies(predicate: Predicate, values: SqlRow | null): boolean {
  if (values === null) return false
  for (const [column, value] of predicate.fixed) if (values[column] !== value) return false
  return predicate.evaluate(values) === true
}
