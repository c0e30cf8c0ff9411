// Evidence in words: one sentence for every edge, saying down to the operations why it holds.
// Keys, values and names come from the history and are untrusted: renderValue makes them harmless,
// and long ones are cut. Main function: because.

import { APPEND, type History, INITIAL, listOf, NONE, READ_LIST } from '../history/history.ts'
import { renderValue } from '../history/notation.ts'
import type { Value } from '../history/values.ts'
import { type Edge, INITIAL_TXN } from '../verdict/verdict.ts'

const MAX_LENGTH = 60

/** The user's own name of a transaction. */
export function nameOf(history: History, txn: number): string {
  if (txn === INITIAL_TXN || txn === NONE) return 'the initial state'
  return plain(history.txnName(txn))
}

/** A name from the history that is safe to print: quoted if it is not a plain word, cut if long. */
export function plain(name: string): string {
  const safe = /^[\w#.$@:/~+=,-]+$/.test(name) ? name : renderValue(name)
  return cut(safe)
}

export function cut(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 1)}…` : text
}

export function keyOf(history: History, key: number): string {
  return cut(wordOf(history.keyName(key)))
}

/** A key or value in words: Clojure's keywords (":x") as they are, all else as notation has it. */
function wordOf(value: Value): string {
  return typeof value === 'string' && KEYWORD.test(value) ? value : renderValue(value)
}

const KEYWORD = /^:[\w*+!?<>=.-]+$/

/** `x=1` for a read or write, `append of 1 to x` for an append, `l=[1 2]` for a read of a list. */
export function assignment(history: History, op: number): string {
  const key = keyOf(history, history.opKey[op]!)
  if (history.opKind[op] === READ_LIST) {
    return `${key}=${cut(`[${listOf(history, op).map(wordOf).join(' ')}]`)}`
  }
  const value = cut(wordOf(history.valueOf(op)))
  return history.opKind[op] === APPEND ? `append of ${value} to ${key}` : `${key}=${value}`
}

/** Why the edge holds, in one sentence without a final stop. */
export function because(history: History, edge: Edge): string {
  switch (edge.kind) {
    case 'SO':
      return becauseSession(history, edge)
    case 'WR':
      return becauseRead(history, edge)
    case 'CO':
      return becauseForced(history, edge)
    case 'WW':
      return becauseVersions(history, edge)
    case 'RW':
      return becauseOverwritten(history, edge)
    case 'RT':
      return becauseTime(history, edge)
  }
}

function becauseSession(history: History, edge: Edge): string {
  if (edge.from === INITIAL_TXN) return 'the initial state precedes every transaction'
  const session = plain(history.sessionName(history.txnSession[edge.from]!))
  return `${nameOf(history, edge.from)} comes before ${nameOf(history, edge.to)} in session ${session}`
}

function becauseRead(history: History, edge: Edge): string {
  const read = edge.ops[edge.ops.length - 1]!
  const reader = nameOf(history, edge.to)
  if (edge.from === INITIAL_TXN) {
    return `${reader} read the initial ${assignment(history, read)}`
  }
  if (history.opKind[read] === READ_LIST) {
    const append = assignment(history, edge.ops[0]!)
    return `${reader} read ${assignment(history, read)}, and so saw ${nameOf(history, edge.from)}'s ${append}`
  }
  return `${reader} read ${assignment(history, read)}, which ${nameOf(history, edge.from)} wrote`
}

function becauseForced(history: History, edge: Edge): string {
  const [write = NONE, read = NONE] = edge.ops
  const from = nameOf(history, edge.from)
  const to = nameOf(history, edge.to)
  const key = keyOf(history, edge.key)
  const visible = visibility(history, edge, read)
  const old = assignment(history, read)
  if (edge.to === INITIAL_TXN) {
    return `${visible}, which writes ${assignment(history, write)}, and yet read the initial ${old}; ${from} would have to precede the initial state`
  }
  return `${visible}, which writes ${key} too, and yet read ${old} from ${to}; so ${from} must commit before ${to}`
}

/** `T3 read y=2 from T2`, or `T3 follows T2 in session s1`, … */
function visibility(history: History, edge: Edge, read: number): string {
  const path = edge.premises.slice(1)
  const from = nameOf(history, edge.from)
  const reader = nameOf(history, history.opTxn[read]!)
  const first = path[0]
  if (path.length === 1 && first?.kind === 'WR') {
    const earlier = first.ops[first.ops.length - 1]!
    const when = earlier < read ? 'first ' : ''
    return `${reader} ${when}read ${assignment(history, earlier)} from ${from}`
  }
  if (path.length === 1 && first?.kind === 'SO') {
    const session = plain(history.sessionName(history.txnSession[edge.from]!))
    return `${reader} follows ${from} in session ${session}`
  }
  const chain = [from, ...path.map((step) => nameOf(history, step.to))].join(' → ')
  return `${reader} depends on ${from} (${chain})`
}

function becauseVersions(history: History, edge: Edge): string {
  const from = nameOf(history, edge.from)
  const to = nameOf(history, edge.to)
  const key = keyOf(history, edge.key)
  const [a = NONE, b = NONE, shown = NONE] = edge.ops
  if (edge.assumed) return `assumed in this case: ${from}'s version of ${key} is older than ${to}'s`
  if (edge.from === INITIAL_TXN) return `${to} writes ${key}, so it replaces the initial state`
  if (edge.refutes) {
    const cycle = edge.premises.map((step) => nameOf(history, step.from)).join(' → ')
    return `both write ${key}, and ${to} before ${from} would close a cycle (${cycle})`
  }
  if (edge.premises.length > 0) {
    const chain = [from, ...edge.premises.map((step) => nameOf(history, step.to))].join(' → ')
    return `both write ${key}, and ${from} precedes ${to} (${chain})`
  }
  if (shown !== NONE && history.opKind[shown] === READ_LIST) {
    const reader = nameOf(history, history.opTxn[shown]!)
    return `${reader} read ${assignment(history, shown)}, so ${from}'s ${assignment(history, a)} is older than ${to}'s ${assignment(history, b)}`
  }
  return `${to} read ${from}'s ${assignment(history, a)} and replaced it by ${assignment(history, b)}`
}

function becauseOverwritten(history: History, edge: Edge): string {
  const [read = NONE, write = NONE] = edge.ops
  const version = edge.premises[0]
  const source = version ? nameOf(history, version.from) : 'the initial state'
  const reader = nameOf(history, edge.from)
  const to = nameOf(history, edge.to)
  const what = version && version.from !== INITIAL_TXN && source !== 'the initial state'
  const seen = what
    ? `${assignment(history, read)} from ${source}`
    : `the initial ${assignment(history, read)}`
  return `${reader} read ${seen}, so it did not see ${to}'s ${assignment(history, write)}, which is newer`
}

function becauseTime(history: History, edge: Edge): string {
  const finish = history.txnFinishTime?.[edge.from]
  const start = history.txnStartTime?.[edge.to]
  return `${nameOf(history, edge.from)} finished (at ${finish}) before ${nameOf(history, edge.to)} started (at ${start})`
}

/** What an offending read did, by its anomaly's name. */
export function describeRead(history: History, name: string, ops: readonly number[]): string {
  const [read = NONE, other = NONE] = ops
  const reader = nameOf(history, history.opTxn[read]!)
  const what = assignment(history, read)
  const writer = other >= 0 ? nameOf(history, history.opTxn[other]!) : ''
  switch (name) {
    case 'ThinAirRead':
      return `${reader} read ${what}, which nobody wrote`
    case 'AbortedRead':
      return `${reader} read ${what}, which ${writer} wrote before it aborted`
    case 'FutureRead':
      return `${reader} read ${what} before it wrote that itself`
    case 'NotMyLastWrite':
      return `${reader} read ${what}, its own write, though it had replaced it since`
    case 'NotMyOwnWrite':
      return `${reader} read ${what}${writer && writer !== reader ? ` from ${writer}` : ''} though it had written ${keyOf(history, history.opKey[read]!)} itself before`
    case 'IntermediateRead':
      return `${reader} read ${what}, which ${writer || 'its writer'} replaced before committing`
    case 'NonRepeatableRead':
      return `${reader} read ${what} from ${sourceName(history, read)}, and ${assignment(history, other)} from ${sourceName(history, other)}`
    case 'IncompatibleOrder':
      return `${reader} read ${what}, but ${writer} read ${assignment(history, other)}: neither is a prefix of the other`
    case 'DuplicateElements':
      return `${reader} read ${what}, in which an element stands twice`
    default:
      return `${reader} read ${what}`
  }
}

function sourceName(history: History, read: number): string {
  let write = history.readFrom[read]!
  if (history.opKind[read] === READ_LIST) {
    const list = history.opValue[read]!
    const end = history.listStart[list + 1]!
    write = end > history.listStart[list]! ? history.listFrom[end - 1]! : INITIAL
  }
  return write >= 0 ? nameOf(history, history.opTxn[write]!) : 'the initial state'
}
