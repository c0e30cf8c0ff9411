// SQL statements in words: what a statement asked for, how a row looked in a version, and what it
// means that a statement passed a row over.

import { cut as cutTo, inert } from '../base/inert.ts'
import { type History, INITIAL, WRITE } from '../history/history.ts'
import { REFUSED, STATEMENT_NAMES } from '../history/sql-events.ts'
import { mentions, renderPredicate } from '../sql/render.ts'
import { renderSqlValue, type SqlRow } from '../sql/value.ts'
import { type Anomaly, type Choice, type Edge, INITIAL_TXN } from '../verdict/verdict.ts'
import { cut, keyOf, nameOf } from './names.ts'

const MAX_CLAUSE = 240

/** `SELECT orders WHERE status = 'open'`, `INSERT orders refused because of id = 1`. */
export function statementText(history: History, event: number): string {
  const { eventKind, eventTable, tables } = history.sql!
  const isRefused = eventKind[event] === REFUSED
  const verb = isRefused ? 'INSERT' : STATEMENT_NAMES[eventKind[event]!]!.toUpperCase()
  const table = inert(tables[eventTable[event]!]!.name)
  const where = clauseText(history, event)
  if (isRefused) return `${verb} ${table} refused because of ${where}`
  return `${verb} ${table}${where === null ? '' : ` WHERE ${where}`}`
}

/** The WHERE clause of a statement, null if it takes every row. */
function clauseText(history: History, event: number): string | null {
  const { eventPredicate, predicates } = history.sql!
  const predicate = predicates[eventPredicate[event]!]
  const text = predicate ? renderPredicate(predicate.text, predicate.params) : 'TRUE'
  if (/^true$/i.test(text)) return null
  return cutTo(inert(text.replace(/[\t\r\n]/g, ' ')), MAX_CLAUSE)
}

/** Why a version was not returned: it fails the clause, or, if there is none, is no row. */
function whyPassed(history: History, event: number): string {
  const text = clauseText(history, event)
  return text === null ? 'which is no row' : `which fails \`${text}\``
}

/**
 * What a row holds in a version: its columns but for the key, `deleted`, or `no such row`. Those
 * that the statement asks for come first: what is long is cut.
 */
export function rowText(history: History, key: number, write: number, event: number): string {
  const { initialRow, opRow, tables, keyTable, predicates, eventPredicate } = history.sql!
  const row: SqlRow | null = (write === INITIAL ? initialRow[key] : opRow[write]) ?? null
  if (row === null) return write === INITIAL ? 'no such row' : 'deleted'
  const { columns, keyColumns } = tables[keyTable[key]!]!
  const clause = predicates[eventPredicate[event]!]?.text ?? ''
  const [asked, others]: [string[], string[]] = [[], []]
  columns.forEach(({ name }, i) => {
    if (keyColumns.includes(i)) return
    const list = mentions(clause, name) ? asked : others
    list.push(`${name} = ${renderSqlValue(row[i]!)}`)
  })
  const told = [...asked, ...others].join(', ')
  return told === '' ? 'nothing but its key' : cut(inert(told))
}

/** Whose version of a row: `as T3 left it (status = 'done')`. */
export function versionText(history: History, edge: Edge): string {
  const write = edge.ops[0] ?? INITIAL
  const row = rowText(history, edge.key, write, edge.event!)
  return write === INITIAL
    ? `as it was at first (${row})`
    : `as ${nameOf(history, edge.from)} left it (${row})`
}

/** Why a row that was not returned tells whose version was seen. */
export function becausePassedOver(history: History, edge: Edge): string {
  const event = edge.event!
  const reader = nameOf(history, edge.to)
  const row = keyOf(history, edge.key)
  if (edge.assumed) {
    return `assumed in this case: ${reader} saw ${row} ${versionText(history, edge)}, ${whyPassed(history, event)}`
  }
  const text = clauseText(history, event)
  const what = text === null ? 'it when it was not there' : `a version that fails \`${text}\``
  return `${reader} did not return ${row}, so it saw ${what}; the only one is ${row} ${versionText(history, edge)}`
}

/** `T5 passed over orders(17) as T3 left it (deleted)`. */
export function passedText(history: History, edge: Edge): string {
  const row = keyOf(history, edge.key)
  return `${nameOf(history, edge.to)} passed over ${row} ${versionText(history, edge)}`
}

/** What is assumed about whose version of a row was passed over, as the certificate has it. */
export function choiceText(history: History, { event, key, txn }: Choice): string {
  const write = lastWrite(history, txn, key)
  const ops = write === INITIAL ? [] : [write]
  const to = history.sql!.eventTxn[event]!
  const edge: Edge = { from: txn, to, kind: 'WR', key, ops, premises: [], event }
  return `${passedText(history, edge)}, ${whyPassed(history, event)}`
}

/** What a transaction leaves of a row: its last write. */
export function lastWrite(history: History, txn: number, key: number): number {
  if (txn === INITIAL_TXN) return INITIAL
  let op = history.txnOpStart[txn + 1]! - 1
  while (history.opKey[op] !== key || history.opKind[op] !== WRITE) op--
  return op
}

/** What is wrong with a row that a statement passed over. */
export function describeAbsence(history: History, { name, absence, ops }: Anomaly): string {
  const { event, key } = absence!
  const reader = nameOf(history, history.sql!.eventTxn[event]!)
  const what = `${reader} did not return ${keyOf(history, key)} for ${statementText(history, event)}`
  if (name === 'LostCommit') {
    const victim = nameOf(history, history.opTxn[ops[0]!]!)
    return `${what}, when all was at rest, though ${victim} had committed it and nobody deleted it since: the commit of ${victim} is gone`
  }
  return name === 'NotMyOwnWrite'
    ? `${what}, though it had written a version itself that satisfies it`
    : `${what}, though every version of it satisfies that`
}
