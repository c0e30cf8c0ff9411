// The rules for single edges: what an edge has to carry (see Edge in verdict.ts) and whether that
// is true of the history. Premises are not followed here but handed to `need`, for
// certify-cycles.ts to go through without recursion. Main function: certifyEdge.

import { comesBefore } from '../history/after.ts'
import {
  COMMITTED,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_LIST,
  WRITE,
} from '../history/history.ts'
import { shareKey } from '../history/key-uses.ts'
import { isSessionGuarantee, type LevelId, type SessionGuarantee } from '../levels/levels.ts'
import { isShownBefore } from './certify-dirty-writes.ts'
import { foreignVersion, isLastWrite, isWrite, splitList } from './certify-reads.ts'
import { pathProblem } from './certify-shape.ts'
import { LEVEL_RULES } from './level-rules.ts'
import type { Scope } from './prove-edges.ts'
import { type Edge, INITIAL_TXN } from './verdict.ts'

/** What an argument rests on: the history, what is assumed so far, and edges still to prove. */
interface Context {
  readonly history: History
  readonly level: LevelId
  readonly scope: Scope
  need(edges: readonly Edge[], scope: Scope): void
}

/** What is wrong with the edge itself, null if it holds whenever what it needs does. */
export function certifyEdge(context: Context, edge: Edge): string | null {
  const { history, level } = context
  for (const txn of [edge.from, edge.to]) {
    if (txn === INITIAL_TXN) continue
    if (!(txn >= 0 && txn < history.txnCount && history.txnCounts[txn])) {
      return `${txn} is not a transaction that counts`
    }
  }
  if (edge.from === edge.to) return 'an edge leads from a transaction to itself'
  if (edge.to === INITIAL_TXN && edge.kind !== 'CO') return 'nothing precedes the initial state'
  if (edge.kind !== 'WW' && (edge.refutes || edge.assumed)) return `${edge.kind} is never assumed`
  if (edge.event !== undefined) return 'there are no statements'
  const isTimed = edge.kind === 'RT' && history.inTime !== undefined
  if (!isTimed && !LEVEL_RULES[level].edges.has(edge.kind))
    return `${edge.kind} counts nothing at ${level}`
  if (edge.kind === 'SO')
    return isBare(edge) ? certifySession(history, edge) : 'it needs no reasons'
  if (edge.kind === 'RT') {
    return isBare(edge) ? certifyRealTime(history, level, edge) : 'real time needs no reasons'
  }
  if (edge.kind === 'WR' && edge.premises.length > 0) return 'a read needs no reasons'
  if (edge.kind === 'WR') return certifyRead(history, level, edge)
  if (edge.kind === 'CO') return certifyForced(context, edge)
  return edge.kind === 'WW' ? certifyVersions(context, edge) : certifyOverwrite(context, edge)
}

function isBare(edge: Edge): boolean {
  return edge.ops.length === 0 && edge.premises.length === 0 && edge.key === NONE
}

export function certifySession(history: History, edge: Edge): string | null {
  if (edge.from === INITIAL_TXN) return null
  const holds = comesBefore(history.inTime?.of ?? history, edge.from, edge.to)
  return holds ? null : `${edge.from} is not before ${edge.to} in session order`
}

function certifyRealTime(history: History, level: LevelId, edge: Edge): string | null {
  const { txnStartTime, txnFinishTime, txnStatus } = history
  if (!txnStartTime || !txnFinishTime) return 'the history has no times'
  if (edge.from === INITIAL_TXN) return 'the initial transaction has no time'
  if (history.inTime !== undefined) {
    const holds = comesBefore(history, edge.from, edge.to)
    return holds ? null : `nothing says that ${edge.from} was over when ${edge.to} started`
  }
  if (level === 'ser+lin' && !shareKey(history, edge.from, edge.to)) {
    return `${edge.from} and ${edge.to} share no key`
  }
  if (txnStatus[edge.from] !== COMMITTED) return 'an indeterminate transaction has no finish'
  return txnFinishTime[edge.from]! < txnStartTime[edge.to]!
    ? null
    : `${edge.from} did not finish before ${edge.to} started`
}

function certifyRead(history: History, level: LevelId, edge: Edge): string | null {
  const read = edge.ops[edge.ops.length - 1] ?? NONE
  if (history.opTxn[read] !== edge.to || history.opKey[read] !== edge.key) {
    return `${edge.to} has no such read`
  }
  const version = foreignVersion(history, read, LEVEL_RULES[level].ownWrites)
  if (sourceOf(history, version) !== edge.from) return `read ${read} is not from ${edge.from}`
  if (edge.ops.length !== (version >= 0 ? 2 : 1)) return 'a read has one version'
  if (version >= 0 && edge.ops[0] !== version) return `read ${read} did not see that write`
  return null
}

/** The transaction that wrote a version. */
function sourceOf(history: History, version: number): number {
  if (version === INITIAL) return INITIAL_TXN
  return version === NONE ? NONE : history.opTxn[version]!
}

/** t2 -> t1, because t1's version of a key was read by one to whom t2's had to be visible. */
function certifyForced({ history, level, scope, need }: Context, edge: Edge): string | null {
  const [write = NONE, read = NONE, version = INITIAL] = edge.ops
  const [seen, ...path] = edge.premises
  if (edge.from === INITIAL_TXN) return 'nothing forces the initial transaction to come first'
  if (history.opTxn[write] !== edge.from || !isWrite(history, write)) return 'its write is missing'
  if (history.opKey[write] !== edge.key || history.opKey[read] !== edge.key) return 'keys differ'
  if (seen?.kind !== 'WR' || seen.from !== edge.to) return 'nobody read from its target'
  if (seen.ops[seen.ops.length - 1] !== read) return 'its read is another one'
  if (version !== foreignVersion(history, read)) return 'its read saw another version'
  need(edge.premises, scope)
  const reader = seen.to
  if (reader === edge.from) return 'a reader does not force its own order'
  const { sight } = LEVEL_RULES[level]
  if (path.length === 0) return 'nothing says why it had to be visible'
  if (sight === 'over') return certifyOver(edge.from, reader, path)
  let at = edge.from
  for (const step of path) {
    if (step.from !== at) return 'the reasons do not form a path'
    // Real time, where it counts, is known to be respected by what is visible.
    if (!['SO', 'WR', 'RT'].includes(step.kind)) return `${step.kind} does not make visible`
    at = step.to
  }
  if (at !== reader) return 'the reasons do not lead to the reader'
  if (sight !== null && isSessionGuarantee(sight)) {
    if (isSeenBefore(path, read) || isGuaranteed(sight, path, read)) return null
    return `${level} does not make it visible`
  }
  if (sight === 'earlier' && !isSeenBefore(path, read)) {
    return `${level} only makes visible what was read before`
  }
  if (sight === 'direct' && path.length > 1) {
    return `${level} only makes direct predecessors visible`
  }
  return null
}

/** Not a path: each of them was over when the reader started, `from` as the first. */
function certifyOver(from: number, reader: number, over: readonly Edge[]): string | null {
  if (over[0]!.from !== from) return 'another one was over'
  const isOver = over.every(({ kind, to }) => kind === 'RT' && to === reader)
  return isOver ? null : 'only what was over had to be visible'
}

/** Whether the path is one read that comes before the given one. */
function isSeenBefore(path: readonly Edge[], read: number): boolean {
  return path.length === 1 && endsBefore(path, read)
}

/** Whether the path ends with a read of the reader's that comes before the given one. */
function endsBefore(path: readonly Edge[], read: number): boolean {
  const last = path.at(-1)
  return last?.kind === 'WR' && (last.ops.at(-1) ?? NONE) < read
}

/** Whether the path is one by which a session guarantee makes visible. */
function isGuaranteed(guarantee: SessionGuarantee, path: readonly Edge[], read: number): boolean {
  const isOrder = (edges: readonly Edge[]) => edges.every(({ kind }) => kind !== 'WR')
  const isRead = path[0]?.kind === 'WR'
  if (guarantee === 'ryw') return isOrder(path)
  if (path.length < 2) return false
  if (guarantee === 'mr') return isRead && isOrder(path.slice(1))
  return endsBefore(path, read) && (guarantee === 'wfr' ? isRead : isOrder(path.slice(0, -1)))
}

function certifyVersions({ history, level, scope, need }: Context, edge: Edge): string | null {
  const problem = certifyWrites(history, edge)
  if (problem !== null) return problem
  const extra = edge.ops.slice(edge.from === INITIAL_TXN ? 1 : 2)
  if (!edge.assumed && !edge.refutes && edge.premises.length === 0) {
    if (!LEVEL_RULES[level].soundReads) return certifyShown(history, edge, extra)
    return certifyObserved(history, edge, extra)
  }
  if (!LEVEL_RULES[level].argued) return 'derived version orders belong to stronger levels'
  if (extra.length > 0) return 'a derived version order names its two writes only'
  if (edge.from === INITIAL_TXN) return 'the initial state precedes all without argument'
  if (edge.assumed) {
    if (edge.refutes || edge.premises.length > 0) return 'an assumption has no reasons'
    return scope.assumesOrder(edge.from, edge.to) ? null : 'it is not assumed here'
  }
  if (edge.refutes) {
    if (edge.premises.length === 0) return 'nothing refutes the opposite order'
    need(edge.premises, scope.withOpposite(edge))
    return pathProblem(history, level, edge.premises, null)
  }
  need(edge.premises, scope)
  return pathProblem(history, level, edge.premises, edge)
}

/** The writes that a WW edge names: the last ones of their transactions (any append will do). */
export function certifyWrites(history: History, edge: Edge): string | null {
  const ends = edge.from === INITIAL_TXN ? [edge.to] : [edge.from, edge.to]
  for (const [i, txn] of ends.entries()) {
    const write = edge.ops[i] ?? NONE
    if (history.opTxn[write] !== txn) return 'its writes are missing'
    if (!isWrite(history, write)) return 'its operations are not writes'
    if (history.opKey[write] !== edge.key) return 'keys differ'
    if (history.opKind[write] === WRITE && !isLastWrite(history, write)) {
      return 'only the last write of a transaction is a version'
    }
  }
  return null
}

/** Orders of versions that need no argument: observed in a list, or read and then replaced. */
function certifyObserved(history: History, edge: Edge, extra: readonly number[]): string | null {
  const { opTxn, opKey, opKind } = history
  if (edge.from === INITIAL_TXN) return extra.length === 0 ? null : 'it needs no reasons'
  if (extra.length === 0) return certifyGiven(history, edge)
  const [shown = NONE] = extra
  if (extra.length !== 1 || opKey[shown] !== edge.key) return 'nothing shows the order'
  if (opKind[shown] === READ) {
    const replaced =
      opTxn[shown] === edge.to && sourceOf(history, foreignVersion(history, shown)) === edge.from
    return replaced ? null : 'its target did not read the version it replaced'
  }
  return listOrderProblem(history, edge, shown)
}

/** What keeps a list read from showing that one appended before the other. */
export function listOrderProblem(history: History, edge: Edge, shown: number): string | null {
  const { opTxn, opKey, opKind, txnCounts } = history
  if (opKind[shown] !== READ_LIST || opKey[shown] !== edge.key) return 'no list read shows it'
  if (!txnCounts[opTxn[shown]!]) return 'the list read that shows it does not count'
  const { foreign, sound } = splitList(history, shown)
  if (!sound) return 'the list read that shows it is not sound'
  const first = foreign.findIndex((append) => opTxn[append] === edge.from)
  const second = foreign.findIndex((append) => opTxn[append] === edge.to)
  // An append that a read does not show comes after all that it shows.
  if (first < 0) return 'the list read does not show the first write'
  return second < 0 || first < second ? null : 'the list read shows the opposite order'
}

/** The order that the versions have which the store gave to two writes. */
function certifyGiven({ versions }: History, { ops }: Edge): string | null {
  const [first = Number.NaN, second = Number.NaN] = ops.map((op) => versions?.opVersion[op])
  if (Number.isNaN(first) || Number.isNaN(second)) return 'nothing shows the order'
  return first < second ? null : 'the versions are in the opposite order'
}

/** Where reads need not be sound: the order in which one of them shows two appends. */
function certifyShown(history: History, edge: Edge, extra: readonly number[]): string | null {
  const [first = NONE, second = NONE] = edge.ops
  if (extra.length === 0 && edge.from !== INITIAL_TXN) return certifyGiven(history, edge)
  const [shown = NONE] = extra
  const isShown = extra.length === 1 && isShownBefore(history, shown, first, second)
  return isShown ? null : 'no list read shows it'
}

/** The reader of a version precedes whoever wrote a later one. */
function certifyOverwrite({ scope, need }: Context, edge: Edge): string | null {
  const [read = NONE, write = NONE] = edge.ops
  const [seen, replaced] = edge.premises
  if (edge.from === INITIAL_TXN) return 'the initial transaction reads nothing'
  if (edge.ops.length !== 2 || edge.premises.length !== 2) return 'it needs a read and a write'
  if (seen!.kind !== 'WR' || seen!.to !== edge.from) return 'its reader is another one'
  if (seen!.key !== edge.key || replaced!.key !== edge.key) return 'keys differ'
  if (seen!.ops[seen!.ops.length - 1] !== read) return 'its read is another one'
  if (replaced!.kind !== 'WW' || replaced!.to !== edge.to) return 'its target overwrites nothing'
  if (replaced!.from !== seen!.from) return 'what was read is not what was overwritten'
  if (replaced!.ops[replaced!.from === INITIAL_TXN ? 0 : 1] !== write) return 'its write differs'
  need(edge.premises, scope)
  return null
}
