// Which stale reads really force something against the order: the reader had to see a writer that
// it skipped. At rc, because an earlier read of it saw that writer; at ra, because any read of it
// did, or that writer comes before it in its session; at cc, because that writer is among its
// causes. Main function: confirmStale.

import { BudgetExceeded } from '../../base/errors.ts'
import { NONE } from '../../history/history.ts'
import type { ReaderRange, ReaderRecords } from '../../spill/by-position.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import { CauseClocks } from './cause-clocks.ts'
import type { WeakSpilledLevel } from './levels.ts'

/** `from` must come before `to`, though it does not; all are positions. */
export interface BackEdge {
  readonly from: number
  readonly to: number // NONE: the initial transaction, which nothing can come before
  readonly reader: number
}

/** More of them are not worth ordering anew. */
const MAX_EDGES = 1 << 20

export function confirmStale(
  spilled: SpilledHistory,
  order: CommitOrder,
  level: WeakSpilledLevel,
  records: ReaderRecords,
  onRange: (range: number) => void,
): BackEdge[] {
  const found: BackEdge[] = []
  const clocks = level === 'cc' ? new CauseClocks(spilled, order) : null
  for (let range = 0; range < records.rangeCount; range++) {
    onRange(range)
    if (clocks === null && !records.hasStale(range)) continue
    const readers = records.load(range)
    const { headStale, staleNext, start } = readers
    const end = Math.min(headStale.length, spilled.txnCount - start)
    for (let at = 0; at < end; at++) {
      clocks?.visit(start + at, readers)
      for (let stale = headStale[at]!; stale !== NONE; stale = staleNext.data[stale]!) {
        confirm(spilled, order, level, readers, at, stale, clocks, found)
      }
    }
    if (found.length > MAX_EDGES) {
      throw new BudgetExceeded('too many reads contradict the order that was tried')
    }
  }
  return found
}

function confirm(
  { txnSession }: SpilledHistory,
  { txnAt }: CommitOrder,
  level: WeakSpilledLevel,
  readers: ReaderRange,
  at: number,
  stale: number,
  clocks: CauseClocks | null,
  found: BackEdge[],
): void {
  const { skipped, skippedStart, staleOp, staleSource, start } = readers
  const sessionAt = (position: number) =>
    txnSession.data[txnAt === null ? position : txnAt[position]!]!
  const reader = start + at
  const to = staleSource.data[stale]!
  const limit = level === 'rc' ? staleOp.data[stale]! : Number.POSITIVE_INFINITY
  for (let i = skippedStart.data[stale]!; i < skippedStart.data[stale + 1]!; i++) {
    const from = skipped.data[i]!
    const isForced =
      clocks !== null
        ? clocks.isCause(from)
        : isRead(readers, at, from, limit) ||
          (level === 'ra' && sessionAt(from) === sessionAt(reader))
    if (isForced) found.push({ from, to, reader })
  }
}

/** Whether the reader read from there by an operation before `limit`. */
function isRead(readers: ReaderRange, at: number, from: number, limit: number): boolean {
  const { headSource, sourceNext, sourceAt, sourceOp } = readers
  for (let i = headSource[at]!; i !== NONE; i = sourceNext.data[i]!) {
    if (sourceAt.data[i] === from && sourceOp.data[i]! < limit) return true
  }
  return false
}
