// Which rows satisfy which predicates. Every WHERE clause is compiled once, and once the rows of
// its table are looked up of which at least one version satisfies it: a statement then costs only
// those, however many rows the table has. Where a clause fixes columns (id = 17 AND …), only
// versions with these values are looked at, through an index over them. Main class: Matches.

import type { Deadline } from '../../base/deadline.ts'
import { obtain } from '../../base/maps.ts'
import { badPredicate } from '../../history/bad-predicate.ts'
import { INITIAL, NONE } from '../../history/history.ts'
import type { SqlEvents } from '../../history/sql-events.ts'
import { type Predicate, parsePredicate } from '../../sql/predicate.ts'
import { renderSqlValue, type SqlRow, type SqlValue } from '../../sql/value.ts'
import type { Writers } from './writers.ts'

/** Parsing a clause takes as long as so many steps, and as one more for each character. */
const PARSING = 1024

/** The rows that a predicate can match. */
export interface Match {
  readonly keys: readonly number[] // ascending
  readonly writers: readonly Uint8Array[] // as keys -> writer of the key, from 0 -> 1 if it matches
}

/** A map whose keys are lists: one step from branch to branch for each item. */
class Branch<Leaf> {
  leaf: Leaf | null = null
  private readonly branches = new Map<string | number, Branch<Leaf>>()

  at(path: readonly (string | number)[]): Branch<Leaf> {
    let branch: Branch<Leaf> = this
    for (const item of path) branch = obtain(branch.branches, item, () => new Branch<Leaf>())
    return branch
  }
}

/** The compiled predicates of a history. */
export class Predicates {
  private readonly compiled: (Predicate | null)[] = []

  constructor(
    private readonly sql: SqlEvents,
    private readonly deadline: Deadline,
  ) {}

  /** Column -> the value it has in all rows that match; none for a statement without a clause. */
  fixedBy(predicate: number): ReadonlyMap<number, SqlValue> {
    return predicate === NONE ? new Map() : this.compile(predicate).fixed
  }

  /** Whether a row satisfies a predicate; null, a row that is not there, never does. */
  satisfies(predicate: number, row: SqlRow | null): boolean {
    if (row === null) return false
    if (predicate === NONE) return true
    this.deadline.step(8)
    try {
      return this.compile(predicate).matches(row)
    } catch (error) {
      throw badPredicate(this.sql.predicates[predicate]!, error)
    }
  }

  private compile(predicate: number): Predicate {
    const known = this.compiled[predicate]
    if (known) return known
    const { table, text, params } = this.sql.predicates[predicate]!
    this.deadline.step(PARSING + text.length)
    try {
      const { columns, name } = this.sql.tables[table]!
      const compiled = parsePredicate(text, columns, params, name)
      this.compiled[predicate] = compiled
      return compiled
    } catch (error) {
      throw badPredicate(this.sql.predicates[predicate]!, error)
    }
  }
}

/** What predicates match among the versions that the writers made. */
export class Matches {
  private readonly tableKeys: number[][] // table -> its keys, ascending
  /** Table and columns -> values of these -> keys. */
  private readonly indices = new Branch<Branch<number[]>>()
  private readonly known = new Map<number, Match>() // predicate -> what it matches
  private readonly knownContested = new Map<number, Match>()

  constructor(
    private readonly sql: SqlEvents,
    private readonly predicates: Predicates,
    private readonly writers: Writers,
  ) {
    this.tableKeys = sql.tables.map(() => [])
    for (let key = 0; key < sql.keyTable.length; key++) {
      if (sql.keyTable[key] !== NONE) this.tableKeys[sql.keyTable[key]!]!.push(key)
    }
  }

  /** The row that a write left, null if it deleted it. */
  rowOf(key: number, write: number): SqlRow | null {
    return (write === INITIAL ? this.sql.initialRow[key] : this.sql.opRow[write]) ?? null
  }

  /**
   * @param predicate NONE: every row matches
   * @param contested also lists rows that never match, if there is more than one version
   */
  find(predicate: number, table: number, contested = false): Match {
    const id = predicate === NONE ? -1 - table : predicate
    const known = contested ? this.knownContested : this.known
    return obtain(known, id, () => this.evaluate(predicate, table, contested))
  }

  private evaluate(predicate: number, table: number, contested: boolean): Match {
    const keys: number[] = []
    const writers: Uint8Array[] = []
    const candidates = contested ? this.tableKeys[table]! : this.candidates(predicate, table)
    for (const key of candidates) {
      const first = this.writers.start[key]!
      const flags = new Uint8Array(this.writers.start[key + 1]! - first)
      let any = false
      for (let i = 0; i < flags.length; i++) {
        const row = this.rowOf(key, this.writers.op[first + i]!)
        if (!this.predicates.satisfies(predicate, row)) continue
        flags[i] = 1
        any = true
      }
      if (!any && !(contested && flags.length > 1)) continue
      keys.push(key)
      writers.push(flags)
    }
    return { keys, writers }
  }

  /** Keys of the table that may match: those with a version that has all fixed values. */
  private candidates(predicate: number, table: number): readonly number[] {
    const fixed = [...this.predicates.fixedBy(predicate)].sort(([a], [b]) => a - b)
    if (fixed.length === 0) return this.tableKeys[table]!
    const columns = fixed.map(([column]) => column)
    const branch = this.indices.at([table, ...columns])
    branch.leaf ??= this.buildIndex(table, columns)
    return branch.leaf.at(fixed.map(([, value]) => renderSqlValue(value))).leaf ?? []
  }

  private buildIndex(table: number, columns: readonly number[]): Branch<number[]> {
    const index = new Branch<number[]>()
    for (const key of this.tableKeys[table]!) {
      for (let i = this.writers.start[key]!; i < this.writers.start[key + 1]!; i++) {
        const row = this.rowOf(key, this.writers.op[i]!)
        if (row === null) continue
        const branch = index.at(columns.map((column) => renderSqlValue(row[column]!)))
        branch.leaf ??= []
        if (branch.leaf.at(-1) !== key) branch.leaf.push(key)
      }
    }
    return index
  }
}
