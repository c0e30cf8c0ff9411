// Tables of rows with all their versions, and predicates over them. A statement looks at one row if
// its predicate fixes the primary key, and at those that have ever had what it fixes of other
// columns; only if it fixes nothing it looks at every row of the table there has ever been.

import type { SqlTable } from '../../history/sql-events.ts'
import { type Predicate, parsePredicate } from '../../sql/predicate.ts'
import { type SqlRow, type SqlValue, typeOfValue } from '../../sql/value.ts'
import type { RanStatement } from './execution.ts'
import { nameOf, RowIndex } from './row-index.ts'

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

/** Clauses of one text with other parameters are many: no more than so many are kept. */
const MAX_PREDICATES = 4096

/** What a store asks of a predicate. */
export type Condition = Pick<Predicate, 'matches' | 'fixed' | 'among'>

/** A column of which a clause says that it is equal to a parameter. */
interface Equation {
  readonly column: number
  readonly param: number // from 0
}

/** `d_w_id = $1 AND d_id = $2`: no parser is needed for that. */
const EQUATIONS = /^\w+ = \$\d+(?: AND \w+ = \$\d+)*$/

export class StoredTable {
  readonly rows: StoredRow[] = []
  private readonly byKey = new Map<string, StoredRow>()
  private readonly predicates = new Map<string, Condition>()
  private readonly equations = new Map<string, readonly Equation[] | null>() // by clause
  private readonly deleted: StoredRow[] = [] // rows that may be buried, oldest deletion first
  private buried = 0 // of those
  private readonly indexes: RowIndex[] = []

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

  predicate(where: string, params: readonly SqlValue[]): Condition {
    const simple = this.equate(where, params)
    if (simple) return simple
    const name = `${nameOf(params)}\n${where}`
    const known = this.predicates.get(name)
    if (known) return known
    const predicate = parsePredicate(where, this.table.columns, params)
    if (this.predicates.size >= MAX_PREDICATES) this.predicates.clear()
    this.predicates.set(name, predicate)
    return predicate
  }

  /** The condition of a clause that only equates columns with parameters of their types. */
  private equate(where: string, params: readonly SqlValue[]): Condition | null {
    let equations = this.equations.get(where)
    if (equations === undefined) {
      equations = EQUATIONS.test(where) ? this.takeApart(where) : null
      this.equations.set(where, equations)
    }
    if (equations === null) return null
    const fixed = new Map<number, SqlValue>()
    for (const { column, param } of equations) {
      const value = params[param] ?? null
      if (value === null || typeOfValue(value) !== this.table.columns[column]!.type) return null
      fixed.set(column, value)
    }
    const matches = (row: SqlRow) => {
      for (const [column, value] of fixed) if (row[column] !== value) return false
      return true
    }
    return { matches, fixed, among: null }
  }

  /** Null if a column is not of this table, or equated twice. */
  private takeApart(where: string): Equation[] | null {
    const equations = where.split(' AND ').map((part) => {
      const [name, param] = part.split(' = $')
      const column = this.table.columns.findIndex((each) => each.name === name)
      return { column, param: Number(param) - 1 }
    })
    const columns = new Set(equations.map(({ column }) => column))
    return columns.has(-1) || columns.size < equations.length ? null : equations
  }

  commit(row: StoredRow, version: Version): void {
    row.versions.push(version)
    if (version.values === null) {
      this.deleted.push(row)
      return
    }
    for (const index of this.indexes) index.add(row, version.values)
  }

  /** Forgets rows that were deleted by then: nobody asks for an earlier state any more. */
  buryUpTo(seq: number): void {
    const { deleted } = this
    for (; this.buried < deleted.length; this.buried++) {
      const row = deleted[this.buried]!
      const newest = newestVersion(row)
      if (newest.seq > seq) break
      if (newest.values !== null) continue
      for (const { values } of row.versions) {
        if (values === null) continue
        for (const index of this.indexes) index.remove(row, values)
      }
    }
  }

  /** Whether at most one row can satisfy it. */
  isKeyFixed({ fixed }: Pick<Condition, 'fixed'>): boolean {
    return this.table.keyColumns.every((column) => fixed.has(column))
  }

  /**
   * Rows of which some committed version may satisfy it, in the order of the table; if its key is
   * fixed, the row of that key, committed or not.
   */
  candidates({ fixed, among }: Condition): readonly StoredRow[] {
    const { keyColumns } = this.table
    if (this.isKeyFixed({ fixed })) {
      const row = this.byKey.get(nameOf(keyColumns.map((column) => fixed.get(column)!)))
      return row ? [row] : []
    }
    const listed = among && !fixed.has(among.column) ? among : null
    if (fixed.size === 0 && listed === null) return this.rows
    const columns = [...fixed.keys(), ...(listed ? [listed.column] : [])]
    const index = this.indexOn(columns)
    const values = [...fixed.values()]
    if (listed === null) return index.find(values)
    const found = new Set(listed.values.flatMap((value) => index.find([...values, value])))
    return [...found].sort((a, b) => a.index - b.index)
  }

  private indexOn(columns: readonly number[]): RowIndex {
    const known = this.indexes.find((index) => index.isOn(columns))
    if (known) return known
    const index = new RowIndex(columns)
    for (const row of this.rows) {
      for (const { values } of row.versions) if (values !== null) index.add(row, values)
    }
    this.indexes.push(index)
    return index
  }
}

export function satisfies(condition: Condition, values: SqlRow | null): boolean {
  return values !== null && condition.matches(values)
}
