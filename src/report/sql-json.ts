// SQL statements, rows and tables as the verdict's JSON has them. Main functions:
// describeStatement, describePassed, describeTables.

import { cut } from '../base/inert.ts'
import { type History, INITIAL, NONE, READ, READ_ROWS, rowsOf, WRITE } from '../history/history.ts'
import { renderValue } from '../history/render-value.ts'
import {
  DELETE,
  EVERY_ROW,
  INSERT,
  type SqlEvents,
  type SqlTable,
  STATEMENT_NAMES,
} from '../history/sql-events.ts'
import { renderResult } from '../history/sql-notation.ts'
import { statementEnd } from '../history/sql-steps.ts'
import type { Value } from '../history/values.ts'
import { LEVELS } from '../levels/levels.ts'
import type { SqlRow, SqlValue } from '../sql/value.ts'
import type {
  CellJson,
  PassedJson,
  RowJson,
  StatementJson,
  StatementRowJson,
  TableJson,
} from '../verdict/verdict-file.ts'
import { rowText, statementText } from './sql-words.ts'

const MAX_RESULT = 1000 // characters of a result in words; `rows` has them all

/** The statements of a transaction, in their order. */
export function describeStatements(history: History, sql: SqlEvents, txn: number): StatementJson[] {
  const first = sql.txnEventStart[txn]!
  const events = { length: sql.txnEventStart[txn + 1]! - first }
  return Array.from(events, (_, i) => describeStatement(history, sql, first + i))
}

function describeStatement(history: History, sql: SqlEvents, event: number): StatementJson {
  const first = sql.eventOpStart[event]!
  const end = statementEnd(history, sql, event)
  const { rows, unread } = describeRows(history, sql, event, end)
  const described: StatementJson = {
    text: statementText(history, event),
    result: cut(renderResult(history, event, renderValue), MAX_RESULT),
    first: first - history.txnOpStart[sql.eventTxn[event]!]!,
    count: end - first,
    kind: STATEMENT_NAMES[sql.eventKind[event]!]!,
    table: sql.tables[sql.eventTable[event]!]!.name,
    rows,
  }
  const predicate = sql.predicates[sql.eventPredicate[event]!]
  if (predicate && predicate.text !== EVERY_ROW) {
    described.where = predicate.text
    if (predicate.params.length > 0) described.params = predicate.params.map(cellOf)
  }
  const write = sql.eventWrite[event]!
  if (write !== NONE) described.write = history.values.get(write)
  if (unread.length > 0) described.unread = unread
  return described
}

/** What the statement returned or touched, and what it passed over by name. */
function describeRows(history: History, sql: SqlEvents, event: number, end: number) {
  const table = sql.tables[sql.eventTable[event]!]!
  const rows = new Map<number, StatementRowJson>() // key -> row
  const further: StatementRowJson[] = [] // rows under a key that another has as well
  const unread: StatementRowJson[] = []
  for (let op = sql.eventOpStart[event]!; op < end; op++) {
    const id = history.opKey[op]!
    const key = sql.keyValues[id]!.map(cellOf)
    if (history.opKind[op] === READ_ROWS) {
      const [first, ...others] = rowsOf(history, op) as Value[]
      rows.set(id, { key, from: first ?? null })
      for (const from of others) further.push({ key, from })
      continue
    }
    if (history.opKind[op] !== WRITE) {
      const seen = { key, from: history.valueOf(op) }
      if (sql.opReturned[op]) rows.set(id, seen)
      else unread.push(seen)
      continue
    }
    const row = sql.opRow[op] ?? null
    const seen = sql.eventKind[event] === INSERT ? { key } : (rows.get(id) ?? { key })
    rows.set(id, row === null ? seen : { ...seen, row: rowOf(table, row) })
  }
  return { rows: [...rows.values(), ...further], unread }
}

/** @param write the version that is spoken of */
export function describePassed(
  history: History,
  event: number,
  key: number,
  write: number,
): PassedJson {
  const sql = history.sql!
  const txn = sql.eventTxn[event]!
  const row = (write === INITIAL ? sql.initialRow[key] : sql.opRow[write]) ?? null
  return {
    transaction: history.txnName(txn),
    statement: event - sql.txnEventStart[txn]!,
    text: statementText(history, event),
    level: LEVELS[history.txnLevel?.[txn] ?? NONE]?.id ?? null,
    key: history.keyName(key),
    row: row && rowOf(sql.tables[sql.keyTable[key]!]!, row),
    held: rowText(history, key, write, event),
  }
}

/**
 * The tables that some transactions use, with what their rows held at first.
 * @param txns in input order
 * @param spokenOf rows that the evidence names
 */
export function describeTables(
  history: History,
  sql: SqlEvents,
  txns: readonly number[],
  spokenOf: Iterable<number>,
): TableJson[] {
  const keys = new Set(spokenOf)
  const tables = new Set<number>()
  for (const txn of txns) {
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      keys.add(history.opKey[op]!)
    }
    for (let event = sql.txnEventStart[txn]!; event < sql.txnEventStart[txn + 1]!; event++) {
      tables.add(sql.eventTable[event]!)
    }
  }
  const ordered = [...keys].sort((a, b) => a - b)
  return [...tables]
    .sort((a, b) => a - b)
    .map((id) => {
      const table = sql.tables[id]!
      const mine = ordered.filter((key) => sql.keyTable[key] === id)
      return {
        name: table.name,
        columns: table.columns.map(({ name, type }) => ({ name, type })),
        key: table.keyColumns.map((column) => table.columns[column]!.name),
        rows: mine.flatMap((key) => {
          const row = sql.initialRow[key] ?? null
          return row === null ? [] : [rowOf(table, row)]
        }),
      }
    })
}

/**
 * Who wrote what the transactions deleted of those keys: unlike any other write, a deletion cannot
 * be told without the version it met.
 */
export function findDeleted(
  history: History,
  txns: Iterable<number>,
  keys: ReadonlySet<number>,
): Set<number> {
  const sql = history.sql!
  const writers = new Set<number>()
  for (const txn of txns) {
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      const event = sql.opEvent[op]!
      if (event === NONE || sql.eventKind[event] !== DELETE || !keys.has(history.opKey[op]!))
        continue
      if (history.opKind[op] === READ && history.readFrom[op]! >= 0) {
        writers.add(history.opTxn[history.readFrom[op]!]!)
      }
    }
  }
  return writers
}

function rowOf(table: SqlTable, row: SqlRow): RowJson {
  return Object.fromEntries(table.columns.map(({ name }, i) => [name, cellOf(row[i]!)]))
}

function cellOf(value: SqlValue): CellJson {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : value
}
