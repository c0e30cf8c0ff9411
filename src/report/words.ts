// Evidence in words: one sentence for every edge, saying down to the operations why it holds.
// Main function: because.

import { namedBy } from '../history/after.ts'
import { Elapsed } from '../history/elapsed.ts'
import { type History, INITIAL, NONE, READ_LIST } from '../history/history.ts'
import type { Source } from '../history/writers.ts'
import { type Anomaly, type Case, type Edge, INITIAL_TXN } from '../verdict/verdict.ts'
import { culpritOf, offendingPositions, positionsOf } from './list-words.ts'
import { assignment, keyOf, nameOf, plain } from './names.ts'
import {
  becausePassedOver,
  describeAbsence,
  passedText,
  rowText,
  statementText,
  versionText,
} from './sql-words.ts'

const REASONS: Record<Edge['kind'], (history: History, edge: Edge) => string> = {
  SO: becauseSession,
  WR: becauseRead,
  CO: becauseForced,
  WW: becauseVersions,
  RW: becauseOverwritten,
  RT: becauseTime,
}

/** Why the edge holds, in one sentence without a final stop. */
export function because(history: History, edge: Edge): string {
  return REASONS[edge.kind](history, edge)
}

function becauseSession(history: History, edge: Edge): string {
  if (edge.from === INITIAL_TXN) return 'the initial state precedes every transaction'
  return tellSessionOrder(history, edge.from, edge.to)
}

/** Why one transaction precedes another in session order. */
function tellSessionOrder(history: History, earlier: number, later: number): string {
  const [from, to] = [nameOf(history, earlier), nameOf(history, later)]
  const session = history.txnSession[earlier]!
  if (session === history.txnSession[later]) {
    return `${from} comes before ${to} in session ${plain(history.sessionName(session))}`
  }
  if (namedBy(history, later).includes(earlier)) return `${to} names ${from} in after`
  return `${to} comes after ${from}, by sessions and what transactions name in after`
}

function becauseRead(history: History, edge: Edge): string {
  if (edge.event !== undefined) return becausePassedOver(history, edge)
  const read = edge.ops[edge.ops.length - 1]!
  const reader = nameOf(history, edge.to)
  if (edge.from === INITIAL_TXN) {
    return `${reader} ${sawWord(history, read)} the initial ${assignment(history, read)}`
  }
  if (history.opKind[read] === READ_LIST) {
    const append = assignment(history, edge.ops[0]!)
    return `${reader} read ${assignment(history, read, positionsOf(history, read, edge.ops))}, and so saw ${nameOf(history, edge.from)}'s ${append}`
  }
  return `${reader} ${sawWord(history, read)} ${assignment(history, read)}, which ${nameOf(history, edge.from)} wrote`
}

/** SQL statements may name versions of rows that they passed over. */
function sawWord(history: History, read: number): string {
  return history.sql?.opReturned[read] === 0 ? 'passed over' : 'read'
}

function becauseForced(history: History, edge: Edge): string {
  const [write = NONE, read = NONE] = edge.ops
  const from = nameOf(history, edge.from)
  const to = nameOf(history, edge.to)
  const key = keyOf(history, edge.key)
  const seen = edge.premises[0]!
  // Of a row passed over its version is told last, and `which` would speak of that.
  const isPassed = edge.premises.length === 2 && edge.premises[1]!.event !== undefined
  const visible = `${visibility(history, edge)}${isPassed ? `; ${from}` : ', which'}`
  const yet = isPassed ? `and yet ${nameOf(history, seen.to)}` : 'and yet'
  const isFirst = edge.to === INITIAL_TXN
  const so = isFirst
    ? `${from} would have to precede the initial state`
    : `so ${from} must commit before ${to}`
  if (seen.event !== undefined) {
    return `${visible} writes ${key} too, ${yet} saw it ${versionText(history, seen)}; ${so}`
  }
  const old = assignment(history, read)
  return isFirst
    ? `${visible} writes ${assignment(history, write)}, ${yet} read the initial ${old}; ${so}`
    : `${visible} writes ${key} too, ${yet} read ${old} from ${to}; ${so}`
}

/** `T3 read y=2 from T2`, or `T3 follows T2 in session s1`, … */
function visibility(history: History, edge: Edge): string {
  const [seen, ...path] = edge.premises
  const from = nameOf(history, edge.from)
  const reader = nameOf(history, seen!.to)
  const first = path[0]
  if (path.length === 1 && first?.kind === 'WR') {
    if (first.event !== undefined) {
      return `${reader} saw ${keyOf(history, first.key)} ${versionText(history, first)}`
    }
    const earlier = first.ops[first.ops.length - 1]!
    const read = seen!.ops[seen!.ops.length - 1] ?? NONE
    const when = earlier < read ? 'first ' : ''
    return `${reader} ${when}${sawWord(history, earlier)} ${assignment(history, earlier)} from ${from}`
  }
  if (path.length === 1 && first?.kind === 'SO') {
    const session = history.txnSession[edge.from]!
    const isSame = session === history.txnSession[first.to]
    if (!isSame) return tellSessionOrder(history, edge.from, first.to)
    return `${reader} follows ${from} in session ${plain(history.sessionName(session))}`
  }
  if (first?.kind === 'RT' && path.every(({ to }) => to === seen!.to)) {
    const elapsed = new Elapsed(history).told(edge.from, seen!.to)
    return `${reader} started ${elapsed} after the end of ${from}`
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
    return `${reader} read ${assignment(history, shown, positionsOf(history, shown, [a, b]))}, so ${from}'s ${assignment(history, a)} is older than ${to}'s ${assignment(history, b)}`
  }
  if (shown === NONE && history.versions !== null) {
    return `${from}'s ${assignment(history, a)} is version ${versionOf(history, a)}, and ${to}'s ${assignment(history, b)} is version ${versionOf(history, b)}`
  }
  return `${to} read ${from}'s ${assignment(history, a)} and replaced it by ${assignment(history, b)}`
}

/** The version that the store gave, as it was written. */
const versionOf = ({ versions }: History, op: number) => versions?.text(op) ?? '?'

function becauseOverwritten(history: History, edge: Edge): string {
  const [read = NONE, write = NONE] = edge.ops
  const version = edge.premises[0]
  if (version?.event !== undefined) return becauseMissed(history, edge, version)
  const source = version ? nameOf(history, version.from) : 'the initial state'
  const reader = nameOf(history, edge.from)
  const to = nameOf(history, edge.to)
  const what = assignment(history, read)
  const seen = source === 'the initial state' ? `the initial ${what}` : `${what} from ${source}`
  return `${reader} ${sawWord(history, read)} ${seen}, so it did not see ${to}'s ${assignment(history, write)}, which is newer`
}

function becauseMissed(history: History, edge: Edge, version: Edge): string {
  const row = keyOf(history, edge.key)
  const write = edge.ops[edge.ops.length - 1]!
  const to = nameOf(history, edge.to)
  return `${nameOf(history, edge.from)} passed over ${row} ${versionText(history, version)}, so it did not see ${to}'s version (${rowText(history, edge.key, write, version.event!)}), which is newer`
}

function becauseTime(history: History, edge: Edge): string {
  const finish = history.finishText(edge.from)
  const start = history.startText(edge.to)
  return `${nameOf(history, edge.from)} finished (at ${finish}) before ${nameOf(history, edge.to)} started (at ${start})`
}

/** What a case assumes: `If T1 commits before T2 and T3 before T4`. */
export function headCase(history: History, { assumptions, cycle }: Case): string {
  const words = assumptions.map((assumption) => assumedText(history, assumption)).join(' and ')
  if (cycle.length > 0) return words === '' ? 'Whatever the order' : `If ${words}`
  return words === '' ? 'So nothing is possible' : `So it cannot be that ${words}`
}

function assumedText(history: History, assumption: Edge): string {
  if (assumption.event !== undefined) return passedText(history, assumption)
  const to = nameOf(history, assumption.to)
  return `${nameOf(history, assumption.from)} commits before ${to}`
}

/** Whom a read is taken to have seen. */
export function sourceWords(history: History, { read, write }: Source): string {
  const reader = nameOf(history, history.opTxn[read]!)
  const what = assignment(history, read)
  if (write < 0) return `${reader} read the initial ${what}`
  return `${reader} read ${what} from ${nameOf(history, history.opTxn[write]!)}`
}

/** What happened, where single operations prove the point; null if it takes an argument. */
export function tellOffence(history: History, anomaly: Anomaly): string | null {
  if (anomaly.absence) return describeAbsence(history, anomaly)
  return anomaly.ops.length > 0 ? describeRead(history, anomaly.name, anomaly.ops) : null
}

/** What an offending read did, by its anomaly's name. */
export function describeRead(history: History, name: string, ops: readonly number[]): string {
  const [read = NONE] = ops
  const other = culpritOf(history, name, ops)
  const reader = nameOf(history, history.opTxn[read]!)
  const what = assignment(history, read, offendingPositions(history, name, read, other))
  const writer = other >= 0 ? nameOf(history, history.opTxn[other]!) : ''
  const words: Record<string, () => string> = {
    ThinAirRead: () => `${reader} read ${what}, which nobody wrote`,
    AbortedRead: () => `${reader} read ${what}, which ${writer} wrote before it aborted`,
    FutureRead: () => `${reader} read ${what} before it wrote that itself`,
    NotMyLastWrite: () => `${reader} read ${what}, its own write, though it had replaced it since`,
    NotMyOwnWrite: () =>
      `${reader} read ${what}${writer && writer !== reader ? ` from ${writer}` : ''} though it had written ${keyOf(history, history.opKey[read]!)} itself before`,
    IntermediateRead: () =>
      `${reader} read ${what}, which ${writer || 'its writer'} replaced before committing`,
    NonRepeatableRead: () =>
      `${reader} read ${what} from ${sourceName(history, read)}, and ${assignment(history, other)} from ${sourceName(history, other)}`,
    IncompatibleOrder: () =>
      `${reader} read ${what}, but ${writer} read ${assignment(history, other, offendingPositions(history, name, other, read))}: neither is a prefix of the other`,
    DuplicateRow: () =>
      `${reader} read ${keyOf(history, history.opKey[read]!)} and got several rows for it: ${what}`,
    VanishedRow: () =>
      `${reader} read ${keyOf(history, history.opKey[read]!)} and found no such row, though nobody deleted it`,
    LostCommit: () => describeLost(history, read, other),
    PredicateMismatch: () => describeMismatch(history, read),
    WrongVersion: () => describeWrongVersion(history, read),
    DuplicateElements: () => `${reader} read ${what}, in which an element stands twice`,
  }
  return words[name]?.() ?? `${reader} read ${what}`
}

/** @param write of the commit that is gone; the audit shows an older version, or a list without it */
function describeLost(history: History, read: number, write: number): string {
  const audit = nameOf(history, history.opTxn[read]!)
  const victim = nameOf(history, history.opTxn[write]!)
  const told = `${victim} was told that its ${assignment(history, write)} is committed${finishText(history, write)}`
  const shown = `${sawWord(history, read)} ${assignment(history, read)}`
  const older = history.opKind[read] === READ_LIST ? 'without it' : 'which is older'
  return `${told}; ${audit}, an audit that began later and ran alone, ${shown}, ${older}: the commit of ${victim} is gone`
}

function describeWrongVersion(history: History, read: number): string {
  const reader = nameOf(history, history.opTxn[read]!)
  const write = history.readFrom[read]!
  const seen = `${reader} read ${assignment(history, read)} as version ${versionOf(history, read)}`
  if (write < 0) return `${seen}, but ${sayInitialVersion(history, read)}`
  const writer = nameOf(history, history.opTxn[write]!)
  return `${seen}, but what ${writer} wrote is version ${versionOf(history, write)}: the store's own order is wrong`
}

/** What a version of the initial state, as a read reported it, contradicts. */
function sayInitialVersion(history: History, read: number): string {
  const versions = history.versions!
  const { opVersion, initial, orderStart, order } = versions
  const key = history.opKey[read]!
  if (initial[key] !== opVersion[read]) {
    const other = opVersion.findIndex((version, op) => {
      return version === initial[key] && history.opKey[op] === key
    })
    return `the initial state of that key is version ${versions.text(other)} elsewhere`
  }
  const first = order[orderStart[key]!]!
  const writer = nameOf(history, history.opTxn[first]!)
  return `that is the initial state, which comes before version ${versions.text(first)}, by ${writer}: the store's own order is wrong`
}

function finishText(history: History, write: number): string {
  const finish = history.txnFinishTime?.[history.opTxn[write]!] ?? Number.NaN
  return Number.isNaN(finish) ? '' : ` (at ${finish})`
}

function describeMismatch(history: History, read: number): string {
  const { opReturned, opEvent } = history.sql!
  const event = opEvent[read]!
  const reader = nameOf(history, history.opTxn[read]!)
  const verb = opReturned[read] ? 'returned' : 'passed over'
  const held = rowText(history, history.opKey[read]!, history.readFrom[read]!, event)
  return `${reader} ${verb} ${assignment(history, read)} (${held}) for ${statementText(history, event)}`
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
