// An order of the transactions that respects session order, reads-from and known version order, as
// close to a serial order as can be had cheaply, and the reads that are stale in it: reads of a
// version that is not the latest at that point. Whoever has no stale read is serializable, hence
// satisfies every weaker level; for the others only stale reads need a closer look, because any
// order that a level forces concerns a read and a newer version of what it read.
//
// The order of the input is taken if causality allows it, mended where only a few reads are in its
// way (components.ts), and given up for a merge of the sessions where it says nothing. Where so ∪
// wr ∪ ww is cyclic, strongly connected components stand side by side. Main function:
// buildBaseOrder.

import type { Deadline } from '../../base/deadline.ts'
import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { orderComponents } from './components.ts'
import { mergeSessions } from './merge-sessions.ts'
import { type BaseOrder, findStaleReads, NO_STALE_READS } from './stale-reads.ts'

/** Up to this share of reads from transactions named later, the input's order is worth mending. */
const MENDABLE_SHARE = 0.1

export function buildBaseOrder(history: History, reads: ReadCheck, deadline: Deadline): BaseOrder {
  const input = inputOrder(history)
  if (reads.lateReadCount > MENDABLE_SHARE * reads.foreignReadCount) {
    const merged = mergeSessions(history, reads, deadline)
    if (merged.order.length === input.length) {
      return { ...withPositions(history, merged.order), stale: merged.stale }
    }
  }
  const ordered = reads.lateReadCount === 0 && (reads.versions?.lateCount ?? 0) === 0
  const base = ordered
    ? withPositions(history, input)
    : orderComponents(history, reads, input, [], deadline)
  base.stale = findStaleReads(history, reads, base, deadline)
  return base
}

function inputOrder(history: History): Int32Array {
  const order = new Int32Array(history.txnCount)
  let length = 0
  for (let txn = 0; txn < history.txnCount; txn++) if (history.txnCounts[txn]) order[length++] = txn
  return order.subarray(0, length)
}

function withPositions(history: History, order: Int32Array): BaseOrder {
  const position = new Int32Array(history.txnCount).fill(NONE)
  for (let p = 0; p < order.length; p++) position[order[p]!] = p
  return { order, position, component: null, groupEnd: null, stale: NO_STALE_READS }
}
