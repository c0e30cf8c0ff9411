// A statement that ran, as the history tells it: what was asked, under which number rows were
// written, and whose versions it saw. Main function: renderRun.
//
// A broken database returns several rows under one key. Of a SELECT they are told as they are. One
// that writes is told with the newest, behind a SELECT of that key which returns them all.

import { renderClause, renderRow, renderVersion } from '../formats/native/sql-write.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { SqlStatement } from '../sql/statement.ts'
import { renderSqlValue, type SqlRow } from '../sql/value.ts'
import type { StatementAnswer } from './database.ts'

export function renderRun(
  table: SqlTable,
  statement: SqlStatement,
  write: number,
  answer: StatementAnswer,
): string {
  const { kind } = statement
  if (kind === 'insert') {
    const written = statement.rows.map((row) => renderRow(table, row))
    return `{"insert":${JSON.stringify(table.name)},"write":${write},"rows":[${written.join()}]}`
  }
  const clause = renderClause({ text: statement.where, params: statement.params })
  if (kind === 'select') return renderSelect(table, clause, seenBy(table, answer))
  const byKey = new Map<string, Seen[]>()
  for (const seen of seenBy(table, answer)) {
    const name = seen.key.map(renderSqlValue).join()
    byKey.set(name, [...(byKey.get(name) ?? []), seen])
  }
  const told: string[] = []
  const touched: string[] = []
  for (const versions of byKey.values()) {
    const newest = versions.reduce((a, b) => ((b.from ?? 0) > (a.from ?? 0) ? b : a))
    const after = kind === 'update' ? `,"row":${renderRow(table, newest.row)}` : ''
    touched.push(`{${renderVersion(newest.key, newest.from)}${after}}`)
    if (versions.length === 1) continue
    const only = renderClause({ text: keyClause(table), params: newest.key })
    told.push(renderSelect(table, only, versions))
  }
  const parts = [`"${kind}":${JSON.stringify(table.name)}`, ...clause]
  if (touched.length > 0) parts.push(`"write":${write}`)
  told.push(`{${parts.join()},"rows":[${touched.join()}]}`)
  return told.join()
}

/** A version of a row that a statement saw. */
interface Seen {
  readonly row: SqlRow
  readonly key: SqlRow
  readonly from: number | null
}

function seenBy(table: SqlTable, { rows, from }: StatementAnswer): Seen[] {
  return rows.map((row, i) => {
    const key = table.keyColumns.map((column) => row[column]!)
    return { row, key, from: from[i]! }
  })
}

function renderSelect(table: SqlTable, clause: readonly string[], seen: readonly Seen[]): string {
  const rows = seen.map(({ key, from }) => `{${renderVersion(key, from)}}`)
  const parts = [`"select":${JSON.stringify(table.name)}`, ...clause]
  return `{${parts.join()},"rows":[${rows.join()}]}`
}

function keyClause(table: SqlTable): string {
  const names = table.keyColumns.map((column) => table.columns[column]!.name)
  return names.map((name, i) => `"${name.replaceAll('"', '""')}" = $${i + 1}`).join(' AND ')
}
