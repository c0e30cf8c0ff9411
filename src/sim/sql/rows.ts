// Tables of rows with all their versions, and predicates over them. A statement looks at one row if
// its predicate fixes the primary key, and at those that have ever had what it fixes of other
// columns; only if it fixes nothing it looks at every row of the table there has ever been.

import { obtain, TupleMap } from '../../base/maps.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import { type Predicate, parsePredicate } from '../../sql/predicate.ts'
import { type SqlRow, type SqlValue, typeOfValue } from '../../sql/value.ts'
import { type RowState, type StoredRow, Version } from './execution.ts'
import { nameOf, RowIndex } from './row-index.ts'

/** What every row is before it is first written: absent. */
export const ABSENT: RowState = { values: null, by: null, seq: 0 }

/** The version of a row as of a commit; null if it was not there yet. */
export function versionAt({ newest }: StoredRow, seq: number): Version | null {
  let version = newest
  while (version !== null && version.seq > seq) version = version.before
  return version
}

export function newestState(row: StoredRow): RowState {
  return row.newest ?? ABSENT
}

/** Clauses of one text with other parameters are many: no more than so many are kept. */
const MAX_SEARCHES = 4096

/** What a statement looks for in a table, and where. */
export interface Search {
  matches(row: SqlRow): boolean
  /** Whether a version of a row that was found by key or index does. */
  matchesFound(row: SqlRow): boolean
  readonly key: string | null // name of the only row that can satisfy it; null: there may be more
  readonly index: RowIndex | null // that lists rows which may; null: any row of the table may
  readonly names: readonly string[] // under which it does
}

/** `d_w_id = $1 AND d_id = $2`: no parser is needed for that. */
const EQUATIONS = /^\w+ = \$\d+(?: AND \w+ = \$\d+)*$/

/** A clause that only says of columns, each once, that they are equal to parameters. */
interface Equations {
  readonly columns: readonly number[]
  readonly params: readonly number[] // from 0
  readonly otherThanKey: readonly number[] // places of columns that are not of the primary key
  readonly keyParams: readonly number[] | null // of the primary key; null: it is not fixed
  readonly index: RowIndex | null // on the columns; null: the key is fixed
}

const NO_NAMES: readonly string[] = []

class Equated implements Search {
  readonly index: RowIndex | null

  constructor(
    private readonly equations: Equations,
    private readonly values: readonly SqlValue[],
    readonly key: string | null,
    readonly names: readonly string[],
  ) {
    this.index = equations.index
  }

  matches(row: SqlRow): boolean {
    const { values } = this
    const { columns } = this.equations
    for (let i = 0; i < columns.length; i++) if (row[columns[i]!] !== values[i]) return false
    return true
  }

  // Rows keep their keys, so only what else was listed may have changed.
  matchesFound(row: SqlRow): boolean {
    const { columns, otherThanKey } = this.equations
    for (const i of otherThanKey) if (row[columns[i]!] !== this.values[i]) return false
    return true
  }
}

export class StoredTable {
  readonly rows: StoredRow[] = []
  private readonly byKey = new Map<string, StoredRow>()
  private searches = new TupleMap<[clause: string, params: string], Search>()
  private readonly equations = new Map<string, Equations | null>() // by clause
  private readonly deleted: StoredRow[] = [] // rows that may be buried, oldest deletion first
  private buried = 0 // of those
  private readonly indexes: RowIndex[] = []

  constructor(
    readonly table: SqlTable,
    private readonly id: number,
    first: readonly SqlRow[],
  ) {
    for (const values of first) {
      const row = this.row(this.keyOf(values))
      row.newest = new Version(row, values, null, 0)
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
    const row = { table: this.id, index: this.rows.length, key, newest: null }
    this.rows.push(row)
    this.byKey.set(name, row)
    return row
  }

  search(where: string, params: readonly SqlValue[]): Search {
    const simple = this.equate(where, params)
    if (simple) return simple
    if (this.searches.size === MAX_SEARCHES) this.searches = new TupleMap()
    const make = () => this.searchFor(parsePredicate(where, this.table.columns, params))
    return obtain(this.searches, [where, nameOf(params)], make)
  }

  /** Where to look for what satisfies a predicate. */
  private searchFor(predicate: Predicate): Search {
    const { fixed, among } = predicate
    const { keyColumns } = this.table
    const matches = (row: SqlRow) => predicate.matches(row)
    if (keyColumns.every((column) => fixed.has(column))) {
      const key = nameOf(keyColumns.map((column) => fixed.get(column)!))
      return { matches, matchesFound: matches, key, index: null, names: [] }
    }
    const listed = among && !fixed.has(among.column) ? among : null
    const columns = [...fixed.keys(), ...(listed ? [listed.column] : [])]
    const index = columns.length === 0 ? null : this.indexOn(columns)
    const values = [...fixed.values()]
    const lists = listed ? listed.values.map((value) => [...values, value]) : [values]
    return { matches, matchesFound: matches, key: null, index, names: lists.map(nameOf) }
  }

  /** The search of a clause that only equates columns with parameters of their types. */
  private equate(where: string, params: readonly SqlValue[]): Search | null {
    const equations = obtain(this.equations, where, () =>
      EQUATIONS.test(where) ? this.takeApart(where) : null,
    )
    if (equations === null) return null
    const { columns, keyParams, index } = equations
    const values: SqlValue[] = []
    for (let i = 0; i < columns.length; i++) {
      const value = params[equations.params[i]!] ?? null
      const { type } = this.table.columns[columns[i]!]!
      if (value === null || typeOfValue(value) !== type) return null
      values.push(value)
    }
    const key = keyParams && nameOf(keyParams.map((param) => params[param]!))
    return new Equated(equations, values, key, index ? [nameOf(values)] : NO_NAMES)
  }

  /** Null if a column is not of this table, or equated twice. */
  private takeApart(where: string): Equations | null {
    const columns: number[] = []
    const params: number[] = []
    for (const part of where.split(' AND ')) {
      const [name, param] = part.split(' = $')
      const column = this.table.columns.findIndex((each) => each.name === name)
      if (column < 0 || columns.includes(column)) return null
      columns.push(column)
      params.push(Number(param) - 1)
    }
    const { keyColumns } = this.table
    const isKeyFixed = keyColumns.every((column) => columns.includes(column))
    const keyParams = keyColumns.map((column) => params[columns.indexOf(column)]!)
    const places = columns.map((_, i) => i)
    return {
      columns,
      params,
      otherThanKey: places.filter((i) => !keyColumns.includes(columns[i]!)),
      keyParams: isKeyFixed ? keyParams : null,
      index: isKeyFixed ? null : this.indexOn(columns),
    }
  }

  commit(version: Version, seq: number): void {
    const { row } = version
    version.seq = seq
    version.before = row.newest
    row.newest = version
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
      const newest = newestState(row)
      if (newest.seq > seq) break
      if (newest.values !== null) continue
      for (let version = row.newest; version !== null; version = version.before) {
        const { values } = version
        if (values === null) continue
        for (const index of this.indexes) index.remove(row, values)
      }
    }
  }

  /**
   * Rows of which some committed version may satisfy it, in the order of the table; if its key is
   * fixed, the row of that key, committed or not.
   */
  candidates({ key, index, names }: Search): readonly StoredRow[] {
    if (key !== null) {
      const row = this.byKey.get(key)
      return row ? [row] : []
    }
    if (index === null) return this.rows
    if (names.length === 1) return index.find(names[0]!)
    const found = new Set(names.flatMap((name) => index.find(name)))
    return [...found].sort((a, b) => a.index - b.index)
  }

  private indexOn(columns: readonly number[]): RowIndex {
    const known = this.indexes.find((index) => index.isOn(columns))
    if (known) return known
    const index = new RowIndex(columns)
    for (const row of this.rows) {
      for (let version = row.newest; version !== null; version = version.before) {
        if (version.values !== null) index.add(row, version.values)
      }
    }
    this.indexes.push(index)
    return index
  }
}

/** Whether a version of a row that was found does. */
export function satisfies(search: Search, values: SqlRow | null): boolean {
  return values !== null && search.matchesFound(values)
}
