// Guesses a commit order by running the transactions as a serial database would: a session's next
// transaction runs once everything it read is in place, and a version is not overwritten while
// somebody still has to read it. A serializable history usually runs through without a hitch, and
// then the order proves every level up to ser at once. Where all sessions block each other, the one
// that lags most overwrites anyway: some reads are then stale in the order, to be judged by the level.
//
// The order always respects session order, reads-from and known version order; it is incomplete only
// if those contain a cycle. At most one wait per session at a time, so O(n + wake-ups), with no graph
// in memory. Main function: guessSerialOrder.

import { type History, INITIAL, NONE, READ, READ_LIST } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

export interface SerialGuess {
  order: Int32Array // transactions that count, in the guessed order; shorter if there is a cycle
  complete: boolean
  /** Reads that are not of the latest version in this order. */
  staleCount: number
}

const WAITS_FOR_TXN = 1
const WAITS_FOR_KEY = 2

export function guessSerialOrder(history: History, reads: ReadCheck): SerialGuess {
  return new SerialRun(history, reads).run()
}

class SerialRun {
  private readonly executed: Uint8Array // txn -> 1 once it ran
  private readonly current: Int32Array // key -> write op of the latest version, or INITIAL
  private readonly unread: Int32Array // write op -> reads of it that have not run yet
  private readonly unreadInitial: Int32Array // key -> reads of its initial value not run yet
  private readonly ownStamp: Int32Array // key -> attempt that counted ownReads
  private readonly ownReads: Int32Array // key -> reads of the current version by the txn at hand
  private readonly head: Int32Array // session -> slot of its next transaction
  private readonly waitKind: Uint8Array // session -> what it waits for, 0 if nothing
  private readonly waitsFor: Int32Array // session -> txn or key it waits for
  private readonly nextWaiting: Int32Array // session -> next session waiting for the same thing
  private readonly waitingForTxn: Int32Array // txn -> first session that waits for it
  private readonly waitingForKey: Int32Array // key -> first session that waits for it
  private readonly queue: Int32Array // ring of sessions that may run
  private queueStart = 0
  private queueLength = 0
  private attempt = 0
  private readonly order: Int32Array
  private orderLength = 0
  private staleCount = 0

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
  ) {
    const { txnCount, keyCount, opCount, sessionCount } = history
    this.executed = new Uint8Array(txnCount)
    this.current = new Int32Array(keyCount).fill(INITIAL)
    this.unread = new Int32Array(opCount)
    this.unreadInitial = new Int32Array(keyCount)
    this.ownStamp = new Int32Array(keyCount)
    this.ownReads = new Int32Array(keyCount)
    this.head = history.sessionTxnStart.slice(0, sessionCount)
    this.waitKind = new Uint8Array(sessionCount)
    this.waitsFor = new Int32Array(sessionCount)
    this.nextWaiting = new Int32Array(sessionCount).fill(NONE)
    this.waitingForTxn = new Int32Array(txnCount).fill(NONE)
    this.waitingForKey = new Int32Array(keyCount).fill(NONE)
    this.queue = new Int32Array(sessionCount + 1)
    this.order = new Int32Array(txnCount)
    this.countReaders()
  }

  run(): SerialGuess {
    const { sessionCount } = this.history
    for (let session = 0; session < sessionCount; session++) {
      this.skipUncounted(session)
      this.enqueue(session)
    }
    for (;;) {
      while (this.queueLength > 0) {
        const session = this.dequeue()
        const txn = this.headOf(session)
        if (txn !== NONE && this.mayRun(session, txn)) this.execute(session, txn)
      }
      const stuck = this.findLaggard()
      if (stuck === NONE) break
      this.stopWaiting(stuck)
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
    this.attempt++
    let writes = false
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const kind = opKind[op]!
      if (kind === READ || kind === READ_LIST) {
        const source = opSource[op]!
        if (source === NONE) continue
        if (source >= 0 && !this.executed[source]) return this.wait(session, WAITS_FOR_TXN, source)
        this.countOwnRead(opKey[op]!, source === INITIAL ? INITIAL : this.versionOf(op))
      } else {
        writes = true
        const before = appendAfter ? appendAfter[op]! : NONE
        if (before >= 0 && !this.executed[before]) return this.wait(session, WAITS_FOR_TXN, before)
      }
    }
    if (!writes) return true
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (opKind[op] === READ || opKind[op] === READ_LIST) continue
      const key = opKey[op]!
      const own = this.ownStamp[key] === this.attempt ? this.ownReads[key]! : 0
      if (this.unreadOf(key) > own) return this.wait(session, WAITS_FOR_KEY, key)
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

  private wait(session: number, kind: number, what: number): false {
    const list = kind === WAITS_FOR_TXN ? this.waitingForTxn : this.waitingForKey
    this.waitKind[session] = kind
    this.waitsFor[session] = what
    this.nextWaiting[session] = list[what]!
    list[what] = session
    return false
  }

  private wake(list: Int32Array, what: number): void {
    let session = list[what]!
    list[what] = NONE
    while (session !== NONE) {
      this.waitKind[session] = 0
      this.enqueue(session)
      session = this.nextWaiting[session]!
    }
  }

  /** Takes a session that waits for a key out of that key's list. */
  private stopWaiting(session: number): void {
    const key = this.waitsFor[session]!
    const next = this.nextWaiting[session]!
    this.waitKind[session] = 0
    let at = this.waitingForKey[key]!
    if (at === session) {
      this.waitingForKey[key] = next
      return
    }
    while (this.nextWaiting[at] !== session) at = this.nextWaiting[at]!
    this.nextWaiting[at] = next
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
      else if (left === 0) this.wake(this.waitingForKey, key)
    }
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (opKind[op] === READ || opKind[op] === READ_LIST) continue
      const key = opKey[op]!
      if (this.waitingForKey[key] !== NONE && this.unreadOf(key) === 0) {
        this.wake(this.waitingForKey, key)
      }
    }
    this.executed[txn] = 1
    this.order[this.orderLength++] = txn
    this.head[session]!++
    this.skipUncounted(session)
    this.enqueue(session)
    this.wake(this.waitingForTxn, txn)
  }

  /** Of the sessions that only wait to overwrite something, the one with most work left to do. */
  private findLaggard(): number {
    const { sessionCount, sessionTxnStart } = this.history
    let best: number = NONE
    let bestDone = 2
    for (let s = 0; s < sessionCount; s++) {
      if (this.waitKind[s] !== WAITS_FOR_KEY) continue
      const from = sessionTxnStart[s]!
      const done = (this.head[s]! - from) / (sessionTxnStart[s + 1]! - from)
      if (done < bestDone) {
        bestDone = done
        best = s
      }
    }
    return best
  }

  private enqueue(session: number): void {
    const at = (this.queueStart + this.queueLength) % this.queue.length
    this.queue[at] = session
    this.queueLength++
  }

  private dequeue(): number {
    const session = this.queue[this.queueStart]!
    this.queueStart = (this.queueStart + 1) % this.queue.length
    this.queueLength--
    return session
  }
}
