// An INSERT that failed because a row was there (SQLSTATE 23505): which row that was, and in which
// version. The server names the key in the detail of its error. It is told only where it is
// certain: the version was known before the INSERT was sent, is the only one that the row has had
// since, and nobody may have replaced it meanwhile: the server waits for whoever is about to.
// Main function: findMet.

import { rowName } from '../../history/sql-statements.ts'
import type { SqlRow } from '../../sql/value.ts'
import type { Recorder } from './recorder.ts'
import { readCell, type Table } from './table.ts'
import type { StatementEvent, Transaction } from './transaction.ts'

interface UniqueViolation {
  readonly code?: unknown
  readonly schema?: unknown
  readonly table?: unknown
  readonly constraint?: unknown
  readonly detail?: unknown
}

/** @param sent when the statement was; null is returned if it is not certain what it met */
export function findMet(
  recorder: Recorder,
  txn: Transaction,
  table: Table,
  error: unknown,
  sent: number,
): StatementEvent | null {
  const { code, schema, table: relation, constraint, detail } = (error ?? {}) as UniqueViolation
  if (code !== '23505' || `${schema}.${relation}` !== table.qualifiedName) return null
  if (typeof constraint !== 'string' || typeof detail !== 'string') return null
  const unique = table.uniques.find((each) => each.constraint === constraint)
  const columns = constraint === table.keyConstraint ? table.declared.keyColumns : unique?.columns
  const values = columns === undefined ? null : valuesIn(detail, table, columns)
  if (values === null) return null
  const holder = unique && recorder.uniqueRows.find(table, constraint, values)
  if (unique && holder === undefined) return null
  const key = holder?.key ?? values
  const name = holder?.name ?? rowName(table.declared, key)
  const version = recorder.versionSince(txn, name, sent)
  if (version === null || (holder && version.write !== holder.write)) return null
  const row = { key, name, xmin: version.xmin, from: version.write, seen: null, row: null }
  return { kind: 'refused', table, clause: null, rows: [row], write: null }
}

/** `Key (shop, item)=(1, tea) already exists.`; null if it can be read in more than one way. */
function valuesIn(detail: string, table: Table, columns: readonly number[]): SqlRow | null {
  const names = columns.map((column) => `"?${literally(table.columns[column]!.name)}"?`)
  const list = new RegExp(`\\(${names.join(', ')}\\)=\\((.*)\\)`, 's').exec(detail)?.[1]
  if (list === undefined) return null
  const cells = columns.length === 1 ? [list] : list.split(', ')
  if (cells.length !== columns.length) return null
  const values: SqlRow[number][] = []
  for (const [i, cell] of cells.entries()) {
    const column = table.columns[columns[i]!]!
    if (column.spelling?.test(cell) === false || (cell === 'null' && !column.notNull)) return null
    if (column.type === 'integer' && !/^-?\d+$/.test(cell)) return null
    values.push(readCell(column, cell))
  }
  return values
}

function literally(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
