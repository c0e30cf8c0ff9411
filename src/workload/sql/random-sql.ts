// Random SQL for fuzzing: one or two small tables, few rows, statements with random predicates.
// Some statements go back to a row that an earlier one returned, as applications do.

import { Random } from '../../base/random.ts'
import type { SqlTable } from '../../history/sql-events.ts'
import {
  add,
  deleteFrom,
  insert,
  type SqlAssignment,
  type SqlStatement,
  type SqlSteps,
  select,
  update,
} from '../../sql/statement.ts'
import type { SqlColumn, SqlRow, SqlValue } from '../../sql/value.ts'
import { chooserOf, type KeyChooser } from '../distributions.ts'
import type { SqlParameters } from './parameters.ts'
import { type TransactionKind, table } from './plan.ts'
import { type RandomPredicate, randomPredicate, randomValue } from './random-predicate.ts'

const ONE = table('one', { id: 'integer', a: 'integer', b: 'text', c: 'boolean' }, ['id'])
const TWO = table('two', { k: 'text', n: 'integer', v: 'integer' }, ['k', 'n'])

const NULL_SHARE = 0.1
/** Share of the keys that have a row at first. */
const FIRST_SHARE = 0.6
/** Share of the statements that go back to a row seen before. */
const AGAIN_SHARE = 0.2
const ABORT_SHARE = 0.05
/** Histories of more transactions draw from so many clauses. */
const MANY_TXNS = 20_000
const CLAUSES = 5000

export class RandomSqlChoices {
  readonly tables: readonly SqlTable[]
  private readonly keys: KeyChooser

  constructor(
    readonly parameters: SqlParameters,
    random: Random,
  ) {
    this.tables = random.chance(0.5) ? [ONE] : [ONE, TWO]
    this.keys = chooserOf(parameters.distribution, parameters.keys)
  }

  /** A clause: in long histories one of many, because parsing new ones takes most of the time. */
  predicate(table: SqlTable, random: Random): RandomPredicate {
    const isLong = this.parameters.transactions > MANY_TXNS
    const drawn = isLong ? new Random(random.below(CLAUSES)) : random
    return randomPredicate(table.columns, drawn)
  }

  row(table: SqlTable, random: Random): SqlRow {
    return this.rowOf(table, this.keys.next(random), random)
  }

  rowOf(table: SqlTable, key: number, random: Random): SqlRow {
    return table.columns.map(({ type }, column) => {
      const place = table.keyColumns.indexOf(column)
      if (place >= 0 && type === 'integer') return BigInt(key)
      // A text in a key says nothing new, so that keys are as many as asked for.
      if (place >= 0) return key % 2 === 0 ? 'even' : 'odd'
      return randomCell(type, random)
    })
  }
}

function randomCell(type: SqlColumn['type'], random: Random): SqlValue {
  return random.chance(NULL_SHARE) ? null : randomValue(type, random)
}

/** table -> the rows it holds at first. */
export function randomSqlRows(choices: RandomSqlChoices, random: Random): SqlRow[][] {
  return choices.tables.map((table) => {
    const rows: SqlRow[] = []
    for (let key = 0; key < choices.parameters.keys; key++) {
      if (random.chance(FIRST_SHARE)) rows.push(choices.rowOf(table, key, random))
    }
    return rows
  })
}

export const RANDOM_SQL: readonly TransactionKind<RandomSqlChoices>[] = [
  { name: 'weak', weight: 1, isStrong: false, run: runRandom },
  { name: 'strong', weight: 1, isStrong: true, run: runRandom },
]

function* runRandom(choices: RandomSqlChoices, random: Random): SqlSteps {
  const count = 1 + random.below(choices.parameters.ops)
  const seen: { table: SqlTable; row: SqlRow }[] = []
  for (let i = 0; i < count; i++) {
    const again = seen.length > 0 && random.chance(AGAIN_SHARE) ? random.pick(seen) : null
    const table = again?.table ?? random.pick(choices.tables)
    const predicate = again ? keyOf(table, again.row) : choices.predicate(table, random)
    const rows: readonly SqlRow[] = yield randomStatement(choices, table, predicate, random)
    for (const row of rows) seen.push({ table, row })
  }
  return random.chance(ABORT_SHARE) ? 'abort' : 'commit'
}

function randomStatement(
  choices: RandomSqlChoices,
  table: SqlTable,
  { where, params }: RandomPredicate,
  random: Random,
): SqlStatement {
  if (random.chance(choices.parameters.reads)) {
    // Now and then all rows, without a WHERE.
    return random.chance(0.1) ? select(table.name) : select(table.name, where, ...params)
  }
  const draw = random.below(3)
  if (draw === 0) return insert(table.name, choices.row(table, random))
  if (draw === 1) return deleteFrom(table.name, where, ...params)
  const others = table.columns.filter((_, column) => !table.keyColumns.includes(column))
  const { name, type } = random.pick(others)
  const isSum = type === 'integer' && random.chance(0.5)
  const to: SqlAssignment = isSum ? add(1n) : randomCell(type, random)
  return update(table.name, { [name]: to }, where, ...params)
}

function keyOf(table: SqlTable, row: SqlRow): RandomPredicate {
  const parts = table.keyColumns.map((column, i) => `${table.columns[column]!.name} = $${i + 1}`)
  return { where: parts.join(' AND '), params: table.keyColumns.map((column) => row[column]!) }
}
