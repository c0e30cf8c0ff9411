// Infers, until nothing new follows, every order of two writers of a key that one side alone
// settles, and every anti-dependency that results. For a read of version x of W by r and another
// writer V:
//   - V reaches r: V before W, else r would have read V's version or a later one;
//   - W before V: r before V.
// At si, two writers of a key must not overlap: if V began before W committed, V is before W. All
// edges of "A before B" lead into B, so a cycle needs at most one of them and testing edges one by
// one misses nothing that testing whole sides would find. Writers of one session are ordered,
// hence only the last one before and the first one after matter, found in the run by binary
// search. Rounds over all keys, with reachability brought up to date between rounds; after the
// first, only what changed is looked at again. Cost of the first round: O(reads · runs of the key
// · log) and one refresh of the graph. Main function: saturate.

import type { Deadline } from '../../base/deadline.ts'
import { type KnownEdges, OVERLAP, OVERWRITES, SEEN_BY_READER } from './known-edges.ts'

/** False if the known edges contain a cycle, that is, if the level is violated. */
export function saturate(known: KnownEdges, deadline: Deadline): boolean {
  while (true) {
    known.roundStart.push(known.graph.edgeCount)
    if (!known.graph.refresh(deadline)) return false
    if (!known.graph.hasClosure) return true // nothing to infer from: the solver has to find out
    const before = known.graph.edgeCount
    inferRound(known, deadline)
    if (known.graph.edgeCount === before) return true
  }
}

/** One look at every key of which a row changed since the last one. */
function inferRound(known: KnownEdges, deadline: Deadline): void {
  const { keyCount, keyStart, readerStart, versionTxn, runStart } = known.problem
  const { hasChanged } = known.graph
  const isExclusive = known.shape.level === 'si'
  const runs = new ChangedRuns(known)
  for (let key = 0; key < keyCount; key++) {
    const first = keyStart[key]!
    const end = keyStart[key + 1]!
    if (end - first < 2) continue
    runs.collect(key)
    deadline.step(end - first)
    const runCount = runStart[key + 1]! - runStart[key]!
    for (let version = first; version < end; version++) {
      deadline.step(1 + runCount * (1 + readerStart[version + 1]! - readerStart[version]!))
      if (isExclusive && hasChanged[known.commit(versionTxn[version]!)]) {
        orderOverlapping(known, key, version)
      }
      if (readerStart[version] === readerStart[version + 1]) continue
      if (runs.count > 0) inferOverwrites(known, version, runs)
      inferSeen(known, key, version)
    }
  }
}

/** The runs of a key with a writer whose row changed: only there can a later writer be news. */
class ChangedRuns {
  count = 0
  run = new Int32Array(64) // the runs, ascending

  constructor(private readonly known: KnownEdges) {}

  collect(key: number): void {
    const { runStart, runFirst, versionTxn } = this.known.problem
    const { hasChanged } = this.known.graph
    const size = runStart[key + 1]! - runStart[key]!
    if (size > this.run.length) this.run = new Int32Array(2 * size)
    this.count = 0
    for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
      for (let v = runFirst[run]!; v < runFirst[run + 1]!; v++) {
        if (!hasChanged[this.known.commit(versionTxn[v]!)]) continue
        this.run[this.count++] = run
        break
      }
    }
  }
}

/** si: the last writer in each run that began before this one committed precedes it. */
function orderOverlapping(known: KnownEdges, key: number, version: number): void {
  const { runStart, runFirst, versionTxn } = known.problem
  const { graph } = known
  const txn = versionTxn[version]!
  const begin = known.begin(txn)
  const commit = known.commit(txn)
  for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
    const first = runFirst[run]!
    const end = runFirst[run + 1]!
    const chain = graph.chainOf[known.begin(versionTxn[first]!)]!
    const limit = graph.firstNotReaching(chain, commit)
    // A transaction's own begin reaches its commit: look at those before it.
    const until = version >= first && version < end ? version : end
    const last = lastBelow(known, first, until, limit, 0)
    if (last < first) continue
    const from = known.commit(versionTxn[last]!)
    if (!graph.reaches(from, begin)) known.add(from, begin, OVERLAP, -1)
  }
}

/** Readers of the version precede the first writer in each run that is known to be later. */
function inferOverwrites(known: KnownEdges, version: number, runs: ChangedRuns): void {
  const { runFirst, versionTxn, readerStart, reader } = known.problem
  const { graph, shape } = known
  const writer = versionTxn[version]!
  const orderFrom = shape.width * writer + shape.orderFrom
  const readersEnd = readerStart[version + 1]!
  for (let i = 0; i < runs.count; i++) {
    const end = runFirst[runs.run[i]! + 1]!
    const after = firstReached(known, runFirst[runs.run[i]!]!, end, orderFrom)
    if (after === end) continue
    const later = versionTxn[after]!
    const commit = known.commit(later)
    for (let r = readerStart[version]!; r < readersEnd; r++) {
      const begin = known.begin(reader[r]!)
      if (reader[r] === later || graph.reaches(begin, commit)) continue
      known.add(begin, commit, OVERWRITES, writer)
    }
  }
}

/** The last writer in each run that reaches a reader of the version precedes its writer. */
function inferSeen(known: KnownEdges, key: number, version: number): void {
  const { runStart, runFirst, versionTxn, readerStart, reader } = known.problem
  const { graph, shape } = known
  const { chainOf, hasChanged } = graph
  const arrival = shape.width * versionTxn[version]! + shape.versionTo
  for (let r = readerStart[version]!; r < readerStart[version + 1]!; r++) {
    const begin = known.begin(reader[r]!)
    if (!hasChanged[begin]) continue
    for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
      const first = runFirst[run]!
      const chain = chainOf[known.begin(versionTxn[first]!)]!
      // A reader's own write comes after its read, even where both are one node.
      const limit = chain === chainOf[begin] ? begin : graph.firstNotReaching(chain, begin)
      let last = lastBelow(known, first, runFirst[run + 1]!, limit, shape.commit)
      if (last === version) last--
      if (last < first) continue
      const from = known.commit(versionTxn[last]!)
      if (!graph.reaches(from, arrival)) known.add(from, arrival, SEEN_BY_READER, reader[r]!)
    }
  }
}

/**
 * The last version in [first, end) whose node at the offset is below the limit; first - 1 if none.
 */
function lastBelow(
  known: KnownEdges,
  first: number,
  end: number,
  limit: number,
  offset: number,
): number {
  const { versionTxn } = known.problem
  const { width } = known.shape
  let low = first
  let high = end
  while (low < high) {
    const mid = (low + high) >>> 1
    if (width * versionTxn[mid]! + offset < limit) low = mid + 1
    else high = mid
  }
  return low - 1
}

/**
 * The first version in [first, end) by somebody else whose commit the node reaches; end if none.
 */
export function firstReached(known: KnownEdges, first: number, end: number, node: number): number {
  const { versionTxn } = known.problem
  const { width, commit } = known.shape
  const { graph } = known
  const self = known.txnOf(node)
  let low = first
  let high = end
  while (low < high) {
    const mid = (low + high) >>> 1
    if (graph.reaches(node, width * versionTxn[mid]! + commit)) high = mid
    else low = mid + 1
  }
  return low < end && versionTxn[low] === self ? low + 1 : low
}
