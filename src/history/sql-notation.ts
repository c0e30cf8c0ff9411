// SQL histories have no notation that could be parsed back; where notation is shown, statements
// look like this, one transaction a line:
//
//   s1: select orders where status = 'open' -> orders(1)@w3, not orders(2)@initial; w(x,5)
//   s1: update orders where id = $1 [1] -> orders(1)@w3 to @w8 = (1,'done') [aborted]
//   s2: refused insert orders where id = 1 -> orders(1)@w8
//   s2: insert orders -> orders(5)@w7 = (5,'open'); delete orders -> orders(5)@w7 gone @w9
//
// A version of a row is named by the write that made it. Main function: renderStatement.

import { inert } from '../base/inert.ts'
import { renderSqlValue, type SqlRow } from '../sql/value.ts'
import { type History, READ_ROWS, rowsOf, WRITE } from './history.ts'
import { EVERY_ROW, INSERT, REFUSED, type SqlEvents, STATEMENT_NAMES } from './sql-events.ts'
import { statementEnd } from './sql-steps.ts'
import type { Value } from './values.ts'

const MAX_ROWS = 8 // initial rows that are shown

/** What stands above the transactions: that this is no notation, and what their rows were at first. */
export function renderPreamble(history: History, sql: SqlEvents, txns: Iterable<number>): string[] {
  const lines = ['# SQL statements: to be read, not parsed']
  const keys = new Set<number>()
  for (const txn of txns) {
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      if (sql.initialRow[history.opKey[op]!]) keys.add(history.opKey[op]!)
    }
  }
  const shown = Array.from(keys).slice(0, MAX_ROWS)
  const rows = shown.map((key) => `${rowName(history, key)} = ${renderRow(sql.initialRow[key]!)}`)
  if (keys.size > MAX_ROWS) rows.push(`and ${keys.size - MAX_ROWS} more rows`)
  if (rows.length > 0) lines.push(`# initially ${rows.join(', ')}`)
  return lines
}

/** How ids of writes are shown. */
type Show = (id: Value) => string

/** A statement with what it saw and wrote. */
export function renderStatement(history: History, event: number, show: Show): string {
  const sql = history.sql!
  const kind = sql.eventKind[event]!
  const table = inert(sql.tables[sql.eventTable[event]!]!.name)
  const result = renderResult(history, event, show)
  const verb = kind === REFUSED ? 'refused insert' : STATEMENT_NAMES[kind]!
  return `${verb} ${table}${renderClause(sql, event)} -> ${result}`
}

/** What a statement saw and wrote: `orders(1)@w3`, or `no rows`. */
export function renderResult(history: History, event: number, show: Show): string {
  const sql = history.sql!
  const kind = sql.eventKind[event]!
  const end = statementEnd(history, sql, event)
  const name = (id: Value) =>
    id === null ? '@initial' : `@${id === 'initial' ? JSON.stringify(id) : show(id)}`
  const version = (op: number) =>
    history.opKind[op] === READ_ROWS
      ? (rowsOf(history, op) as Value[]).map(name).join(' and ')
      : name(history.valueOf(op))
  const rows = new Map<number, string>() // key -> what became of it
  for (let op = sql.eventOpStart[event]!; op < end; op++) {
    const key = history.opKey[op]!
    const seen = `${rowName(history, key)}${version(op)}`
    if (history.opKind[op] !== WRITE) {
      rows.set(key, sql.opReturned[op] ? seen : `not ${seen}`)
    } else {
      const row = sql.opRow[op]!
      const change = row === null ? `gone ${version(op)}` : `to ${version(op)} = ${renderRow(row)}`
      rows.set(key, kind === INSERT ? `${seen} = ${renderRow(row)}` : `${rows.get(key)} ${change}`)
    }
  }
  return rows.size > 0 ? Array.from(rows.values()).join(', ') : 'no rows'
}

function renderClause(sql: SqlEvents, event: number): string {
  const predicate = sql.predicates[sql.eventPredicate[event]!]
  if (predicate === undefined || predicate.text === EVERY_ROW) return ''
  const params = predicate.params.map(renderSqlValue).join(',')
  const text = predicate.text.replace(/\s+/g, ' ').trim()
  return inert(` where ${text}${params === '' ? '' : ` [${params}]`}`)
}

function renderRow(row: SqlRow): string {
  return inert(`(${row.map(renderSqlValue).join(',')})`)
}

function rowName(history: History, key: number): string {
  return inert(String(history.keyName(key)))
}
