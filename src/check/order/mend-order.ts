// Mends an order that contradicts some of the edges that it has to respect, beside session order,
// reads-from and known version order. Where there are few, and no cycle, what stands too late moves
// to an earlier place (moves.ts), which costs next to nothing. Else components and order are
// computed anew (components.ts), but only in stretches that a contradicting edge spans: whatever
// lies outside all of them keeps its place. Main function: mendOrder.

import type { Deadline } from '../../base/deadline.ts'
import type { History } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { type ForcedEdge, orderComponents } from './components.ts'
import { Moves } from './moves.ts'
import { type BaseOrder, findMovedReads, findStaleAnew, findStaleReads } from './stale-reads.ts'

/** Moves that look at more than this share of the transactions are given up. */
const MOST_VISITS = 0.5

/** The stale reads that come with the order are those that may be stale in a new way. */
export function mendOrder(
  history: History,
  reads: ReadCheck,
  current: BaseOrder,
  extra: readonly ForcedEdge[],
  deadline: Deadline,
): BaseOrder {
  if (current.component === null) {
    const moved = mendByMoves(history, reads, current, extra, deadline)
    if (moved !== null) return moved
  }
  const spans = current.component !== null ? null : findSpans(current, extra)
  const mended = orderComponents(history, reads, current.order, extra, deadline, true, spans)
  if (spans === null || mended.component !== null) {
    mended.stale = findStaleReads(history, reads, mended, deadline)
    return mended
  }
  const moved = new Uint8Array(history.txnCount) // txn -> 1 if it is in a stretch
  for (let p = 0; p < spans.length; p++) moved[current.order[p]!] = spans[p]!
  mended.stale = findMovedReads(history, reads, mended, moved, spans.indexOf(1), deadline)
  return mended
}

/** Null if that is not possible, or would take long. */
function mendByMoves(
  history: History,
  reads: ReadCheck,
  current: BaseOrder,
  extra: readonly ForcedEdge[],
  deadline: Deadline,
): BaseOrder | null {
  const moves = new Moves(history, reads, current, extra)
  const { label } = moves
  for (const { from, to } of extra) {
    deadline.step(4)
    if (label[from]! < label[to]!) continue
    if (!moves.tryMove(from, to) || moves.visits > MOST_VISITS * history.txnCount) return null
  }
  const mended = moves.sorted()
  mended.stale = findStaleAnew(history, reads, mended, moves.moved, deadline)
  return mended
}

/** position -> 1 if an edge that leads backwards spans it. */
function findSpans({ order, position }: BaseOrder, extra: readonly ForcedEdge[]): Uint8Array {
  const change = new Int32Array(order.length + 1) // position -> spans that begin or end there
  for (const edge of extra) {
    const from = position[edge.from]!
    const to = position[edge.to]!
    if (from < to) continue
    change[to]!++
    change[from + 1]!--
  }
  const spanned = new Uint8Array(order.length)
  let open = 0
  for (let p = 0; p < order.length; p++) {
    open += change[p]!
    spanned[p] = open > 0 ? 1 : 0
  }
  return spanned
}
