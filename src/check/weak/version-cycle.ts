// A circle of version orders that lists show, session order included, without any read: a dirty
// write (G0) where others are circles of information. Whether there is one must not depend on which
// circle of a component happens to be the shortest. O(members and their operations). Main function:
// findOnVersionCycle.

import { buildCsr } from '../../graph/csr.ts'
import { findCyclic } from '../../graph/scc.ts'
import type { History } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

/** Transactions of a component that lie on one such circle, or null. */
export function findOnVersionCycle(
  history: History,
  { versions }: ReadCheck,
  members: Int32Array,
): Set<number> | null {
  if (versions === null) return null
  const { txnOpStart, txnSession, txnIndex } = history
  const local = new Map(Array.from(members, (txn, i) => [txn, i]))
  const from: number[] = []
  const to: number[] = []
  const sorted = members.toSorted(
    (a, b) => txnSession[a]! - txnSession[b]! || txnIndex[a]! - txnIndex[b]!,
  )
  for (const [i, txn] of sorted.entries()) {
    const before = sorted[i - 1]
    if (before !== undefined && txnSession[before] === txnSession[txn]) {
      from.push(local.get(before)!)
      to.push(local.get(txn)!)
    }
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const older = local.get(versions.writeAfter[op]!)
      if (older === undefined) continue
      from.push(older)
      to.push(local.get(txn)!)
    }
  }
  const { componentOf, isCyclic } = findCyclic(buildCsr(members.length, from, to))
  const found = members.findIndex((_, i) => isCyclic(i))
  if (found < 0) return null
  return new Set(members.filter((_, i) => componentOf[i] === componentOf[found]))
}
