// The same inferences as in version-order.ts, for histories in which every session writes each key
// once at the most, tens of thousands of sessions perhaps. There nothing is gained by looking at
// runs, and after the first round nearly all pairs of writers of a key are in order, with all that
// follows from that: so only those that were not are looked at again, and dropped when they are.
// Cost: the pairs once, O(those left over) a round. Main functions: findOpenPairs, inferFromPairs.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import {
  type KnownEdges,
  type OpenPairs,
  OVERLAP,
  OVERWRITES,
  SEEN_BY_READER,
} from './known-edges.ts'

/** Beyond so many pairs the list itself would be a burden. */
const MOST_PAIRS = 2 ** 25

/** Those whose order did not follow at the last refresh; null if this is not the way to go on. */
export function findOpenPairs(known: KnownEdges, deadline: Deadline): OpenPairs | null {
  const { problem, versionCommit, versionClaim, graph } = known
  const { keyCount, keyStart, runFirst } = problem
  if (runFirst.length - 1 !== versionCommit.length) return null
  const open = { one: new IntColumn(64), other: new IntColumn(64) }
  for (let key = 0; key < keyCount; key++) {
    const end = keyStart[key + 1]!
    for (let one = keyStart[key]!; one < end; one++) {
      deadline.step(end - one)
      for (let other = one + 1; other < end; other++) {
        if (graph.reaches(versionClaim[one]!, versionCommit[other]!)) continue
        if (graph.reaches(versionClaim[other]!, versionCommit[one]!)) continue
        open.one.push(one)
        open.other.push(other)
      }
    }
    if (open.one.length > MOST_PAIRS) return null
  }
  return open
}

/** One look at every pair that the last refresh may have brought news of. */
export function inferFromPairs(known: KnownEdges, open: OpenPairs, deadline: Deadline): void {
  const { graph, versionCommit, versionClaim } = known
  const { hasChanged } = graph
  const { length } = open.one
  let kept = 0
  for (let i = 0; i < length; i++) {
    const one = open.one.data[i]!
    const other = open.other.data[i]!
    deadline.step(4)
    const isFirst =
      hasChanged[versionCommit[other]!] === 1 &&
      graph.reaches(versionClaim[one]!, versionCommit[other]!)
    const isSecond =
      hasChanged[versionCommit[one]!] === 1 &&
      graph.reaches(versionClaim[other]!, versionCommit[one]!)
    if (isFirst) settle(known, one, other)
    if (isSecond) settle(known, other, one)
    if (isFirst || isSecond) continue
    orderBySeen(known, one, other)
    orderBySeen(known, other, one)
    open.one.data[kept] = one
    open.other.data[kept++] = other
  }
  open.one.length = kept
  open.other.length = kept
}

/** One version is known to be the earlier: whoever read it precedes the writer of the other. */
function settle(known: KnownEdges, earlier: number, later: number): void {
  const { problem, graph, versionCommit, versionClaim, readerBegin } = known
  const { readerStart, reader, versionTxn, hasSi } = problem
  const commit = versionCommit[later]!
  if (hasSi && !graph.reaches(versionCommit[earlier]!, versionClaim[later]!)) {
    known.add(versionCommit[earlier]!, versionClaim[later]!, OVERLAP, NONE)
  }
  for (let r = readerStart[earlier]!; r < readerStart[earlier + 1]!; r++) {
    const begin = readerBegin[r]!
    if (reader[r] === versionTxn[later] || graph.reaches(begin, commit)) continue
    known.add(begin, commit, OVERWRITES, versionTxn[earlier]!)
  }
}

/** A writer that reaches a reader of the other version wrote before it. */
function orderBySeen(known: KnownEdges, version: number, writer: number): void {
  const { problem, graph, versionCommit, versionClaim, readerBegin } = known
  const { readerStart, reader, versionTxn } = problem
  for (let r = readerStart[version]!; r < readerStart[version + 1]!; r++) {
    const begin = readerBegin[r]!
    // A reader's own write comes after its read, even where both are one node.
    if (!graph.hasChanged[begin] || reader[r] === versionTxn[writer]) continue
    if (!graph.reaches(versionCommit[writer]!, begin)) continue
    known.add(versionCommit[writer]!, versionClaim[version]!, SEEN_BY_READER, reader[r]!)
    return
  }
}
