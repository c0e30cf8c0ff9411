// Random SQL histories, and a full dump of the statements of a history to compare two of them.

import { Random } from '../../../src/base/random.ts'
import { HistoryBuilder } from '../../../src/history/builder.ts'
import { type History, NONE, WRITE } from '../../../src/history/history.ts'
import { INSERT as LIGHT_INSERT } from '../../../src/history/light.ts'
import {
  DELETE,
  INSERT,
  REFUSED,
  SELECT,
  type SqlTable,
  STATEMENT_NAMES,
} from '../../../src/history/sql-events.ts'
import { SqlStatements } from '../../../src/history/sql-statements.ts'
import type { Value } from '../../../src/history/values.ts'
import { renderSqlValue, type SqlRow, type SqlType, type SqlValue } from '../../../src/sql/value.ts'

const show = (row: SqlRow | null) => (row === null ? '†' : `(${row.map(renderSqlValue).join(',')})`)

/** The tables with their initial rows, then the statements, transaction by transaction. */
export function dumpSql(history: History): string[] {
  const sql = history.sql!
  const lines = sql.tables.map((table, id) => {
    const columns = table.columns.map(({ name, type }) => `${name} ${type}`).join(', ')
    const rows = sql.initialRow.filter((row, key) => row !== null && sql.keyTable[key] === id)
    const head = `${table.name}(${columns}) key ${table.keyColumns.join(',')}:`
    return [head, ...rows.map(show).sort()].join(' ')
  })
  for (let event = 0; event < sql.eventCount; event++) lines.push(dumpEvent(history, event))
  lines.push(`rolled back: ${sql.txnRolledBack.join(' ')}`)
  return lines
}

function dumpEvent(history: History, event: number): string {
  const sql = history.sql!
  const txn = history.txnName(sql.eventTxn[event]!)
  const step = sql.eventOpStart[event]! - history.txnOpStart[sql.eventTxn[event]!]!
  const kind = STATEMENT_NAMES[sql.eventKind[event]!]!
  const predicate = sql.predicates[sql.eventPredicate[event]!]
  const clause = predicate
    ? ` where ${predicate.text} [${predicate.params.map(renderSqlValue)}]`
    : ''
  const write = sql.eventWrite[event]!
  const id = write === NONE ? 'none' : String(history.values.get(write))
  const words = [
    `${txn}.${step} ${kind} ${sql.tables[sql.eventTable[event]!]!.name}${clause} write ${id}:`,
  ]
  for (let op = 0; op < history.opCount; op++) {
    if (sql.opEvent[op] !== event) continue
    const key = history.keyName(history.opKey[op]!)
    if (history.opKind[op] === WRITE) words.push(`${key}=${show(sql.opRow[op]!)}`)
    else words.push(`${sql.opReturned[op] ? '' : 'unread '}${key}@${history.valueOf(op)}`)
  }
  return words.join(' ')
}

const TABLES: readonly SqlTable[] = [
  {
    name: 'orders',
    columns: [
      { name: 'id', type: 'integer' },
      { name: 'status', type: 'text' },
      { name: 'paid', type: 'boolean' },
      { name: 'total', type: 'numeric' },
    ],
    keyColumns: [0],
  },
  {
    name: 'lager "ö"',
    columns: [
      { name: 'left', type: 'integer' },
      { name: 'item', type: 'text' },
      { name: 'shop', type: 'boolean' },
    ],
    keyColumns: [2, 1],
  },
]

const SAMPLES: Record<SqlType, readonly SqlValue[]> = {
  boolean: [true, false],
  integer: [0n, 1n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 9007199254740993n],
  numeric: ['0', '12.50', '-0.001', '123456789012345678901234567890.5'],
  text: ['', 'open', "it's", 'ä€😀', '"\\\n\u0000', '†'],
}
const CLAUSES = ['', 'TRUE', 'paid', "status = 'ö'", 'id = $1 AND "x" <> $2']

/** A history of statements and operations on registers, the same for the same seed. */
export function randomSqlHistory(seed: number): History {
  return new RandomSql(new Random(seed)).history()
}

class RandomSql {
  private readonly builder = new HistoryBuilder(null)
  private readonly statements = new SqlStatements(this.builder)
  private readonly writes: Value[] = [null, 'nobody', 2n ** 64n - 1n]

  constructor(private readonly random: Random) {}

  history(): History {
    const { random, statements, builder } = this
    TABLES.slice(0, 1 + random.below(2)).forEach((table) => {
      const id = statements.addTable(table)
      for (const key of this.keys(id)) statements.addInitialRow(id, this.row(id, key))
    })
    for (let t = random.below(6); t >= 0; t--) {
      const txn = builder.addTxn(builder.session(random.pick([0, 1, 'ü'])), random.below(3))
      if (random.chance(0.5)) builder.setLabel(txn, `T${t}`)
      if (random.chance(0.5)) builder.setLevel(txn, random.below(7))
      if (random.chance(0.3)) builder.setFinish(txn, 10 + txn)
      if (random.chance(0.3)) builder.setStart(txn, 9.5 + txn)
      for (let step = random.below(6); step > 0; step--) this.step(txn, step)
    }
    return builder.finish()
  }

  private step(txn: number, step: number): void {
    const { random, statements, builder } = this
    const choice = random.below(8)
    if (choice === 4) return builder.write(txn, 'x', txn * 10 + step)
    if (choice === 5) {
      const ids = [builder.valueId(null), builder.valueId(txn * 10 + step)] as const
      return builder.addLight(txn, LIGHT_INSERT, builder.keys.of('y'), ...ids, NONE)
    }
    if (choice === 6) return builder.readList(txn, 'l', [1, null])
    const table = random.below(statements.tables.length)
    if (choice === 7) return this.refuse(txn, table)
    const params = random.chance(0.5) ? [random.pick(SAMPLES.integer), null, 'a', true] : []
    const clause = statements.predicate(table, random.pick(CLAUSES), params)
    statements.begin(txn, choice, table, choice === INSERT ? NONE : clause)
    const id: Value = random.chance(0.5) ? `w${this.writes.length}` : this.writes.length
    const keys = this.keys(table)
    if (choice !== SELECT && (keys.length > 0 || random.chance(0.5))) statements.nameWrite(id)
    if (choice !== INSERT) {
      const passed = this.keys(table).filter((key) => !keys.some((k) => `${k}` === `${key}`))
      for (const key of keys) statements.readRow(key, random.pick(this.writes))
      for (const key of passed) statements.readRow(key, random.pick(this.writes), false)
    }
    if (choice === SELECT) return
    this.writes.push(id)
    for (const key of keys) {
      statements.writeRow(key, id, choice === DELETE ? null : this.row(table, key))
    }
  }

  private refuse(txn: number, table: number): void {
    const keys = this.keys(table)
    if (keys.length === 0) return
    this.statements.begin(txn, REFUSED, table, this.statements.predicateOfKeys(table, keys))
    for (const key of keys) this.statements.readRow(key, this.random.pick(this.writes))
  }

  /** Some different keys of the table. */
  private keys(table: number): SqlRow[] {
    const { keyColumns, columns } = TABLES[table]!
    const keys = new Map<string, SqlRow>()
    for (let i = this.random.below(4); i > 0; i--) {
      const key = keyColumns.map((column) => this.random.pick(SAMPLES[columns[column]!.type]))
      keys.set(key.map(renderSqlValue).join(), key)
    }
    return [...keys.values()]
  }

  private row(table: number, key: SqlRow): SqlRow {
    const { keyColumns, columns } = TABLES[table]!
    return columns.map(({ type }, column) => {
      const position = keyColumns.indexOf(column)
      if (position >= 0) return key[position]!
      return this.random.chance(0.3) ? null : this.random.pick(SAMPLES[type])
    })
  }
}
