// A statement's clause narrowed so that it does not speak of some rows:
// (status = 'open') AND NOT (id IN (7, 8)). What it then says it said before. Main function:
// narrowClause.

import { renderPredicate } from '../sql/render.ts'
import { renderSqlValue, type SqlRow, type SqlValue } from '../sql/value.ts'
import { quoteColumn } from './clause-of-keys.ts'
import { EVERY_ROW, type SqlTable } from './sql-events.ts'

/** @param keys of the rows that are left out, at least one; the clause then takes no parameters */
export function narrowClause(
  table: SqlTable,
  text: string,
  params: readonly SqlValue[],
  keys: readonly SqlRow[],
): string {
  const names = table.keyColumns.map((column) => quoteColumn(table.columns[column]!.name))
  const last = names.length - 1
  // Rows whose keys differ in the last column alone are named together: clauses are not endless.
  const groups = new Map<string, string[]>() // columns before the last -> values of the last
  for (const key of keys) {
    const before = key.slice(0, last).map((value, i) => `${names[i]} = ${renderSqlValue(value)}`)
    const values = groups.get(before.join(' AND ')) ?? []
    if (values.length === 0) groups.set(before.join(' AND '), values)
    values.push(renderSqlValue(key[last]!))
  }
  const others = [...groups].map(([before, values]) => {
    const own = values.length === 1 ? `= ${values[0]}` : `IN (${values.join(', ')})`
    return `NOT (${before === '' ? '' : `${before} AND `}${names[last]} ${own})`
  })
  // Without its comments, one of which may end it.
  const whole = text === EVERY_ROW ? [] : [`(${renderPredicate(text, params)})`]
  return [...whole, ...others].join(' AND ')
}
