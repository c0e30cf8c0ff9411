// The order in which things seem to have happened, made into an order of the graph's nodes: commits
// one after another as the record has them, each snapshot, or transaction that only reads, as late
// as what it read allows, and all of it bent to the known edges. A store that keeps its promise has
// often been recorded in the very order in which it committed; then this is a proof, and nothing
// needs to be inferred at all. Else it is wrong in few places, and the solver starts from there.
// O(operations · log). Main function: orderAsRecorded.

import type { Deadline } from '../../base/deadline.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import { type History, hasTimes, NONE } from '../../history/history.ts'
import { buildBaseOrder } from '../order/base-order.ts'
import type { BaseOrder } from '../order/stale-reads.ts'
import { IN, type MixedProblem } from '../problem/mixed-problem.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { KnownEdges } from './known-edges.ts'

export interface Recorded {
  /** Whether the order is worth a try before anything is inferred. */
  readonly isLikely: boolean
  /** Txn of the history -> when it seems to have committed. */
  readonly rank: () => ArrayLike<number>
}

/** The input's own order if nothing speaks against it, else the times, else a base order. */
export function findRecorded(history: History, reads: ReadCheck, base: () => BaseOrder): Recorded {
  const isInOrder = reads.lateReadCount === 0 && (reads.versions?.lateCount ?? 0) === 0
  const { txnStartTime, txnFinishTime } = history
  if (isInOrder || !hasTimes(history) || !txnStartTime || !txnFinishTime) {
    return { isLikely: isInOrder, rank: () => base().position }
  }
  // An indeterminate transaction has no finish.
  const rank = () =>
    txnFinishTime.map((finish, txn) => (Number.isNaN(finish) ? txnStartTime[txn]! : finish))
  return { isLikely: true, rank }
}

/**
 * A level per transaction: the order in which they finished, or else stand in the input, or where
 * that contradicts what was read, a merge of the sessions.
 */
export function rowsRecorded({ history, reads }: MixedProblem, deadline: Deadline): Recorded {
  const { txnFinishTime, txnCount } = history
  const rank = () => {
    if (txnFinishTime !== null) {
      // An indeterminate transaction has no finish, and whoever observed it came later.
      return txnFinishTime.map((at) => (Number.isNaN(at) ? Number.POSITIVE_INFINITY : at))
    }
    if (reads.lateReadCount > 0) return buildBaseOrder(history, reads, deadline).position
    return Int32Array.from({ length: txnCount }, (_, txn) => txn)
  }
  return { isLikely: true, rank }
}

/** Nodes in a topological order of the known edges, close to the record; null if cyclic. */
export function orderAsRecorded(
  known: KnownEdges,
  recorded: Recorded,
  deadline: Deadline,
): Int32Array | null {
  const { begin, commit } = known
  const place = rankTxns(known, recorded.rank())
  const wish = new Float64Array(known.graph.nodeCount).fill(Number.POSITIVE_INFINITY)
  for (let txn = 0; txn < place.length; txn++) {
    if (commit[txn] === NONE) continue
    wish[begin[txn]!] = 2 * place[txn]!
    wish[commit[txn]!] = 2 * place[txn]! + 1
  }
  deadline.check()
  hurryReads(known, place, wish, deadline)
  deadline.check()
  const graph = known.graph.buildCsr()
  const order = findTopologicalOrder(graph, undefined, deadline)
  if (order === null) return null
  // Whatever something urgent waits for is as urgent.
  for (let i = order.length - 1; i >= 0; i--) {
    const node = order[i]!
    deadline.step(2)
    for (let slot = graph.start[node]!; slot < graph.start[node + 1]!; slot++) {
      wish[node] = Math.min(wish[node]!, wish[graph.target[slot]!]!)
    }
  }
  return findTopologicalOrder(graph, wish, deadline)
}

/** The transactions that take part in any case, in the order in which their commits stand there. */
export function commitsIn({ problem, commit }: KnownEdges, nodes: Int32Array): Int32Array {
  const { moments, pairs } = problem
  const txns = new Int32Array(problem.txnCount)
  let count = 0
  for (const node of nodes) {
    const txn = moments.txnAt[node]!
    if (txn < 0 || commit[txn] !== node) continue
    if (pairs === null || pairs.state[txn] === IN) txns[count++] = txn
  }
  return txns.subarray(0, count)
}

/** Txn -> how many others the record puts before it. */
function rankTxns({ problem, commit }: KnownEdges, rank: ArrayLike<number>): Int32Array {
  const { txnCount, txnOf } = problem
  const order = new Int32Array(txnCount)
  for (let t = 0; t < txnCount; t++) order[t] = t
  const at = new Float64Array(txnCount)
  for (let t = 0; t < txnCount; t++) at[t] = commit[t] === NONE ? -1 : rank[txnOf[t]!]!
  order.sort((a, b) => (at[a] === at[b] ? a - b : at[a]! - at[b]!))
  const place = new Int32Array(txnCount)
  for (let i = 0; i < txnCount; i++) place[order[i]!] = i
  return place
}

/** Puts snapshots, and those that only read, before the commits that overwrite their reads. */
function hurryReads(
  { problem, begin, commit }: KnownEdges,
  place: Int32Array,
  wish: Float64Array,
  deadline: Deadline,
): void {
  const { keyCount, keyStart, versionTxn } = problem
  const { readStart, readVersion, writeStart, keyOfVersion } = problem.access
  const sorted = new Int32Array(versionTxn.length) // versions, key by key, as they were committed
  const slot = new Int32Array(versionTxn.length) // version -> where it is there
  for (let v = 0; v < sorted.length; v++) sorted[v] = v
  for (let key = 0; key < keyCount; key++) {
    const versions = sorted.subarray(keyStart[key], keyStart[key + 1])
    if (versions.length > 1) {
      deadline.step(16 * versions.length)
      versions.sort((a, b) => place[versionTxn[a]!]! - place[versionTxn[b]!]!)
    }
  }
  for (let i = 0; i < sorted.length; i++) slot[sorted[i]!] = i
  for (let txn = 0; txn < place.length; txn++) {
    deadline.step(4)
    if (begin[txn] === commit[txn] && writeStart[txn] !== writeStart[txn + 1]) continue
    for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
      const version = readVersion[i]!
      const key = version >= 0 ? keyOfVersion[version]! : ~version
      let next = version >= 0 ? slot[version]! + 1 : keyStart[key]!
      if (next < keyStart[key + 1]! && versionTxn[sorted[next]!] === txn) next++
      if (next === keyStart[key + 1]) continue
      const before = 2 * place[versionTxn[sorted[next]!]!]!
      if (before < wish[begin[txn]!]!) wish[begin[txn]!] = before
    }
  }
}
