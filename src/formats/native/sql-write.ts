// Writes SQL statements and tables as sql.ts and tables.ts read them. NULL columns
// are left out, and so is a clause that every row satisfies. A recorder has no history yet, and
// uses the parts. Main functions: renderTables, writeStatement.

import { obtain } from '../../base/maps.ts'
import { type History, NONE, READ_ROWS, rowsOf, WRITE } from '../../history/history.ts'
import {
  EVERY_ROW,
  INSERT,
  REFUSED,
  type SqlEvents,
  type SqlPredicate,
  type SqlTable,
  STATEMENT_NAMES,
  UPDATE,
} from '../../history/sql-events.ts'
import { statementEnd } from '../../history/sql-steps.ts'
import type { Value } from '../../history/values.ts'
import { renderInteger, type SqlRow, type SqlValue } from '../../sql/value.ts'
import { type ByteWriter, renderJson } from '../sink.ts'

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

/** Piece by piece: a statement may have returned thousands of rows. */
export function writeStatement(writer: ByteWriter, history: History, event: number): void {
  const sql = history.sql!
  const kind = sql.eventKind[event]!
  const table = sql.tables[sql.eventTable[event]!]!
  writer.text(`{"${STATEMENT_NAMES[kind]!}":${JSON.stringify(table.name)}`)
  const predicate = sql.predicates[sql.eventPredicate[event]!]
  if (predicate !== undefined && kind !== REFUSED)
    for (const field of renderClause(predicate)) writer.text(`,${field}`)
  const write = sql.eventWrite[event]!
  if (write !== NONE) writer.text(`,"write":${renderJson(history.values.get(write))}`)
  writer.text(',"rows":[')
  const start = sql.eventOpStart[event]!
  const end = statementEnd(history, sql, event)
  const updated = kind === UPDATE ? writesOf(history, start, end) : null
  let separator = ''
  let passed = 0
  for (let op = start; op < end; op++) {
    const key = history.opKey[op]!
    if (history.opKind[op] === WRITE) {
      if (kind !== INSERT) continue
      writer.text(separator + renderRow(table, sql.opRow[op]!))
      separator = ','
    } else if (sql.opReturned[op] === 0) {
      passed++
    } else {
      for (const from of versionsOf(history, op)) {
        writer.text(`${separator}{${renderVersion(sql.keyValues[key]!, from)}`)
        if (updated) writer.text(`,"row":${renderRow(table, sql.opRow[updated.get(key)!]!)}`)
        writer.text('}')
        separator = ','
      }
    }
  }
  writer.text(']')
  if (passed > 0) writeUnread(writer, history, start, end)
  writer.text('}')
}

/** The rows that a statement passed over. */
function writeUnread(writer: ByteWriter, history: History, start: number, end: number): void {
  const { keyValues, opReturned } = history.sql!
  let separator = ',"unread":['
  for (let op = start; op < end; op++) {
    if (history.opKind[op] === WRITE || opReturned[op] !== 0) continue
    const version = renderVersion(keyValues[history.opKey[op]!]!, history.valueOf(op))
    writer.text(`${separator}{${version}}`)
    separator = ','
  }
  writer.text(']')
}

function listed(list: string, item: string): string {
  return list === '' ? item : `${list},${item}`
}

/** Key -> the write of it among these operations. */
function writesOf(history: History, start: number, end: number): Map<number, number> {
  const writes = new Map<number, number>()
  for (let op = start; op < end; op++) {
    if (history.opKind[op] === WRITE) writes.set(history.opKey[op]!, op)
  }
  return writes
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
  let values = ''
  for (const value of key) values = listed(values, renderSql(value))
  return `"key":[${values}],"from":${renderJson(from)}`
}

export function renderRow(table: SqlTable, row: SqlRow): string {
  const made = () => table.columns.map(({ name }) => `${JSON.stringify(name)}:`)
  const labels = obtain(known, table, made)
  let columns = ''
  for (let column = 0; column < row.length; column++) {
    const value = row[column]!
    if (value !== null) columns = listed(columns, `${labels[column]!}${renderSql(value)}`)
  }
  return `{${columns}}`
}

/** How the columns of a table are called in JSON. */
const known = new WeakMap<SqlTable, readonly string[]>()

function renderSql(value: SqlValue): string {
  if (typeof value === 'bigint') return renderInteger(value)
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
