// A clause that some rows satisfy and no others, by their keys: id IN (1, 2). Main function:
// clauseOfKeys.

import { RESERVED_WORDS } from '../sql/reserved-words.ts'
import { renderSqlValue, type SqlRow } from '../sql/value.ts'
import type { SqlTable } from './sql-events.ts'

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
  const isPlain = /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED_WORDS.has(name)
  return isPlain ? name : `"${name.replaceAll('"', '""')}"`
}
