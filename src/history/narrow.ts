// A statement's clause narrowed so that it does not speak of some rows:
// (status = 'open') AND NOT (id = 7), or of some rows only: id IN (1, 2). What it then says it said
// before. Main functions: narrowClause, clauseOfKeys.

import { renderPredicate } from '../sql/render.ts'
import { renderSqlValue, type SqlRow, type SqlValue } from '../sql/value.ts'
import { EVERY_ROW, type SqlTable } from './sql-events.ts'

/** @param keys of the rows that are left out, at least one; the clause then takes no parameters */
export function narrowClause(
  table: SqlTable,
  text: string,
  params: readonly SqlValue[],
  keys: readonly SqlRow[],
): string {
  const others = keys.map((key) => {
    const parts = key.map((value, i) => {
      const column = table.columns[table.keyColumns[i]!]!.name
      return `${quoteColumn(column)} = ${renderSqlValue(value)}`
    })
    return `NOT (${parts.join(' AND ')})`
  })
  // Without its comments, one of which may end it.
  const whole = text === EVERY_ROW ? [] : [`(${renderPredicate(text, params)})`]
  return [...whole, ...others].join(' AND ')
}

/** The clause that exactly the rows with these keys satisfy. */
export function clauseOfKeys(table: SqlTable, keys: readonly SqlRow[]): string {
  if (keys.length === 0) return 'FALSE'
  const names = table.keyColumns.map((column) => quoteColumn(table.columns[column]!.name))
  if (names.length === 1) {
    const values = keys.map(([value]) => renderSqlValue(value!))
    return keys.length === 1
      ? `${names[0]} = ${values[0]}`
      : `${names[0]} IN (${values.join(', ')})`
  }
  const each = keys.map((key) => {
    const parts = key.map((value, i) => `${names[i]} = ${renderSqlValue(value)}`)
    return `(${parts.join(' AND ')})`
  })
  return each.join(' OR ')
}

export function quoteColumn(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`
}
