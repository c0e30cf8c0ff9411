// Runs a fault's script against the store. All other sessions stand still meanwhile (they may be in
// the middle of transactions). The script speaks of rows of one table: new rows are made after one
// that is there, with a key that nobody uses, and the predicate says what they have in common.

import { UsageError } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import { NONE } from '../../history/history.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import { add, insert, type SqlStatement, select, update } from '../../sql/statement.ts'
import type { SqlRow, SqlType, SqlValue } from '../../sql/value.ts'
import type { PlacedScript } from '../placement.ts'
import type { StoredRow } from './execution.ts'
import type { SqlScript, SqlScriptStep } from './faults.ts'
import { newestState, type StoredTable } from './rows.ts'
import type { Mischief, SqlStore } from './store.ts'

/** Numbers in keys of rows that strikes make begin here. */
const FRESH_KEYS = 1_000_000n

/** The parts of a running simulation that a strike works on. */
export interface SqlWorld {
  readonly store: SqlStore
  readonly random: Random
  freshCount: bigint // numbers that strikes were given so far
  begin(txn: number): void
  runStatement(txn: number, statement: SqlStatement, mischief?: Mischief): void
  install(txn: number): void
}

export class StrikeRun {
  private readonly table: StoredTable
  private readonly columns: readonly number[] // columns that the predicate speaks of
  private readonly changed: number // the one that changes
  private readonly rows: SqlRow[] = [] // row of the script -> its values

  constructor(
    private readonly world: SqlWorld,
    private readonly strike: PlacedScript<SqlScript>,
  ) {
    const { table, like } = this.chooseTable()
    this.table = table
    this.columns = this.chooseColumns(like)
    this.changed = this.columns.find((column) => !table.table.keyColumns.includes(column))!
    const number = freshColumn(table.table)
    for (let row = 0; row < strike.script.rowCount; row++) {
      const fresh = FRESH_KEYS + world.freshCount++
      this.rows.push(like.map((value, column) => (column === number ? fresh : value)))
    }
  }

  /** Returns the rows that the strike is about. */
  run(): StoredRow[] {
    const { world, strike, table } = this
    for (const step of strike.script.steps) {
      const txn = strike.txns[step.txn]!
      if (step.verb === 'begin') world.begin(txn)
      else if (step.verb === 'commit') world.install(txn)
      else world.runStatement(txn, this.statementOf(step), this.mischiefOf(step))
    }
    return this.rows.map((values) => table.row(table.keyOf(values)))
  }

  private statementOf({ verb, row }: SqlScriptStep): SqlStatement {
    const { name, columns, keyColumns } = this.table.table
    const { changed } = this
    const values = this.rows[row] ?? this.rows[0]!
    const column = columns[changed]!.name
    const fit = values[changed]!
    if (verb === 'get') return select(name, ...this.equal(keyColumns, values))
    if (verb === 'insert') return insert(name, values)
    if (verb === 'insertOther') return insert(name, values.with(changed, otherValue(fit)))
    if (verb !== 'fit' && verb !== 'change')
      return select(name, ...this.equal(this.columns, values))
    const change = typeof fit === 'bigint' ? add(1n) : otherValue(fit)
    const to = verb === 'fit' ? fit : change
    return update(name, { [column]: to }, ...this.equal(keyColumns, values))
  }

  private mischiefOf({ verb, row }: SqlScriptStep): Mischief {
    if (verb === 'findNow') return { seesNewest: true }
    if (verb !== 'findWithout') return {}
    return { missing: this.table.row(this.table.keyOf(this.rows[row]!)) }
  }

  /** WHERE the columns are as in the row. */
  private equal(columns: readonly number[], values: SqlRow): [string, ...SqlValue[]] {
    const { table } = this.table
    const parts = columns.map((column, i) => `${table.columns[column]!.name} = $${i + 1}`)
    return [parts.join(' AND '), ...columns.map((column) => values[column]!)]
  }

  /** A table, and what a row of it looks like: one that is there, or else a made-up one. */
  private chooseTable(): { table: StoredTable; like: SqlRow } {
    const { store, random } = this.world
    // Rows can be added to it, and changed.
    const isUsable = ({ table }: StoredTable) =>
      freshColumn(table) !== NONE && table.columns.length > table.keyColumns.length
    const usable = store.tables.filter(isUsable)
    if (usable.length === 0) {
      throw new UsageError(`no table on which ${this.strike.script.fault.name} could strike`)
    }
    const table = random.pick(usable)
    const { columns, keyColumns } = table.table
    const living: SqlRow[] = []
    for (const row of table.rows) {
      const { values } = newestState(row)
      const isPlain = values?.some((value, i) => value !== null && !keyColumns.includes(i))
      if (isPlain) living.push(values!)
    }
    const like = living.length > 0 ? random.pick(living) : columns.map(({ type }) => ANY[type])
    return { table, like }
  }

  /** One outside the key, and by the toss of a coin another one; neither is NULL. */
  private chooseColumns(like: SqlRow): number[] {
    const { random } = this.world
    const { table } = this.table
    const fresh = freshColumn(table)
    const columns = random
      .shuffle(Array.from(like.keys()))
      .filter((column) => column !== fresh && like[column] !== null)
    const first = columns.find((column) => !table.keyColumns.includes(column))!
    const second = columns.find((column) => column !== first)
    return second !== undefined && random.chance(0.5) ? [second, first] : [first]
  }
}

const ANY: Readonly<Record<SqlType, SqlValue>> = {
  boolean: true,
  integer: 0n,
  numeric: '0',
  text: 'a',
}

/** The column of the key by which new rows differ, NONE if none of it is a number. */
function freshColumn({ columns, keyColumns }: SqlTable): number {
  return keyColumns.findLast((column) => columns[column]!.type === 'integer') ?? NONE
}

function otherValue(value: SqlValue): SqlValue {
  if (typeof value === 'bigint') return value + 1n
  return typeof value === 'string' ? `${value}?` : value !== true
}
