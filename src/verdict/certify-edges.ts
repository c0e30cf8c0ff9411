// Verifies cycles: consecutive edges, each true of the history by the rules of the level. See the
// description of Edge in verdict.ts for what each kind has to carry.

import { COMMITTED, type History, INITIAL, NONE, READ_LIST } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { foreignVersion, isWrite, splitList } from './certify-reads.ts'
import { type Case, type Edge, INITIAL_TXN } from './verdict.ts'

export function certifyCycle(history: History, level: LevelId, edges: readonly Edge[]): string[] {
  const problems: string[] = []
  for (let i = 0; i < edges.length; i++) {
    const next = edges[(i + 1) % edges.length]!
    if (edges[i]!.to !== next.from) problems.push(`edge ${i} does not lead to the next one`)
    const problem = certifyEdge(history, level, edges[i]!)
    if (problem !== null) problems.push(problem)
  }
  return problems
}

export function certifyCases(_history: History, level: LevelId, _cases: readonly Case[]): string[] {
  return [`${level} has no case splits`]
}

/** What is wrong with the edge, null if it holds. */
export function certifyEdge(history: History, level: LevelId, edge: Edge): string | null {
  for (const txn of [edge.from, edge.to]) {
    if (txn === INITIAL_TXN) continue
    if (!(txn >= 0 && txn < history.txnCount && history.txnCounts[txn])) {
      return `${txn} is not a transaction that counts`
    }
  }
  if (edge.from === edge.to) return 'an edge leads from a transaction to itself'
  switch (edge.kind) {
    case 'SO':
      return certifySession(history, edge)
    case 'WR':
      return certifyRead(history, edge)
    case 'CO':
      return certifyForced(history, level, edge)
    case 'WW':
      return certifyVersions(history, edge)
    case 'RT':
      return certifyRealTime(history, level, edge)
    default:
      return `${level} has no ${edge.kind} edges`
  }
}

function certifySession(history: History, edge: Edge): string | null {
  if (edge.from === INITIAL_TXN) return null
  if (edge.to === INITIAL_TXN) return 'nothing precedes the initial transaction in session order'
  const { txnSession, txnIndex } = history
  const holds =
    txnSession[edge.from] === txnSession[edge.to] && txnIndex[edge.from]! < txnIndex[edge.to]!
  return holds ? null : `${edge.from} is not before ${edge.to} in session order`
}

function certifyRead(history: History, edge: Edge): string | null {
  const read = edge.ops[edge.ops.length - 1] ?? NONE
  if (history.opTxn[read] !== edge.to || history.opKey[read] !== edge.key) {
    return `${edge.to} has no such read`
  }
  const version = foreignVersion(history, read)
  const source =
    version === INITIAL ? INITIAL_TXN : version === NONE ? NONE : history.opTxn[version]
  if (source !== edge.from) return `read ${read} is not from ${edge.from}`
  if (version >= 0 && edge.ops[0] !== version) return `read ${read} did not see that write`
  return null
}

/** t2 -> t1, because t1's version of a key was read by one to whom t2's had to be visible. */
function certifyForced(history: History, level: LevelId, edge: Edge): string | null {
  const [write = NONE, read = NONE] = edge.ops
  const [seen, ...visibility] = edge.premises
  if (edge.from === INITIAL_TXN) return 'nothing forces the initial transaction to come first'
  if (history.opTxn[write] !== edge.from || !isWrite(history, write)) return 'its write is missing'
  if (history.opKey[write] !== edge.key || history.opKey[read] !== edge.key) return 'keys differ'
  if (seen?.kind !== 'WR' || seen.from !== edge.to) return 'nobody read from its target'
  if (seen.ops[seen.ops.length - 1] !== read) return 'its read is another one'
  const problem = certifyRead(history, seen)
  if (problem) return problem
  const reader = seen.to
  if (reader === edge.from) return 'a reader does not force its own order'
  return certifyVisibility(history, level, edge.from, reader, read, visibility)
}

function certifyVisibility(
  history: History,
  level: LevelId,
  from: number,
  reader: number,
  read: number,
  path: readonly Edge[],
): string | null {
  if (path.length === 0) return 'nothing says why it had to be visible'
  let at = from
  for (const edge of path) {
    if (edge.from !== at) return 'the reasons do not form a path'
    if (edge.kind !== 'SO' && edge.kind !== 'WR') return `${edge.kind} does not make visible`
    const problem = certifyEdge(history, level, edge)
    if (problem) return problem
    at = edge.to
  }
  if (at !== reader) return 'the reasons do not lead to the reader'
  const first = path[0]!
  if (level === 'rc') {
    const earlier = first.ops[first.ops.length - 1] ?? NONE
    const holds = path.length === 1 && first.kind === 'WR' && earlier < read
    return holds ? null : 'rc only makes visible what was read before'
  }
  if (level === 'ra' && path.length > 1) return 'ra only makes direct predecessors visible'
  return null
}

/** Orders of versions that need no argument: observed in a list, or read and then replaced. */
function certifyVersions(history: History, edge: Edge): string | null {
  const { opTxn, opKey } = history
  if (edge.premises.length > 0) return 'derived version orders belong to stronger levels'
  const [a = NONE, b = NONE, shown = NONE] = edge.ops
  if (opTxn[a] !== edge.from || opTxn[b] !== edge.to) return 'its writes are missing'
  if (!isWrite(history, a) || !isWrite(history, b)) return 'its operations are not writes'
  if (opKey[a] !== edge.key || opKey[b] !== edge.key) return 'keys differ'
  if (history.opKind[shown] !== READ_LIST || opKey[shown] !== edge.key)
    return 'no list read shows it'
  const { foreign, sound } = splitList(history, shown)
  if (!sound) return 'the list read that shows it is not sound'
  const first = foreign.findIndex((append) => opTxn[append] === edge.from)
  const second = foreign.indexOf(b)
  // An append that the longest read does not show comes after all that it shows.
  if (first < 0) return 'the list read does not show the first write'
  return second < 0 || first < second ? null : 'the list read shows the opposite order'
}

function certifyRealTime(history: History, level: LevelId, edge: Edge): string | null {
  const { txnStartTime, txnFinishTime, txnStatus } = history
  if (level !== 'sser') return `${level} knows no real time`
  if (!txnStartTime || !txnFinishTime) return 'the history has no times'
  if (edge.from === INITIAL_TXN || edge.to === INITIAL_TXN) return 'the initial one has no time'
  if (txnStatus[edge.from] !== COMMITTED) return 'an indeterminate transaction has no finish'
  return txnFinishTime[edge.from]! < txnStartTime[edge.to]!
    ? null
    : `${edge.from} did not finish before ${edge.to} started`
}
