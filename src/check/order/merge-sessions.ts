// An order for histories whose input says nothing about when things happened: runs the sessions
// side by side, always the one that has come least far, and lets a transaction run once everything
// it read is there. Sessions of one run advance at about the same pace, so the outcome is close to
// what happened, and few reads are stale in it. It always respects session order, reads-from and
// known version order; it ends early only if those contain a cycle. O(n log k): a heap of sessions;
// a session waits for one transaction at a time, so no graph is built. Main function:
// mergeSessions.

import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { nextTxn } from './session-head.ts'

/** Transactions that count, in the order they ran; fewer than all of them if there is a cycle. */
export function mergeSessions(history: History, reads: ReadCheck): Int32Array {
  return new Merge(history, reads).run()
}

class Merge {
  private readonly ran: Uint8Array // txn -> 1 once it ran
  private readonly head: Int32Array // session -> slot of its next transaction
  private readonly waiting: Int32Array // txn -> first session that waits for it
  private readonly nextWaiting: Int32Array // session -> next session that waits for the same
  private readonly ready: Int32Array // heap of the sessions that may run
  private readonly progress: Float64Array // session -> share of its transactions that ran
  private readyCount = 0

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
  ) {
    const { txnCount, sessionCount } = history
    this.ran = new Uint8Array(txnCount)
    this.head = history.sessionTxnStart.slice(0, sessionCount)
    this.waiting = new Int32Array(txnCount).fill(NONE)
    this.nextWaiting = new Int32Array(sessionCount).fill(NONE)
    this.ready = new Int32Array(sessionCount + 1)
    this.progress = new Float64Array(sessionCount)
  }

  run(): Int32Array {
    const { sessionCount, txnCount } = this.history
    const { head } = this
    const order = new Int32Array(txnCount)
    let length = 0
    for (let session = 0; session < sessionCount; session++) this.enqueue(session)
    while (this.readyCount > 0) {
      const session = this.dequeue()
      const txn = nextTxn(this.history, head, session)
      if (txn === NONE) continue
      const missing = this.findMissing(txn)
      if (missing !== NONE) {
        this.nextWaiting[session] = this.waiting[missing]!
        this.waiting[missing] = session
        continue
      }
      this.ran[txn] = 1
      order[length++] = txn
      head[session]!++
      this.enqueue(session)
      for (let next = this.waiting[txn]!; next !== NONE; next = this.nextWaiting[next]!) {
        this.enqueue(next)
      }
    }
    return order.subarray(0, length)
  }

  /** A transaction that has to run before this one and has not, or NONE. */
  private findMissing(txn: number): number {
    const { txnOpStart } = this.history
    const { opSource, lists } = this.reads
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const source = opSource[op]!
      if (source >= 0 && !this.ran[source]) return source
      if (lists === null) continue
      const before = lists.appendAfter[op]!
      if (before >= 0 && !this.ran[before]) return before
    }
    return NONE
  }

  private enqueue(session: number): void {
    const { ready, progress } = this
    const from = this.history.sessionTxnStart[session]!
    const count = this.history.sessionTxnStart[session + 1]! - from
    progress[session] = (this.head[session]! - from) / count
    let at = this.readyCount++
    while (at > 0) {
      const up = (at - 1) >> 1
      if (progress[ready[up]!]! <= progress[session]!) break
      ready[at] = ready[up]!
      at = up
    }
    ready[at] = session
  }

  private dequeue(): number {
    const { ready, progress } = this
    const first = ready[0]!
    const count = --this.readyCount
    const last = ready[count]!
    let at = 0
    for (;;) {
      let down = at * 2 + 1
      if (down >= count) break
      if (down + 1 < count && progress[ready[down + 1]!]! < progress[ready[down]!]!) down++
      if (progress[ready[down]!]! >= progress[last]!) break
      ready[at] = ready[down]!
      at = down
    }
    ready[at] = last
    return first
  }
}
