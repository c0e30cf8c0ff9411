// Real time for a run over sessions: a transaction may run once everything that finished before it
// started has run. Finishes do not decrease within a session, so the earliest one still to come is
// the least over the sessions' next finishes: a small tournament tree over the sessions answers in
// O(1) and is kept in O(log k) per transaction. Sessions that are too early wait in a heap by
// start. Times are closed intervals; a transaction that is indeterminate never finishes. Main
// class: TimeGate. isTimely tests an order that is there already.

import { siftDown, siftUp } from '../../graph/toposort.ts'
import { COMMITTED, type History } from '../../history/history.ts'
import type { SessionWaits } from './session-waits.ts'

export class TimeGate {
  private readonly next: Int32Array // session -> slot of its next transaction with a finish
  private readonly tree: Float64Array // least finish of a subtree; leaves from `size` on
  private readonly size: number
  private readonly waiting: Int32Array // binary heap of sessions by the start they wait with
  private waitingCount = 0
  private readonly start: Float64Array // session -> start of the transaction that waits

  constructor(
    private readonly history: History,
    private readonly waits: SessionWaits,
  ) {
    const { sessionCount } = history
    let size = 1
    while (size < sessionCount) size *= 2
    this.size = size
    this.tree = new Float64Array(2 * size).fill(Number.POSITIVE_INFINITY)
    this.next = history.sessionTxnStart.slice(0, sessionCount)
    this.start = new Float64Array(sessionCount)
    this.waiting = new Int32Array(sessionCount)
    for (let session = 0; session < sessionCount; session++) this.refresh(session)
    for (let node = size - 1; node >= 1; node--) this.pull(node)
  }

  /** True if the session's transaction may run as far as time goes; else the session waits. */
  admits(session: number, txn: number): boolean {
    const start = this.history.txnStartTime![txn]!
    if (this.tree[1]! >= start) return true
    this.start[session] = start
    siftUp(this.waiting, this.waitingCount++, session, this.start)
    return false
  }

  /** The transaction ran: wakes the sessions that waited for its finish. */
  pass(txn: number): void {
    const session = this.history.txnSession[txn]!
    if (this.history.sessionTxns[this.next[session]!] !== txn) return // it has no finish
    this.next[session]!++
    this.refresh(session)
    for (let node = (this.size + session) >> 1; node >= 1; node >>= 1) this.pull(node)
    while (this.waitingCount > 0 && this.start[this.waiting[0]!]! <= this.tree[1]!) {
      this.waits.enqueue(this.pop())
    }
  }

  /** Moves on to the session's next transaction that finishes. */
  private refresh(session: number): void {
    const { sessionTxns, txnCounts, txnStatus, txnFinishTime } = this.history
    const end = this.history.sessionTxnStart[session + 1]!
    let slot = this.next[session]!
    while (slot < end) {
      const txn = sessionTxns[slot]!
      if (txnCounts[txn] && txnStatus[txn] === COMMITTED) break
      slot++
    }
    this.next[session] = slot
    this.tree[this.size + session] =
      slot < end ? txnFinishTime![sessionTxns[slot]!]! : Number.POSITIVE_INFINITY
  }

  private pull(node: number): void {
    this.tree[node] = Math.min(this.tree[2 * node]!, this.tree[2 * node + 1]!)
  }

  private pop(): number {
    const { waiting } = this
    const first = waiting[0]!
    const last = waiting[--this.waitingCount]!
    if (this.waitingCount > 0) siftDown(waiting, this.waitingCount, last, this.start)
    return first
  }
}

/** True if nothing in the order stands after something that started only when it had finished. */
export function isTimely(
  { txnStartTime, txnFinishTime, txnStatus }: History,
  order: Int32Array,
  from = 0,
  to = order.length,
): boolean {
  let latestStart = Number.NEGATIVE_INFINITY
  for (let i = from; i < to; i++) {
    const txn = order[i]!
    if (txnStatus[txn] === COMMITTED && txnFinishTime![txn]! < latestStart) return false
    if (txnStartTime![txn]! > latestStart) latestStart = txnStartTime![txn]!
  }
  return true
}
