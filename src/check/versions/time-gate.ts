// Real time for a run over sessions: a transaction may run once everything that finished before it
// started has run. Finishes do not decrease within a session, so the earliest one still to come is
// the least over the sessions' next finishes: a small tournament tree over the sessions answers in
// O(1) and is kept in O(log k) per transaction. Sessions that are too early wait in a heap by
// start. Times are closed intervals; a transaction that is indeterminate never finishes. Main
// class: TimeGate. isTimely tests an order that is there already.

import { COMMITTED, type History, NONE } from '../../history/history.ts'
import type { SessionWaits } from './session-waits.ts'

export class TimeGate {
  private readonly next: Int32Array // session -> slot of its next transaction with a finish
  private readonly tree: Float64Array // least finish of a subtree; leaves from `size` on
  private readonly size: number
  private readonly waiting: number[] = [] // binary heap of sessions by the start they wait with
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
    for (let session = 0; session < sessionCount; session++) this.refresh(session)
    for (let node = size - 1; node >= 1; node--) this.pull(node)
  }

  /** True if the session's transaction may run as far as time goes; else the session waits. */
  admits(session: number, txn: number): boolean {
    const start = this.history.txnStartTime![txn]!
    if (this.tree[1]! >= start) return true
    this.start[session] = start
    this.push(session)
    return false
  }

  /** The transaction ran: wakes the sessions that waited for its finish. */
  pass(txn: number): void {
    const session = this.history.txnSession[txn]!
    if (this.history.sessionTxns[this.next[session]!] !== txn) return // it has no finish
    this.next[session]!++
    this.refresh(session)
    for (let node = (this.size + session) >> 1; node >= 1; node >>= 1) this.pull(node)
    while (this.waiting.length > 0 && this.start[this.waiting[0]!]! <= this.tree[1]!) {
      this.waits.enqueue(this.pop())
    }
  }

  private endOf(session: number): number {
    return this.history.sessionTxnStart[session + 1]!
  }

  /** Moves on to the session's next transaction that finishes. */
  private refresh(session: number): void {
    const { sessionTxns, txnCounts, txnStatus, txnFinishTime } = this.history
    const end = this.endOf(session)
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

  private push(session: number): void {
    const { waiting, start } = this
    let at = waiting.length
    waiting.push(session)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (start[waiting[parent]!]! <= start[session]!) break
      waiting[at] = waiting[parent]!
      at = parent
    }
    waiting[at] = session
  }

  private pop(): number {
    const { waiting, start } = this
    const first = waiting[0] ?? NONE
    const last = waiting.pop()!
    const length = waiting.length
    if (length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= length) break
      if (child + 1 < length && start[waiting[child + 1]!]! < start[waiting[child]!]!) child++
      if (start[waiting[child]!]! >= start[last]!) break
      waiting[at] = waiting[child]!
      at = child
    }
    waiting[at] = last
    return first
  }
}

/** True if nothing in the order stands after something that started only when it had finished. */
export function isTimely(history: History, order: Int32Array): boolean {
  const { txnStartTime, txnFinishTime, txnStatus } = history
  let latestStart = Number.NEGATIVE_INFINITY
  for (const txn of order) {
    if (txnStatus[txn] === COMMITTED && txnFinishTime![txn]! < latestStart) return false
    if (txnStartTime![txn]! > latestStart) latestStart = txnStartTime![txn]!
  }
  return true
}
