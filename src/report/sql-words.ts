// SQL statements in words: what a statement asked for, how a row looked in a version, and what it
// means that a statement passed a row over.

import { type History, INITIAL, NONE } from '../history/history.ts'
import { STATEMENT_NAMES } from '../history/sql-events.ts'
import { LEVELS } from '../levels/levels.ts'
import { renderPredicate } from '../sql/render.ts'
import { renderSqlValue, type SqlRow } from '../sql/value.ts'
import type { Edge } from '../verdict/verdict.ts'
import { visible } from './escape.ts'
import { cut, keyOf, nameOf } from './names.ts'

/** `SELECT orders WHERE status = 'open'`. */
export function statementText(history: History, event: number): string {
  const { eventKind, eventTable, tables } = history.sql!
  const verb = STATEMENT_NAMES[eventKind[event]!]!.toUpperCase()
  const table = tables[eventTable[event]!]!.name
  const where = clauseText(history, event)
  return `${verb} ${table}${where === null ? '' : ` WHERE ${where}`}`
}

/** The WHERE clause of a statement, null if it takes every row. */
function clauseText(history: History, event: number): string | null {
  const { eventPredicate, predicates } = history.sql!
  const predicate = predicates[eventPredicate[event]!]
  const text = predicate ? renderPredicate(predicate.text, predicate.params) : 'TRUE'
  return /^true$/i.test(text) ? null : visible(text)
}

/** The clause of a statement, in backticks. */
function clause(history: History, event: number): string {
  const text = clauseText(history, event)
  return text === null ? 'no condition at all' : `\`${text}\``
}

/** What a row holds in a version: its columns but for the key, `deleted`, or `no such row`. */
export function rowText(history: History, key: number, write: number): string {
  const { initialRow, opRow, tables, keyTable } = history.sql!
  const row: SqlRow | null = (write === INITIAL ? initialRow[key] : opRow[write]) ?? null
  if (row === null) return write === INITIAL ? 'no such row' : 'deleted'
  const { columns, keyColumns } = tables[keyTable[key]!]!
  const parts = columns.flatMap(({ name }, i) =>
    keyColumns.includes(i) ? [] : [`${name} = ${renderSqlValue(row[i]!)}`],
  )
  return cut(parts.join(', '))
}

/** `T5 (ser)`: a transaction and the level it ran at, where it has one. */
function withLevel(history: History, txn: number): string {
  const level = LEVELS[history.txnLevel?.[txn] ?? NONE]
  return `${nameOf(history, txn)}${level ? ` (${level.id})` : ''}`
}

/** Whose version of a row: `as T3 left it (status = 'done')`. */
export function versionText(history: History, edge: Edge): string {
  const write = edge.ops[0] ?? INITIAL
  const row = rowText(history, edge.key, write)
  return write === INITIAL
    ? `as it was at first (${row})`
    : `as ${nameOf(history, edge.from)} left it (${row})`
}

/** Why a row that was not returned tells whose version was seen. */
export function becausePassedOver(history: History, edge: Edge): string {
  const event = edge.event!
  const reader = withLevel(history, edge.to)
  const row = keyOf(history, edge.key)
  if (edge.assumed) {
    return `assumed in this case: ${reader} saw ${row} ${versionText(history, edge)}, which fails ${clause(history, event)}`
  }
  return `${reader} did not return ${row}, so it saw a version that fails ${clause(history, event)}; the only one is ${row} ${versionText(history, edge)}`
}

/** `If T5 passed over orders(17) as T3 left it (deleted):`, for the heading of a case. */
export function caseText(history: History, assumption: Edge): string {
  const reader = nameOf(history, assumption.to)
  return `If ${reader} passed over ${keyOf(history, assumption.key)} ${versionText(history, assumption)}`
}

/** What is wrong with a row that a statement passed over. */
export function describeAbsence(
  history: History,
  name: string,
  { event, key }: { event: number; key: number },
): string {
  const reader = withLevel(history, history.sql!.eventTxn[event]!)
  const what = `${reader} did not return ${keyOf(history, key)} for ${statementText(history, event)}`
  return name === 'NotMyOwnWrite'
    ? `${what}, though it had written a version itself that satisfies it`
    : `${what}, though every version of it satisfies that`
}
