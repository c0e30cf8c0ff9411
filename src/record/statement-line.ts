// A statement that ran, as the history tells it: what was asked, under which number rows were
// written, and whose versions it saw. Main function: renderRun.
//
// A history knows one version of a row for each statement. A database that returns two, such as
// PostgreSQL at REPEATABLE READ after a row of the same key was deleted and then inserted, must not
// get away with it: the statement is told with the later version, and each other one as a SELECT of
// that row right behind it.

import { renderClause, renderRow, renderVersion } from '../formats/native-sql-write.ts'
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
  const parts = [`"${kind}":${JSON.stringify(table.name)}`]
  if (kind === 'insert') {
    const written = statement.rows.map((row) => renderRow(table, row))
    return `{${parts.join()},"write":${write},"rows":[${written.join()}]}`
  }
  const { kept, others } = splitTwice(table, answer)
  parts.push(...renderClause({ text: statement.where, params: statement.params }))
  if (kind !== 'select' && kept.length > 0) parts.push(`"write":${write}`)
  const touched = kept.map(({ row, key, from }) => {
    const after = kind === 'update' ? `,"row":${renderRow(table, row)}` : ''
    return `{${renderVersion(key, from)}${after}}`
  })
  const told = [`{${parts.join()},"rows":[${touched.join()}]}`]
  for (const { key, from } of others) {
    const clause = renderClause({ text: keyClause(table), params: key })
    const select = `"select":${JSON.stringify(table.name)},${clause.join()}`
    told.push(`{${select},"rows":[{${renderVersion(key, from)}}]}`)
  }
  return told.join()
}

interface Seen {
  readonly row: SqlRow
  readonly key: SqlRow
  readonly from: number | null
}

/** The rows of an answer, and apart from them older versions of rows that it holds twice. */
function splitTwice(table: SqlTable, { rows, from }: StatementAnswer) {
  const newest = new Map<string, Seen>() // key -> what was seen of the row
  const others: Seen[] = []
  rows.forEach((row, i) => {
    const key = table.keyColumns.map((column) => row[column]!)
    const name = key.map(renderSqlValue).join()
    const seen = { row, key, from: from[i]! }
    const known = newest.get(name)
    const isNewer = !known || (seen.from ?? 0) > (known.from ?? 0)
    if (known) others.push(isNewer ? known : seen)
    if (isNewer) newest.set(name, seen)
  })
  return { kept: [...newest.values()], others }
}

function keyClause(table: SqlTable): string {
  const names = table.keyColumns.map((column) => table.columns[column]!.name)
  return names.map((name, i) => `"${name.replaceAll('"', '""')}" = $${i + 1}`).join(' AND ')
}
