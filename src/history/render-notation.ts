// Renders histories in the notation that notation.ts parses; SQL statements too (sql-notation.ts),
// which it does not parse. Main function: renderNotation.

import { addAll } from '../base/grow.ts'
import { LEVELS } from '../levels/levels.ts'
import { afterAmong } from './after-as-reads.ts'
import {
  APPEND,
  COMMITTED,
  type History,
  listOf,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  rowsOf,
  STATUS_NAMES,
  WRITE,
} from './history.ts'
import { findStray } from './initial.ts'
import { CAS, FOUND, type LightOps, UNTOLD } from './light.ts'
import { renderValue } from './render-value.ts'
import { ADD, elementsOf, INCREMENT, RANGE, SET, type SpanOps } from './spans.ts'
import type { SqlEvents } from './sql-events.ts'
import { renderPreamble, renderStatement } from './sql-notation.ts'
import { forEachStep } from './sql-steps.ts'
import type { Value } from './values.ts'

/**
 * How the notation shows transactions.
 *
 * @example
 * renderNotation(history, null, { ids: true }) // 's1: T1: w(x,1)'
 */
export interface TxnOptions {
  /** Show names, which are also shown where transactions come after others. */
  readonly ids?: boolean
  /** Of a transaction without statements nothing is needed beyond so many characters. */
  readonly maxLength?: number
  /** txn -> whom it comes after beyond its session */
  readonly after?: ReadonlyMap<number, readonly number[]>
}

/** The notation of the given transactions (all by default), session by session. */
export function renderNotation(
  history: History,
  txns: Iterable<number> | null = null,
  options: TxnOptions = {},
): string {
  const bySession = txns === null ? history.sessionTxns : inSessionOrder(history, txns)
  const chosen = initialFirst(history, bySession)
  const after = afterAmong(history, txns === null ? null : chosen)
  const { sql } = history
  const lines: string[] = []
  if (sql) {
    addAll(lines, renderPreamble(history, sql, chosen))
  } else if (history.initial !== 0) {
    lines.push(`initial ${history.initial === undefined ? 'none' : renderValue(history.initial)}`)
  }
  for (let from = 0; from < chosen.length; ) {
    const session = history.txnSession[chosen[from]!]!
    const parts: string[] = []
    for (; from < chosen.length && history.txnSession[chosen[from]!] === session; from++) {
      parts.push(renderTxn(history, chosen[from]!, { ...options, after }))
    }
    // Statements are long: they get a line for each transaction.
    for (const text of sql ? parts : [parts.join(' | ')]) {
      lines.push(`${renderSession(history, session)}: ${text}`)
    }
  }
  return lines.join('\n') + (lines.length > 0 ? '\n' : '')
}

/** The transactions, each once, session by session. */
function inSessionOrder({ txnSession, txnIndex }: History, txns: Iterable<number>): number[] {
  return [...new Set(txns)].sort(
    (a, b) => txnSession[a]! - txnSession[b]! || txnIndex[a]! - txnIndex[b]!,
  )
}

/** What spells out the initial state comes before all else. */
function initialFirst(history: History, txns: number[] | Int32Array): number[] | Int32Array {
  if (!history.txnIsInitial.includes(1)) return txns
  const all = Array.from(txns)
  if (findStray(history, all) === NONE) return txns
  const isInitial = (txn: number) => history.txnIsInitial[txn] === 1
  return [...all.filter(isInitial), ...all.filter((txn) => !isInitial(txn))]
}

function renderSession(history: History, session: number): string {
  const label = history.sessionLabel(session)
  if (typeof label !== 'string') return `s${label}`
  return /^(s-?\d+|initial)$/.test(label) ? JSON.stringify(label) : renderValue(label)
}

/** One transaction: its operations, then what else is known of it in brackets. */
function renderTxn(history: History, txn: number, options: TxnOptions = {}): string {
  const words = history.sql
    ? [renderSteps(history, history.sql, txn)]
    : renderOps(history, txn, options.maxLength)
  const attributes: string[] = []
  const status = history.txnStatus[txn]!
  const name = (each: number) => renderValue(history.txnName(each))
  if (options.ids || history.after) attributes.push(`id=${name(txn)}`)
  const isEmpty = words.length === 0 || words[0] === ''
  if (status !== COMMITTED || isEmpty) attributes.push(STATUS_NAMES[status]!)
  const [start, finish] = [history.startText(txn), history.finishText(txn)]
  if (start !== null) attributes.push(`start=${start}`)
  if (finish !== null) attributes.push(`finish=${finish}`)
  const level = history.txnLevel?.[txn] ?? NONE
  if (level !== NONE) attributes.push(`level=${LEVELS[level]!.id}`)
  if (history.txnAudit?.[txn]) attributes.push('audit')
  const named = options.after?.get(txn) ?? []
  if (named.length > 0) attributes.push(`after=${named.map(name).join(',')}`)
  if (attributes.length > 0) words.push(`[${attributes.join(' ')}]`)
  return words.join(' ').trimStart()
}

function renderOps(history: History, txn: number, max = Number.POSITIVE_INFINITY): string[] {
  const words: string[] = []
  let length = 0
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    const word = renderStep(history, op)
    words.push(word)
    length += word.length
    if (length > max) break
    const light = history.light?.opLight[op] ?? NONE
    if (light !== NONE && !history.light!.failed[light]) op++ // its write is part of it
    const span = history.spans?.opSpan[op] ?? NONE
    if (span !== NONE) op += history.spans!.size[span]! - 1
  }
  return words
}

/** A lightweight operation, a range read, one of a counter as a whole, any other as it is. */
function renderStep(history: History, op: number): string {
  const span = history.spans?.opSpan[op] ?? NONE
  if (span !== NONE) return renderSpan(history, history.spans!, span, op)
  const light = history.light?.opLight[op] ?? NONE
  return light === NONE ? renderOp(history, op) : renderLight(history, history.light!, light, op)
}

/** Statements and operations on registers, in program order. */
function renderSteps(history: History, sql: SqlEvents, txn: number): string {
  const steps: string[] = []
  forEachStep(history, sql, txn, (op, event) => {
    if (event === NONE) steps.push(renderStep(history, op))
    else steps.push(renderStatement(history, event, renderValue))
  })
  return steps.join('; ')
}

function renderLight(history: History, lights: LightOps, light: number, read: number): string {
  const show = (value: number) => renderValue(history.values.get(value))
  const parts = [renderValue(history.keyName(history.opKey[read]!))]
  const isCas = lights.kind[light] === CAS
  if (isCas) parts.push(show(lights.expected[light]!))
  parts.push(show(lights.value[light]!))
  if (lights.failed[light] === FOUND) parts.push(show(history.opValue[read]!))
  if (lights.failed[light] === UNTOLD) parts.push('?')
  return `${isCas ? 'cas' : 'insert'}(${parts.join(',')})`
}

function renderSpan(
  history: History,
  { kind, key, first, last, returned }: SpanOps,
  span: number,
  op: number,
): string {
  const show = (value: number) => renderValue(history.values.get(value))
  if (kind[span] !== RANGE) {
    const name = renderValue(history.keyName(key[span]!))
    if (kind[span] === ADD) return `add(${name},${show(first[span]!)})`
    if (kind[span] === SET) {
      return `r(${name},{${Array.from(elementsOf(history.spans!, span), show).join(',')}})`
    }
    return `${kind[span] === INCREMENT ? 'inc' : 'r'}(${name},${show(first[span]!)})`
  }
  const pairs: string[] = []
  for (let each = op; each < op + returned[span]!; each++) {
    pairs.push(
      `${renderValue(history.keyName(history.opKey[each]!))}:${show(history.opValue[each]!)}`,
    )
  }
  return `range(${show(first[span]!)},${show(last[span]!)},[${pairs.join(',')}])`
}

/** With its version, if it has one. */
export function renderOp(history: History, op: number): string {
  const version = history.versions?.text(op) ?? null
  return version === null ? renderBare(history, op) : `${renderBare(history, op)}@${version}`
}

function renderBare(history: History, op: number): string {
  const key = renderValue(history.keyName(history.opKey[op]!))
  switch (history.opKind[op]) {
    case READ:
      return `r(${key},${renderValue(history.valueOf(op))})`
    case WRITE:
      return `w(${key},${renderValue(history.valueOf(op))})`
    case APPEND:
      return `append(${key},${renderValue(history.valueOf(op))})`
    case READ_LIST:
      return `r(${key},${renderValues(listOf(history, op))})`
    case READ_ROWS: {
      const rows = rowsOf(history, op)
      const each = rows.map((row) => (Array.isArray(row) ? renderValues(row) : renderValue(row)))
      return `rows(${key},[${each.join(',')}])`
    }
    default:
      return '?'
  }
}

function renderValues(values: readonly Value[]): string {
  return `[${values.map(renderValue).join(',')}]`
}
