// Verdicts as a table for spreadsheets: a row for each level of each history (RFC 4180). Texts come
// from strangers, so none may begin like a formula. Main functions: renderCsv,
// renderRows.

import { inert } from '../base/inert.ts'
import { WITHOUT_TIMES } from '../levels/levels.ts'
import type { ResultJson, VerdictJson } from '../verdict/verdict-file.ts'

const COLUMNS = [
  ...['history', 'format', 'sessions', 'transactions', 'operations', 'keys'],
  ...['level', 'session_order', 'verdict', 'anomalies', 'occurrences', 'reason', 'elapsed_ms'],
  ...['real_time', 'bound'],
]

/** @param unread what is wrong with inputs that could not be read, each with its path. */
export function renderCsv(
  verdicts: readonly VerdictJson[],
  unread: readonly string[] = [],
): string {
  const rows: (string | number)[][] = [COLUMNS]
  for (const verdict of verdicts) {
    for (const result of verdict.results) rows.push(rowOf(verdict, result))
  }
  for (const message of unread) {
    rows.push(COLUMNS.map((name) => ({ verdict: 'unread', reason: message })[name] ?? ''))
  }
  return renderRows(rows)
}

export function renderRows(rows: readonly (readonly (string | number)[])[]): string {
  return rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('')
}

function rowOf({ path, format, history }: VerdictJson, result: ResultJson): (string | number)[] {
  const { anomalies, impliedBy, reason } = result
  return [
    ...[inert(path), format],
    ...[history.sessions, history.transactions, history.operations, history.keys],
    ...[result.level, result.sessionOrder === false ? 'no' : 'yes', result.verdict],
    [...new Set(anomalies.map(({ name }) => name))].join(' '),
    anomalies.reduce((sum, { count }) => sum + count, 0),
    reason ?? (impliedBy === null ? '' : `implied by ${impliedBy}`),
    result.elapsedMs.toFixed(1),
    ...[hasRealTime(result) ? 'yes' : 'no', result.bound ?? ''],
  ]
}

/** Whether real time counted, as part of the level or because it was asked for. */
function hasRealTime({ level, realTime }: ResultJson): boolean {
  return realTime === true || WITHOUT_TIMES[level] !== undefined || level === 'lin'
}

function cellOf(cell: string | number): string {
  const text = typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
