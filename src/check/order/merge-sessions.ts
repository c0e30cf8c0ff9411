// An order for histories whose input says nothing about when things happened: runs the sessions
// side by side, always the one that seems to be furthest behind, and lets a transaction run once
// everything it read is there. It always respects session order, reads-from and known version
// order; it ends early only if those contain a cycle.
//
// Where a session stands is at first how much of it has run; sessions of one run advance at about
// the same pace. But about is not enough: a session that is ahead of its time overwrites what
// others have yet to read. So the run learns from what it sees go wrong. A transaction that has to
// wait for another: one of the two sessions is early, the other late. A read that finds its version
// overwritten: either the overwriting session is early, or late behind the version's writer,
// whichever is the smaller mistake. The clocks of both sessions are put right by half the mistake.
// On a serializable history this leaves a fifth of the stale reads that an even pace leaves.
//
// O(n log k): a heap of sessions; a session waits for one transaction at a time, so no graph is
// built. Main function: mergeSessions.

import { Deadline } from '../../base/deadline.ts'
import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { nextTxn } from './session-head.ts'
import { type StaleReads, VersionReplay } from './stale-reads.ts'

export interface Merged {
  /** Transactions that count, in the order they ran; fewer than all if there is a cycle. */
  order: Int32Array
  stale: StaleReads
}

export function mergeSessions(
  history: History,
  reads: ReadCheck,
  deadline: Deadline = Deadline.none(),
): Merged {
  return new Merge(history, reads).run(deadline)
}

/** Of a mistake that was seen, how much each of the two clocks is changed. */
const CORRECTION = 0.5
/** Before the transactions stand NONE and INITIAL, so that what has no writer needs no branch. */
const BEFORE = 2

class Merge {
  private readonly ranAt: Int32Array // txn -> when it ran, NONE before
  private readonly hasRun: Uint8Array // txn + BEFORE -> 1 once it has run; no writer always has
  private readonly head: Int32Array // session -> slot of its next transaction
  private readonly waiting: Int32Array // txn -> first session that waits for it
  private readonly nextWaiting: Int32Array // session -> next session that waits for the same
  private readonly versions: VersionReplay
  private readonly ready: Int32Array // heap of the sessions that may run
  private readonly clock: Float64Array // session -> time of its next transaction, as believed
  private readonly early: Float64Array // session -> by how much it runs ahead of an even pace
  private readonly maxCorrection: number // for one stale read, whose verdict may be wrong
  private readyCount = 0
  private now = 0 // transactions that ran

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
  ) {
    const { txnCount, sessionCount } = history
    this.ranAt = new Int32Array(txnCount).fill(NONE)
    this.hasRun = new Uint8Array(BEFORE + txnCount).fill(1, 0, BEFORE)
    this.head = history.sessionTxnStart.slice(0, sessionCount)
    this.waiting = new Int32Array(txnCount).fill(NONE)
    this.nextWaiting = new Int32Array(sessionCount).fill(NONE)
    this.versions = new VersionReplay(history, reads, null)
    this.ready = new Int32Array(sessionCount + 1)
    this.clock = new Float64Array(sessionCount)
    this.early = new Float64Array(sessionCount)
    this.maxCorrection = 2 * sessionCount // about two transactions of a session
  }

  run(deadline: Deadline): Merged {
    const { sessionCount, txnCount } = this.history
    const { head } = this
    const order = new Int32Array(txnCount)
    for (let session = 0; session < sessionCount; session++) this.enqueue(session)
    while (this.readyCount > 0) {
      deadline.step(4)
      const session = this.ready[0]!
      const txn = nextTxn(this.history, head, session)
      if (txn === NONE) {
        this.dequeue()
        continue
      }
      const missing = this.findMissing(txn)
      if (missing !== NONE) {
        this.dequeue()
        this.nextWaiting[session] = this.waiting[missing]!
        this.waiting[missing] = session
        this.learnFromWait(session, missing)
        continue
      }
      this.replay(session, txn)
      order[this.now] = txn
      this.ranAt[txn] = this.now++
      this.hasRun[BEFORE + txn] = 1
      head[session]!++
      // It stays in the heap: sinking to its new place is half the work of leaving and coming back.
      this.clock[session] = this.nextTime(session)
      this.sink(session)
      for (let next = this.waiting[txn]!; next !== NONE; ) {
        const after = this.nextWaiting[next]!
        this.enqueue(next)
        next = after
      }
    }
    return { order: order.subarray(0, this.now), stale: this.versions.finish() }
  }

  /** A transaction that has to run before this one and has not, or NONE. */
  private findMissing(txn: number): number {
    const { txnOpStart } = this.history
    const { opSource, versions } = this.reads
    const { hasRun } = this
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (hasRun[BEFORE + opSource[op]!] === 0) return opSource[op]!
      if (versions !== null && hasRun[BEFORE + versions.writeAfter[op]!] === 0) {
        return versions.writeAfter[op]!
      }
    }
    return NONE
  }

  private replay(session: number, txn: number): void {
    const { versions } = this
    let i = versions.staleCount
    versions.run(txn)
    for (; i < versions.staleCount; i++) {
      const newer = versions.latestOf(i)
      if (newer !== NONE) this.learnFromStaleRead(session, versions.sourceOf(i), newer)
    }
  }

  /** The version of `source` was overwritten by `newer` before the session could read it. */
  private learnFromStaleRead(reader: number, source: number, newer: number): void {
    const { txnSession } = this.history
    const { ranAt, early, maxCorrection } = this
    const writer = txnSession[newer]!
    const tooEarly = this.now - ranAt[newer]!
    const tooLate = source >= 0 ? ranAt[newer]! - ranAt[source]! : Number.POSITIVE_INFINITY
    if (tooEarly <= tooLate) {
      const step = Math.min(tooEarly * CORRECTION, maxCorrection)
      early[writer]! += step
      early[reader]! -= step
    } else {
      const step = Math.min(tooLate * CORRECTION, maxCorrection)
      early[writer]! -= step
      early[txnSession[source]!]! += step
    }
  }

  /** The session has come to a transaction that has to wait for `missing`. */
  private learnFromWait(session: number, missing: number): void {
    const late = this.history.txnSession[missing]!
    const step = (this.timeOf(late, this.history.txnIndex[missing]!) - this.now) * CORRECTION
    if (step <= 0) return
    this.early[late]! -= step
    this.early[session]! += step
  }

  /** When the session's transaction of that index would run at an even pace, put right. */
  private timeOf(session: number, index: number): number {
    const { sessionTxnStart, txnCount } = this.history
    const count = sessionTxnStart[session + 1]! - sessionTxnStart[session]!
    return (index / count) * txnCount + this.early[session]!
  }

  private nextTime(session: number): number {
    return this.timeOf(session, this.head[session]! - this.history.sessionTxnStart[session]!)
  }

  private enqueue(session: number): void {
    const { ready, clock } = this
    const time = this.nextTime(session)
    clock[session] = time
    let at = this.readyCount++
    while (at > 0) {
      const up = (at - 1) >> 1
      if (clock[ready[up]!]! <= time) break
      ready[at] = ready[up]!
      at = up
    }
    ready[at] = session
  }

  /** Takes the first session out of the heap. */
  private dequeue(): void {
    const last = this.ready[--this.readyCount]!
    if (this.readyCount > 0) this.sink(last)
  }

  /** Puts the session where it belongs, beginning at the top. */
  private sink(session: number): void {
    const { ready, clock, readyCount } = this
    const time = clock[session]!
    let at = 0
    for (;;) {
      let down = at * 2 + 1
      if (down >= readyCount) break
      if (down + 1 < readyCount && clock[ready[down + 1]!]! < clock[ready[down]!]!) down++
      if (clock[ready[down]!]! >= time) break
      ready[at] = ready[down]!
      at = down
    }
    ready[at] = session
  }
}
