// Infers, until nothing new follows, every order of two writers of a key that one side alone
// settles, and every anti-dependency that results. For a read of version x of W by r and another
// writer V:
//   - V reaches r: V before W, else r would have read V's version or a later one;
//   - W before V: r before V.
// At si, two writers of a key must not overlap: if V began before W committed, V is before W. All
// edges of "A before B" lead into B, so a cycle needs at most one of them and testing edges one by
// one misses nothing that testing whole sides would find. Writers of one session are ordered, hence
// only the last one before and the first one after matter, found in the run by binary search.
// Rounds over all keys, with reachability computed anew between rounds. Cost of a round: O(reads ·
// runs of the key · log) and one refresh of the graph. Main function: saturate.

import type { Deadline } from '../../base/deadline.ts'
import { type KnownEdges, OVERLAP, OVERWRITES, SEEN_BY_READER } from './known-edges.ts'

/** False if the known edges contain a cycle, that is, if the level is violated. */
export function saturate(known: KnownEdges, deadline: Deadline): boolean {
  while (true) {
    known.roundStart.push(known.graph.edgeCount)
    if (!known.graph.refresh(deadline)) return false
    const before = known.graph.edgeCount
    inferRound(known, deadline)
    if (known.graph.edgeCount === before) return true
  }
}

function inferRound(known: KnownEdges, deadline: Deadline): void {
  const { keyCount, keyStart } = known.problem
  const overlapCounts = known.shape.level === 'si'
  let work = 0
  for (let key = 0; key < keyCount; key++) {
    const first = keyStart[key]!
    const end = keyStart[key + 1]!
    if (end - first < 2) continue
    for (let version = first; version < end; version++) {
      if (overlapCounts) orderOverlapping(known, key, version)
      inferFromReaders(known, key, version)
    }
    work += end - first
    if (work > 4096) {
      deadline.check()
      work = 0
    }
  }
}

/** si: the last writer in each run that began before this one committed precedes it. */
function orderOverlapping(known: KnownEdges, key: number, version: number): void {
  const { runStart, runFirst, versionTxn } = known.problem
  const { graph } = known
  const txn = versionTxn[version]!
  const row = known.commit(txn) * graph.chainCount
  for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
    const first = runFirst[run]!
    const end = runFirst[run + 1]!
    const limit = graph.rows[row + graph.chainOf[known.begin(versionTxn[first]!)]!]!
    // A transaction's own begin reaches its commit: look at those before it.
    const last = lastBelow(
      known,
      first,
      version >= first && version < end ? version : end,
      limit,
      0,
    )
    if (last < first) continue
    const from = known.commit(versionTxn[last]!)
    if (!graph.reaches(from, known.begin(txn))) known.add(from, known.begin(txn), OVERLAP, -1)
  }
}

function inferFromReaders(known: KnownEdges, key: number, version: number): void {
  const { runStart, runFirst, versionTxn, readerStart, reader } = known.problem
  const { graph, shape } = known
  const { rows, chainCount } = graph
  const readersFrom = readerStart[version]!
  const readersEnd = readerStart[version + 1]!
  if (readersFrom === readersEnd) return
  const writer = versionTxn[version]!
  const arrival = shape.width * writer + shape.versionTo
  const orderFrom = shape.width * writer + shape.orderFrom
  for (let run = runStart[key]!; run < runStart[key + 1]!; run++) {
    const first = runFirst[run]!
    const end = runFirst[run + 1]!
    const after = firstReached(known, first, end, orderFrom)
    const next = after < end ? versionTxn[after]! : -1
    const chain = graph.chainOf[known.begin(versionTxn[first]!)]!
    for (let i = readersFrom; i < readersEnd; i++) {
      const begin = known.begin(reader[i]!)
      // Rule 2: the reader precedes the first writer known to be later.
      if (next >= 0 && next !== reader[i] && !graph.reaches(begin, known.commit(next))) {
        known.add(begin, known.commit(next), OVERWRITES, writer)
      }
      // Rule 1: the last writer that reaches the reader precedes the version it saw.
      const own = graph.chainOf[begin] === chain
      const limit = own ? begin : rows[begin * chainCount + chain]!
      let last = lastBelow(known, first, end, limit, shape.commit)
      if (last === version) last--
      if (last < first) continue
      const from = known.commit(versionTxn[last]!)
      if (!graph.reaches(from, arrival)) known.add(from, arrival, SEEN_BY_READER, reader[i]!)
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
  const { rows, chainCount, chainOf } = known.graph
  const chain = chainOf[node]!
  const self = known.txnOf(node)
  let low = first
  let high = end
  while (low < high) {
    const mid = (low + high) >>> 1
    if (rows[(width * versionTxn[mid]! + commit) * chainCount + chain]! > node) high = mid
    else low = mid + 1
  }
  return low < end && versionTxn[low] === self ? low + 1 : low
}
