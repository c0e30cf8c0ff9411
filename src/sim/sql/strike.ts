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
import type { SqlScript, SqlScriptStep } from './faults.ts'
import { newestVersion, type StoredRow, type StoredTable } from './rows.ts'
import type { Mischief } from './store.ts'

/** Numbers in keys of rows that strikes make begin here. */
const FRESH_KEYS = 1_000_000n

/** The parts of a running simulation that a strike works on. */
export interface SqlWorld {
  readonly tables: readonly StoredTable[]
  readonly random: Random
  /** A number that no other strike was given. */
  freshNumber(): bigint
  begin(txn: number): void
  runStatement(txn: number, statement: SqlStatement, mischief?: Mischief): void
  install(txn: number): void
}

/** Returns the rows that the strike is about. */
export function runSqlStrike(world: SqlWorld, strike: PlacedScript<SqlScript>): StoredRow[] {
  return new StrikeRun(world, strike).run()
}

class StrikeRun {
  private readonly table: StoredTable
  private readonly like: SqlRow // the row after which new ones are made
  private readonly columns: number[] // columns that the predicate speaks of
  private readonly rows: SqlRow[] = [] // row of the script -> its values
  private readonly raised: SqlRow

  constructor(
    private readonly world: SqlWorld,
    private readonly strike: PlacedScript<SqlScript>,
  ) {
    const { random } = world
    const { table, like } = this.chooseTable()
    this.table = table
    this.like = like
    this.raised = like
    this.columns = this.chooseColumns()
    const number = freshColumn(table.table)
    for (let row = 0; row < strike.script.rowCount; row++) {
      const fresh = FRESH_KEYS + world.freshNumber()
      this.rows.push(like.map((value, column) => (column === number ? fresh : value)))
    }
    if (random.chance(0.5)) this.columns.reverse()
  }

  run(): StoredRow[] {
    const { world, strike, table } = this
    for (const step of strike.script.steps) {
      const txn = strike.txns[step.txn]!
      if (step.verb === 'begin') world.begin(txn)
      else if (step.verb === 'commit') world.install(txn)
      else world.runStatement(txn, this.statementOf(step), this.mischiefOf(step))
    }
    const rows = this.rows.length > 0 ? this.rows : [this.raised]
    return rows.map((values) => table.row(table.keyOf(values)))
  }

  private statementOf({ verb, row }: SqlScriptStep): SqlStatement {
    const { name, columns, keyColumns } = this.table.table
    const values = row === NONE ? this.raised : this.rows[row]!
    const changed = this.columns.find((column) => !keyColumns.includes(column))!
    switch (verb) {
      case 'get':
        return select(name, ...this.equal(keyColumns, values))
      case 'insert':
        return insert(name, values)
      case 'insertOther': {
        const { type } = columns[changed]!
        return insert(
          name,
          values.map((value, i) => (i === changed ? otherValue(type, value) : value)),
        )
      }
      case 'fit':
        return update(
          name,
          { [columns[changed]!.name]: values[changed]! },
          ...this.equal(keyColumns, values),
        )
      case 'raise': {
        const column = integerColumn(this.table.table)
        return update(name, { [columns[column]!.name]: add(1n) }, ...this.equal(keyColumns, values))
      }
      default:
        return select(name, ...this.equal(this.columns, this.like))
    }
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

  /** A table, and a row of it that is there, on which the script can be played. */
  private chooseTable(): { table: StoredTable; like: SqlRow } {
    const { world, strike } = this
    const { script } = strike
    const needs = new Set(script.steps.map((step) => step.verb))
    const found: { table: StoredTable; like: SqlRow }[] = []
    for (const table of world.tables) {
      if (script.rowCount > 0 && freshColumn(table.table) === NONE) continue
      if (needs.has('raise') && integerColumn(table.table) === NONE) continue
      for (const row of table.rows) {
        const like = newestVersion(row).values
        const columns = like ? predicateColumns(table.table, like) : []
        if (columns.length === 0) continue
        const isKey = (column: number) => table.table.keyColumns.includes(column)
        if (needs.has('fit') && columns.every(isKey)) continue
        found.push({ table, like: like! })
      }
    }
    if (found.length > 0) return world.random.pick(found)
    throw new UsageError(
      `no table has a row on which ${script.fault.name} could strike`,
      'ask for more keys, or another seed',
    )
  }

  /** One or two columns that are not NULL, at least one of them no part of the key if it can be. */
  private chooseColumns(): number[] {
    const { random } = this.world
    const { table } = this.table
    const columns = random.shuffle(predicateColumns(table, this.like))
    const free = columns.find((column) => !table.keyColumns.includes(column))
    const first = free ?? columns[0]!
    const second = columns.find((column) => column !== first)
    return second !== undefined && random.chance(0.5) ? [first, second] : [first]
  }
}

/** The column of the key by which new rows differ, NONE if none of it is a number. */
function freshColumn({ columns, keyColumns }: SqlTable): number {
  return keyColumns.findLast((column) => columns[column]!.type === 'integer') ?? NONE
}

function integerColumn({ columns, keyColumns }: SqlTable): number {
  return columns.findIndex(({ type }, column) => type === 'integer' && !keyColumns.includes(column))
}

/** Columns in which a new row equals the one after which it is made. */
function predicateColumns(table: SqlTable, like: SqlRow): number[] {
  const fresh = freshColumn(table)
  return Array.from(like.keys()).filter((column) => column !== fresh && like[column] !== null)
}

function otherValue(type: SqlType, value: SqlValue): SqlValue {
  if (type === 'boolean') return value !== true
  return type === 'integer' ? (value as bigint) + 1n : `${value}?`
}
