// Makes a guessed order better by moving the writers that stale reads complain about. A read by t3
// of t1's version, with t2's newer one in between, would be of the latest version if t2 stood
// before t1, or after t3; whichever is nearer is probably where it was. All these wishes are put to
// the order at once, and those that contradict each other or the causal order are dropped. One round leaves few stale reads on a serializable history; each round costs a run of Tarjan's
// algorithm and a replay, and a round that does not halve the stale reads is the last. Saves the
// causal levels most of their questions. O(n + newer versions) a round. Main function: repairOrder.

import type { Deadline } from '../../base/deadline.ts'
import type { History } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { type ForcedEdge, orderByWishes } from './components.ts'
import type { BaseOrder } from './stale-reads.ts'
import { findStaleReads } from './stale-reads.ts'

const MAX_ROUNDS = 3
/** With fewer stale reads than one in so many transactions, it is not worth it. */
const TXNS_PER_STALE_READ = 256

/**
 * The order itself where it has cycles, where it is that of the input, whose stale reads are not
 * for want of a better one, or where moving writers does not help.
 */
export function repairOrder(
  history: History,
  reads: ReadCheck,
  base: BaseOrder,
  deadline: Deadline,
): BaseOrder {
  if (reads.lateReadCount === 0) return base
  let best = base
  for (let round = 0; round < MAX_ROUNDS && best.component === null; round++) {
    const staleCount = best.stale.read.length
    if (staleCount * TXNS_PER_STALE_READ < history.txnCount) break
    const next = orderByWishes(
      history,
      reads,
      best,
      findWishes(history, reads, best, deadline),
      deadline,
    )
    next.stale = findStaleReads(history, reads, next, deadline)
    if (next.stale.read.length < staleCount) best = next
    if (next.stale.read.length * 2 > staleCount) break
  }
  return best
}

function findWishes(
  { opTxn }: History,
  { opSource }: ReadCheck,
  { stale, position }: BaseOrder,
  deadline: Deadline,
): ForcedEdge[] {
  const wishes: ForcedEdge[] = []
  for (let i = 0; i < stale.read.length; i++) {
    const read = stale.read[i]!
    const reader = opTxn[read]!
    const source = opSource[read]!
    deadline.step(1 + 8 * (stale.newerStart[i + 1]! - stale.newerStart[i]!))
    for (let entry = stale.newerStart[i]!; entry < stale.newerStart[i + 1]!; entry++) {
      const newer = stale.newer[entry]!
      const tooEarly = position[reader]! - position[newer]!
      const isLate = source >= 0 && position[newer]! - position[source]! < tooEarly
      if (isLate) wishes.push({ from: newer, to: source, read })
      else wishes.push({ from: reader, to: newer, read })
    }
  }
  return wishes
}
