// Writes SQL statements and tables as native-sql.ts and native-tables.ts read them. NULL columns
// are left out, and so is a clause that every row satisfies. Main functions: renderTables,
// renderStatement.

import { type History, NONE, WRITE } from '../history/history.ts'
import {
  EVERY_ROW,
  INSERT,
  type SqlEvents,
  type SqlPredicate,
  type SqlTable,
  STATEMENT_NAMES,
  statementEnd,
  UPDATE,
} from '../history/sql-events.ts'
import type { SqlRow, SqlValue } from '../sql/value.ts'
import { renderJson } from './sink.ts'

/** The declarations, with the initial rows. */
export function renderTables(sql: SqlEvents): string {
  const rows: string[][] = sql.tables.map(() => [])
  sql.initialRow.forEach((row, key) => {
    const table = sql.keyTable[key]!
    if (row !== null) rows[table]!.push(renderRow(sql.tables[table]!, row))
  })
  const tables = sql.tables.map((table, id) => {
    const columns = table.columns.map(({ name, type }) => `${JSON.stringify(name)}:"${type}"`)
    const key = table.keyColumns.map((column) => JSON.stringify(table.columns[column]!.name))
    const initial = rows[id]!.length > 0 ? `,"rows":[${rows[id]!.join(',')}]` : ''
    return `${JSON.stringify(table.name)}:{"columns":{${columns}},"key":[${key}]${initial}}`
  })
  return `{${tables.join(',')}}`
}

export function renderStatement(history: History, sql: SqlEvents, event: number): string {
  const kind = sql.eventKind[event]!
  const table = sql.tables[sql.eventTable[event]!]!
  const parts = [`"${STATEMENT_NAMES[kind]!}":${JSON.stringify(table.name)}`]
  const predicate = sql.predicates[sql.eventPredicate[event]!]
  if (predicate !== undefined) parts.push(...renderClause(predicate))
  const write = sql.eventWrite[event]!
  if (write !== NONE) parts.push(`"write":${renderJson(history.values.get(write))}`)
  const rows: string[] = []
  const unread: string[] = []
  const end = statementEnd(history, sql, event)
  const writes = new Map<number, number>() // key -> the statement's write of it
  for (let op = sql.eventOpStart[event]!; op < end; op++) {
    if (history.opKind[op] === WRITE) writes.set(history.opKey[op]!, op)
  }
  for (let op = sql.eventOpStart[event]!; op < end; op++) {
    if (history.opKind[op] === WRITE) {
      if (kind === INSERT) rows.push(renderRow(table, sql.opRow[op]!))
    } else if (sql.opReturned[op] === 0) {
      unread.push(`{${renderVersion(history, sql, op)}}`)
    } else {
      const write = kind === UPDATE ? writes.get(history.opKey[op]!)! : NONE
      const row = write === NONE ? '' : `,"row":${renderRow(table, sql.opRow[write]!)}`
      rows.push(`{${renderVersion(history, sql, op)}${row}}`)
    }
  }
  parts.push(`"rows":[${rows.join(',')}]`)
  if (unread.length > 0) parts.push(`"unread":[${unread.join(',')}]`)
  return `{${parts.join(',')}}`
}

function renderClause({ text, params }: SqlPredicate): string[] {
  if (text === EVERY_ROW && params.length === 0) return []
  const where = `"where":${JSON.stringify(text)}`
  return params.length === 0 ? [where] : [where, `"params":[${params.map(renderSql).join(',')}]`]
}

function renderVersion(history: History, sql: SqlEvents, op: number): string {
  const key = sql.keyValues[history.opKey[op]!]!.map(renderSql)
  return `"key":[${key.join(',')}],"from":${renderJson(history.valueOf(op))}`
}

function renderRow(table: SqlTable, row: SqlRow): string {
  const columns: string[] = []
  row.forEach((value, column) => {
    if (value === null) return
    columns.push(`${JSON.stringify(table.columns[column]!.name)}:${renderSql(value)}`)
  })
  return `{${columns.join(',')}}`
}

function renderSql(value: SqlValue): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
