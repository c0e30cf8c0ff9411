// A statement that ran, as the history tells it: what was asked, under which number rows were
// written, and whose versions it saw. Main function: renderRun.

import { renderClause, renderRow, renderVersion } from '../formats/native-sql-write.ts'
import type { SqlTable } from '../history/sql-events.ts'
import type { SqlStatement } from '../sql/statement.ts'
import type { StatementAnswer } from './database.ts'

export function renderRun(
  table: SqlTable,
  statement: SqlStatement,
  write: number,
  { rows, from }: StatementAnswer,
): string {
  const { kind } = statement
  const parts = [`"${kind}":${JSON.stringify(table.name)}`]
  if (kind === 'insert') {
    const written = statement.rows.map((row) => renderRow(table, row))
    return `{${parts.join()},"write":${write},"rows":[${written.join()}]}`
  }
  parts.push(...renderClause({ text: statement.where, params: statement.params }))
  if (kind !== 'select' && rows.length > 0) parts.push(`"write":${write}`)
  const touched = rows.map((row, i) => {
    const key = table.keyColumns.map((column) => row[column]!)
    const after = kind === 'update' ? `,"row":${renderRow(table, row)}` : ''
    return `{${renderVersion(key, from[i]!)}${after}}`
  })
  return `{${parts.join()},"rows":[${touched.join()}]}`
}
