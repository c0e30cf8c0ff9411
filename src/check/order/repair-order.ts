// Makes a guessed order better by moving the writers that stale reads complain about. A read by t3
// of t1's version, with t2's newer one in between, would be of the latest version if t2 stood
// before t1, or after t3; whichever is nearer is probably where it was. So either t2 moves to right
// before t1, or t3 to right before t2, and with it all that must come before it and does not yet
// (moves.ts). A round ends with a replay, and one that does not halve the stale reads is the last.
// Saves the causal levels most of their questions. O(n + what moves) a round. Main function:
// repairOrder.

import type { Deadline } from '../../base/deadline.ts'
import type { History } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { Moves } from './moves.ts'
import { type BaseOrder, findStaleAgain, type StaleReads } from './stale-reads.ts'

const MAX_ROUNDS = 5
/** With fewer stale reads than one in so many transactions, it is not worth it. */
const TXNS_PER_STALE_READ = 1024

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
  if (reads.lateReadCount === 0 || base.component !== null) return base
  let best = base
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const staleCount = best.stale.read.length
    if (staleCount * TXNS_PER_STALE_READ < history.txnCount) break
    const moves = new Moves(history, reads, best)
    moveWriters(history, reads, best.stale, moves, deadline)
    const next = moves.sorted()
    next.stale = findStaleAgain(history, reads, next, best.stale, moves.moved, deadline)
    if (next.stale.read.length < staleCount) best = next
    if (next.stale.read.length * 2 > staleCount) break
  }
  return best
}

function moveWriters(
  { opTxn }: History,
  { opSource }: ReadCheck,
  { read, newer, newerStart }: StaleReads,
  moves: Moves,
  deadline: Deadline,
): void {
  const { label } = moves
  for (let i = 0; i < read.length; i++) {
    const reader = opTxn[read[i]!]!
    const source = opSource[read[i]!]!
    deadline.step(8 + 8 * (newerStart[i + 1]! - newerStart[i]!))
    for (let entry = newerStart[i]!; entry < newerStart[i + 1]!; entry++) {
      const other = newer[entry]!
      const tooEarly = label[reader]! - label[other]!
      const tooLate = source >= 0 ? label[other]! - label[source]! : Number.POSITIVE_INFINITY
      if (tooEarly <= 0 || tooLate <= 0) continue // moves so far have seen to it
      if (tooLate < tooEarly) moves.tryMove(other, source)
      else moves.tryMove(reader, other)
    }
  }
}
