// Guesses a commit order by running the transactions as a serial database would: a session's next
// transaction runs once everything it read is in place, and a version is not overwritten while
// somebody still has to read it. A serializable history usually runs through without a hitch, and
// then the order proves every level up to ser at once. Where all sessions block each other, the one
// that lags most overwrites anyway: some reads are then stale in the order, to be judged by the level.
//
// The order always respects session order, reads-from and known version order; it is incomplete only
// if those contain a cycle. At most one wait per session at a time, so O(n + wake-ups), with no graph
// in memory. On read-modify-write histories this is Kahn's algorithm on so ∪ wr ∪ ww ∪ rw, hence a
// decision procedure for ser (MTC's CHECKSER); with real time as a further reason to wait, for sser.
// Main functions: guessSerialOrder, findTimelyOrder.

import { type History, INITIAL, NONE, READ, READ_LIST } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { SessionWaits } from './session-waits.ts'
import { TimeGate } from './time-gate.ts'

export interface SerialGuess {
  order: Int32Array // transactions that count, in the guessed order; shorter if there is a cycle
  complete: boolean
  /** Reads that are not of the latest version in this order. */
  staleCount: number
}

export function guessSerialOrder(history: History, reads: ReadCheck): SerialGuess {
  return new SerialRun(history, reads, false).run()
}

/**
 * A serial order that agrees with real time, null if the run gets stuck; on a read-modify-write
 * history that means that there is none. Needs the times of all transactions that count.
 */
export function findTimelyOrder(history: History, reads: ReadCheck): Int32Array | null {
  const { order, complete, staleCount } = new SerialRun(history, reads, true).run()
  return complete && staleCount === 0 ? order : null
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
  private staleCount = 0

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

  run(): SerialGuess {
    const { sessionCount } = this.history
    for (let session = 0; session < sessionCount; session++) {
      this.skipUncounted(session)
      this.waits.enqueue(session)
    }
    for (;;) {
      for (let session = this.waits.dequeue(); session !== NONE; session = this.waits.dequeue()) {
        const txn = this.headOf(session)
        if (txn !== NONE && this.mayRun(session, txn)) this.execute(session, txn)
      }
      const stuck = this.gate === null ? this.findLaggard() : NONE
      if (stuck === NONE) break
      this.waits.stopWaiting(stuck)
      this.execute(stuck, this.headOf(stuck))
    }
    const order = this.order.subarray(0, this.orderLength)
    let complete = true
    for (let s = 0; s < sessionCount; s++) if (this.headOf(s) !== NONE) complete = false
    return { order, complete, staleCount: this.staleCount }
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
      ? this.reads.lists!.readFrom[read]!
      : this.history.readFrom[read]!
  }

  private headOf(session: number): number {
    const slot = this.head[session]!
    return slot < this.history.sessionTxnStart[session + 1]!
      ? this.history.sessionTxns[slot]!
      : NONE
  }

  private skipUncounted(session: number): void {
    const { sessionTxns, sessionTxnStart, txnCounts } = this.history
    const end = sessionTxnStart[session + 1]!
    let slot = this.head[session]!
    while (slot < end && !txnCounts[sessionTxns[slot]!]) slot++
    this.head[session] = slot
  }

  /** True if nothing keeps the transaction from running; otherwise the session starts to wait. */
  private mayRun(session: number, txn: number): boolean {
    const { txnOpStart, opKind, opKey } = this.history
    const { opSource } = this.reads
    const appendAfter = this.reads.lists?.appendAfter ?? null
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
        const before = appendAfter ? appendAfter[op]! : NONE
        if (before >= 0 && !this.executed[before]) return this.waits.waitForTxn(session, before)
      }
    }
    if (!writes) return true
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (opKind[op] === READ || opKind[op] === READ_LIST) continue
      const key = opKey[op]!
      const own = this.ownStamp[key] === this.attempt ? this.ownReads[key]! : 0
      if (this.unreadOf(key) > own) {
        if (own > this.ownAwaiting[key]!) this.ownAwaiting[key] = own
        return this.waits.waitForKey(session, key)
      }
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

  private wakeForKey(key: number): void {
    this.ownAwaiting[key] = 0
    this.waits.wakeForKey(key)
  }

  private execute(session: number, txn: number): void {
    const { txnOpStart, opKind, opKey } = this.history
    const { opSource } = this.reads
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]!
      if (opKind[op] !== READ && opKind[op] !== READ_LIST) {
        this.current[key] = op
        continue
      }
      const source = opSource[op]!
      if (source === NONE) continue
      const version = source === INITIAL ? INITIAL : this.versionOf(op)
      const left = source === INITIAL ? --this.unreadInitial[key]! : --this.unread[version]!
      if (this.current[key] !== version) this.staleCount++
      else if (left <= this.ownAwaiting[key]!) this.wakeForKey(key)
    }
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (opKind[op] === READ || opKind[op] === READ_LIST) continue
      const key = opKey[op]!
      if (this.waits.isAwaited(key) && this.unreadOf(key) <= this.ownAwaiting[key]!) {
        this.wakeForKey(key)
      }
    }
    this.executed[txn] = 1
    this.order[this.orderLength++] = txn
    this.head[session]!++
    this.skipUncounted(session)
    this.waits.enqueue(session)
    this.waits.wakeForTxn(txn)
    this.gate?.pass(txn)
  }

  /** Of the sessions that only wait to overwrite something, the one with most work left to do. */
  private findLaggard(): number {
    const { sessionCount, sessionTxnStart } = this.history
    let best: number = NONE
    let bestDone = 2
    for (let s = 0; s < sessionCount; s++) {
      if (!this.waits.isWaitingForKey(s)) continue
      const from = sessionTxnStart[s]!
      const done = (this.head[s]! - from) / (sessionTxnStart[s + 1]! - from)
      if (done < bestDone) {
        bestDone = done
        best = s
      }
    }
    return best
  }
}
