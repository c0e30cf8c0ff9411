// Writes SQL statements and tables as sql.ts and tables.ts read them. NULL columns
// are left out, and so is a clause that every row satisfies. A recorder has no history yet, and
// uses the parts. Main functions: renderTables, renderStatement.

import { type History, NONE, READ_ROWS, rowsOf, WRITE } from '../../history/history.ts'
import {
  EVERY_ROW,
  INSERT,
  type SqlEvents,
  type SqlPredicate,
  type SqlTable,
  STATEMENT_NAMES,
  statementEnd,
  UPDATE,
} from '../../history/sql-events.ts'
import type { Value } from '../../history/values.ts'
import type { SqlRow, SqlValue } from '../../sql/value.ts'
import { renderJson } from '../sink.ts'

/** The rows there are at first: table -> rows. */
export function initialRowsOf(sql: SqlEvents): SqlRow[][] {
  const rows: SqlRow[][] = sql.tables.map(() => [])
  sql.initialRow.forEach((row, key) => {
    if (row !== null) rows[sql.keyTable[key]!]!.push(row)
  })
  return rows
}

/** The declarations, with the initial rows of each table. */
export function renderTables(
  tables: readonly SqlTable[],
  rows: readonly (readonly SqlRow[])[],
): string {
  const declared = tables.map((table, id) => {
    const columns = table.columns.map(({ name, type }) => `${JSON.stringify(name)}:"${type}"`)
    const key = table.keyColumns.map((column) => JSON.stringify(table.columns[column]!.name))
    const first = rows[id]!.map((row) => renderRow(table, row))
    const initial = first.length > 0 ? `,"rows":[${first.join(',')}]` : ''
    return `${JSON.stringify(table.name)}:{"columns":{${columns}},"key":[${key}]${initial}}`
  })
  return `{${declared.join(',')}}`
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
      unread.push(`{${renderVersion(sql.keyValues[history.opKey[op]!]!, history.valueOf(op))}}`)
    } else {
      const write = kind === UPDATE ? writes.get(history.opKey[op]!)! : NONE
      const row = write === NONE ? '' : `,"row":${renderRow(table, sql.opRow[write]!)}`
      for (const from of versionsOf(history, op)) {
        rows.push(`{${renderVersion(sql.keyValues[history.opKey[op]!]!, from)}${row}}`)
      }
    }
  }
  parts.push(`"rows":[${rows.join(',')}]`)
  if (unread.length > 0) parts.push(`"unread":[${unread.join(',')}]`)
  return `{${parts.join(',')}}`
}

/** The fields of a clause; none for one that every row satisfies. */
export function renderClause({ text, params }: Pick<SqlPredicate, 'text' | 'params'>): string[] {
  if (text === EVERY_ROW && params.length === 0) return []
  const where = `"where":${JSON.stringify(text)}`
  return params.length === 0 ? [where] : [where, `"params":[${params.map(renderSql).join(',')}]`]
}

/** The versions of a row that a statement returned: one, unless the database is broken. */
function versionsOf(history: History, op: number): Value[] {
  return history.opKind[op] === READ_ROWS ? (rowsOf(history, op) as Value[]) : [history.valueOf(op)]
}

/** The fields of a version that was seen. */
export function renderVersion(key: SqlRow, from: Value): string {
  return `"key":[${key.map(renderSql).join(',')}],"from":${renderJson(from)}`
}

export function renderRow(table: SqlTable, row: SqlRow): string {
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
