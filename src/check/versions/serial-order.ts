// Finds a serial order by running the transactions as a serial database would: a session's next
// transaction runs once everything it read is in place, and a version is not replaced while
// somebody still has to read it; for sser it also waits for all that finished before it started. If
// everything has run, that order proves ser (sser) and all below it.
//
// On read-modify-write histories this is Kahn's algorithm on so ∪ wr ∪ ww ∪ rw (∪ rt), hence a
// decision procedure (MTC's CHECKSER and CHECKSSER); on others a run that gets stuck says nothing.
// At most one wait per session at a time, so O(n + wake-ups), for sser O(n log k) with k sessions,
// and no graph in memory. Main function: findSerialOrder.

import type { Deadline } from '../../base/deadline.ts'
import {
  APPEND,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_LIST,
  WRITE,
} from '../../history/history.ts'
import { nextTxn } from '../order/session-head.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { SessionWaits } from './session-waits.ts'
import { TimeGate } from './time-gate.ts'

/** The transactions that count in a serial order, null if the run gets stuck. */
export function findSerialOrder(
  history: History,
  reads: ReadCheck,
  realTime: boolean,
  deadline: Deadline,
): Int32Array | null {
  return new SerialRun(history, reads, realTime).run(deadline)
}

class SerialRun {
  private readonly executed: Uint8Array // txn -> 1 once it ran
  private readonly current: Int32Array // key -> write op of the latest version, or INITIAL
  private readonly unread: Int32Array // write op -> reads of it that have not run yet
  private readonly unreadInitial: Int32Array // key -> reads of its initial value not run yet
  private readonly ownStamp: Int32Array // key -> attempt that counted ownReads
  private readonly ownReads: Int32Array // key -> reads of the current version by the txn at hand
  private readonly ownAwaiting: Int32Array // key -> most reads that one who waits for it has itself
  private readonly head: Int32Array // session -> slot of its next transaction
  private readonly waits: SessionWaits
  private readonly gate: TimeGate | null // null if real time plays no part
  private attempt = 0
  private readonly order: Int32Array
  private orderLength = 0

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    realTime: boolean,
  ) {
    const { txnCount, keyCount, opCount, sessionCount } = history
    this.executed = new Uint8Array(txnCount)
    this.current = new Int32Array(keyCount).fill(INITIAL)
    this.unread = new Int32Array(opCount)
    this.unreadInitial = new Int32Array(keyCount)
    this.ownStamp = new Int32Array(keyCount)
    this.ownReads = new Int32Array(keyCount)
    this.ownAwaiting = new Int32Array(keyCount)
    this.head = history.sessionTxnStart.slice(0, sessionCount)
    this.waits = new SessionWaits(sessionCount, txnCount, keyCount)
    this.gate = realTime ? new TimeGate(history, this.waits) : null
    this.order = new Int32Array(txnCount)
    this.countReaders()
  }

  run(deadline: Deadline): Int32Array | null {
    const { sessionCount } = this.history
    for (let session = 0; session < sessionCount; session++) this.waits.enqueue(session)
    for (let session = this.waits.dequeue(); session !== NONE; session = this.waits.dequeue()) {
      deadline.step(4)
      const txn = nextTxn(this.history, this.head, session)
      if (txn !== NONE && this.mayRun(session, txn)) this.execute(session, txn)
    }
    for (let s = 0; s < sessionCount; s++)
      if (nextTxn(this.history, this.head, s) !== NONE) return null
    return this.order.subarray(0, this.orderLength)
  }

  private countReaders(): void {
    const { opSource } = this.reads
    const { opCount, opKey } = this.history
    for (let op = 0; op < opCount; op++) {
      const source = opSource[op]!
      if (source === NONE) continue
      if (source === INITIAL) this.unreadInitial[opKey[op]!]!++
      else this.unread[this.versionOf(op)]!++
    }
  }

  /** The write op that a sound read saw. */
  private versionOf(read: number): number {
    return this.history.opKind[read] === READ_LIST
      ? this.reads.versions!.readFrom[read]!
      : this.history.readFrom[read]!
  }

  /** True if nothing keeps the transaction from running; otherwise the session starts to wait. */
  private mayRun(session: number, txn: number): boolean {
    const { txnOpStart, opKind, opKey } = this.history
    const { opSource } = this.reads
    const writeAfter = this.reads.versions?.writeAfter ?? null
    const end = txnOpStart[txn + 1]!
    if (this.gate !== null && !this.gate.admits(session, txn)) return false
    this.attempt++
    let writes = false
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const kind = opKind[op]!
      if (kind === READ || kind === READ_LIST) {
        const source = opSource[op]!
        if (source === NONE) continue
        if (source >= 0 && !this.executed[source]) return this.waits.waitForTxn(session, source)
        this.countOwnRead(opKey[op]!, source === INITIAL ? INITIAL : this.versionOf(op))
      } else {
        writes = true
        const before = writeAfter ? writeAfter[op]! : NONE
        if (before >= 0 && !this.executed[before]) return this.waits.waitForTxn(session, before)
      }
    }
    return !writes || this.mayReplace(session, txn)
  }

  /** True if nobody else has to read a version that the transaction replaces. */
  private mayReplace(session: number, txn: number): boolean {
    const { txnOpStart, opKind, opKey } = this.history
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
      const key = opKey[op]!
      const own = this.ownStamp[key] === this.attempt ? this.ownReads[key]! : 0
      if (this.unreadOf(key) <= own) continue
      if (own > this.ownAwaiting[key]!) this.ownAwaiting[key] = own
      return this.waits.waitForKey(session, key)
    }
    return true
  }

  private countOwnRead(key: number, version: number): void {
    if (this.current[key] !== version) return
    if (this.ownStamp[key] !== this.attempt) {
      this.ownStamp[key] = this.attempt
      this.ownReads[key] = 0
    }
    this.ownReads[key]!++
  }

  /** Reads of the key's latest version that have not run yet. */
  private unreadOf(key: number): number {
    const version = this.current[key]!
    return version === INITIAL ? this.unreadInitial[key]! : this.unread[version]!
  }

  private execute(session: number, txn: number): void {
    const { txnOpStart, opKind, opKey } = this.history
    const { opSource } = this.reads
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]!
      if (opKind[op] === WRITE || opKind[op] === APPEND) {
        this.current[key] = op
        continue
      }
      const source = opSource[op]!
      if (source === NONE) continue
      if (source === INITIAL) this.unreadInitial[key]!--
      else this.unread[this.versionOf(op)]!--
    }
    // Whoever waits for a key may go on if only reads of its own are left.
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]!
      if (!this.waits.isAwaited(key) || this.unreadOf(key) > this.ownAwaiting[key]!) continue
      this.ownAwaiting[key] = 0
      this.waits.wakeForKey(key)
    }
    this.executed[txn] = 1
    this.order[this.orderLength++] = txn
    this.head[session]!++
    this.waits.enqueue(session)
    this.waits.wakeForTxn(txn)
    this.gate?.pass(txn)
  }
}
