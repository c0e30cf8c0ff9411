// What follows for the order of two writers of a key, and for those who read one's version, from
// what is known. For a read of version x of W by r and another writer V:
//   - V reaches r's snapshot: V before W, else r would have read V's version or a later one;
//   - W before V: r's snapshot before V.
// At si, two writers of a key must not overlap: if V claims the key before W commits, V is before
// W. All edges of "A before B" lead into B, so a cycle needs at most one of them and testing edges
// one by one misses nothing that testing whole sides would find. Writers of one session are
// ordered, hence only the last one before and the first one after matter, found in the run by
// binary search. After the first round only what changed is looked at again. Cost of the first:
// O(reads · runs of the key · log). Main function: inferVersionOrder.

import type { Deadline } from '../../base/deadline.ts'
import { lowerBound } from '../../base/search.ts'
import { NONE } from '../../history/history.ts'
import {
  type KnownEdges,
  OVERLAP,
  OVERWRITES,
  REPLACES_PASSED,
  SEEN_BY_PASSING,
  SEEN_BY_READER,
} from './known-edges.ts'
import { findOpenPairs, inferFromPairs } from './open-pairs.ts'

/** One look at every key of which a row changed since the last one. */
export function inferVersionOrder(known: KnownEdges, deadline: Deadline): void {
  if (known.openPairs) return inferFromPairs(known, known.openPairs, deadline)
  const { problem, versionCommit } = known
  const { keyCount, keyStart, readerStart, runStart, hasSi } = problem
  const { hasChanged } = known.graph
  const runs = new ChangedRuns(known)
  for (let key = 0; key < keyCount; key++) {
    const first = keyStart[key]!
    const end = keyStart[key + 1]!
    if (end - first < 2) continue
    runs.collect(key)
    deadline.step(end - first)
    const runCount = runStart[key + 1]! - runStart[key]!
    for (let version = first; version < end; version++) {
      const readersEnd = readerStart[version + 1]!
      deadline.step(1 + runCount * (1 + readersEnd - readerStart[version]!))
      if (hasSi && hasChanged[versionCommit[version]!]) orderOverlapping(known, key, version)
      if (readerStart[version] === readersEnd) continue
      if (runs.count > 0) inferOverwrites(known, version, runs)
      inferSeen(known, key, version)
    }
  }
  if (known.openPairs === undefined) known.openPairs = findOpenPairs(known, deadline)
}

/** The runs of a key with a writer whose row changed: only there can a later writer be news. */
class ChangedRuns {
  count = 0
  run = new Int32Array(64) // the runs, ascending

  constructor(private readonly known: KnownEdges) {}

  collect(key: number): void {
    const { problem, versionCommit } = this.known
    const { runStart, runFirst } = problem
    const { hasChanged } = this.known.graph
    const size = runStart[key + 1]! - runStart[key]!
    if (size > this.run.length) this.run = new Int32Array(2 * size)
    this.count = 0
    for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
      for (let v = runFirst[run]!; v < runFirst[run + 1]!; v++) {
        if (!hasChanged[versionCommit[v]!]) continue
        this.run[this.count++] = run
        break
      }
    }
  }
}

/** si: the last writer in each run that claimed the key before this one committed precedes it. */
function orderOverlapping(known: KnownEdges, key: number, version: number): void {
  const { problem, graph, versionCommit, versionClaim, runChain } = known
  const { runStart, runFirst } = problem
  const claim = versionClaim[version]!
  const commit = versionCommit[version]!
  for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
    const first = runFirst[run]!
    const end = runFirst[run + 1]!
    const limit = graph.firstNotReaching(runChain[run]!, commit)
    // A transaction's own claim reaches its commit: look at those before it.
    const until = version >= first && version < end ? version : end
    const last = lowerBound(versionClaim, limit, first, until) - 1
    if (last < first) continue
    const from = versionCommit[last]!
    if (!graph.reaches(from, claim)) known.add(from, claim, OVERLAP, NONE)
  }
}

/** Readers of the version precede the first writer in each run that is known to be later. */
function inferOverwrites(known: KnownEdges, version: number, runs: ChangedRuns): void {
  const { problem, graph, readerBegin, versionCommit } = known
  const { runFirst, versionTxn, readerStart, reader } = problem
  const readersEnd = readerStart[version + 1]!
  for (let i = 0; i < runs.count; i++) {
    const end = runFirst[runs.run[i]! + 1]!
    const after = firstLater(known, runFirst[runs.run[i]!]!, end, version)
    if (after === end) continue
    const later = versionTxn[after]!
    const commit = versionCommit[after]!
    for (let r = readerStart[version]!; r < readersEnd; r++) {
      const begin = readerBegin[r]!
      if (reader[r] === later || graph.reaches(begin, commit)) continue
      known.add(begin, commit, OVERWRITES, versionTxn[version]!)
    }
  }
}

/** The same for one that passed the version over. */
export function inferReplacedForPair(known: KnownEdges, version: number, pair: number): void {
  const { problem, graph, versionCommit } = known
  const { runStart, runFirst, versionTxn, pairs } = problem
  const [key, reader] = [pairs!.key[pair]!, pairs!.reader[pair]!]
  const begin = known.begin[reader]!
  for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
    const end = runFirst[run + 1]!
    const after = firstLater(known, runFirst[run]!, end, version)
    if (after === end || versionTxn[after] === reader) continue
    const commit = versionCommit[after]!
    if (!graph.reaches(begin, commit)) known.add(begin, commit, REPLACES_PASSED, pair)
  }
}

/** The last writer in each run that reaches a reader of the version precedes its writer. */
function inferSeen(known: KnownEdges, key: number, version: number): void {
  const { problem, graph, versionCommit, runChain, readerBegin } = known
  const { runStart, runFirst, readerStart, reader } = problem
  const { chainOf, hasChanged } = graph
  const claim = known.versionClaim[version]!
  for (let r = readerStart[version]!, end = readerStart[version + 1]!; r < end; r++) {
    const snapshot = readerBegin[r]!
    if (!hasChanged[snapshot]) continue
    const own = chainOf[snapshot]
    for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
      const first = runFirst[run]!
      const chain = runChain[run]!
      // A reader's own write comes after its read, even where both are one node.
      const limit = chain === own ? snapshot : graph.firstNotReaching(chain, snapshot)
      let last = lowerBound(versionCommit, limit, first, runFirst[run + 1]!) - 1
      if (last === version) last--
      if (last < first) continue
      const from = versionCommit[last]!
      if (!graph.reaches(from, claim)) known.add(from, claim, SEEN_BY_READER, reader[r]!)
    }
  }
}

/** The same for one that passed the version over. */
export function inferSeenByPair(known: KnownEdges, version: number, pair: number): void {
  const { problem, graph, versionCommit, versionClaim, begin } = known
  const { runStart, runFirst, pairs } = problem
  const [key, reader] = [pairs!.key[pair]!, pairs!.reader[pair]!]
  for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
    let last = lastSeen(known, run, begin[reader]!)
    if (last === version) last--
    if (last < runFirst[run]!) continue
    const [from, to] = [versionCommit[last]!, versionClaim[version]!]
    if (!graph.reaches(from, to)) known.add(from, to, SEEN_BY_PASSING, pair)
  }
}

/** The last version of the run by one who reaches the snapshot; one below the first if none. */
export function lastSeen(known: KnownEdges, run: number, snapshot: number): number {
  const { problem, graph, versionCommit, runChain } = known
  const chain = runChain[run]!
  const isOwn = chain === graph.chainOf[snapshot]
  const limit = isOwn ? snapshot : graph.firstNotReaching(chain, snapshot)
  return lowerBound(versionCommit, limit, problem.runFirst[run]!, problem.runFirst[run + 1]!) - 1
}

/** The first other version in [first, end) that is known to be later than this one; end if none. */
export function firstLater(known: KnownEdges, first: number, end: number, version: number): number {
  const { graph, versionCommit } = known
  const claim = known.versionClaim[version]!
  let low = first
  let high = end
  while (low < high) {
    const mid = (low + high) >>> 1
    if (graph.reaches(claim, versionCommit[mid]!)) high = mid
    else low = mid + 1
  }
  return low < end && low === version ? low + 1 : low
}
