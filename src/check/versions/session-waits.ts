// Sessions that take turns: a queue of those that may go on, and lists of those that wait, each for
// one thing at a time: until a transaction has run, or until nobody has to read the latest version
// of a key any more. Kahn's algorithm for orders in which every session is a chain, without a graph
// in memory. Main class: SessionWaits.

import { NONE } from '../../history/history.ts'

export class SessionWaits {
  private readonly next: Int32Array // session -> next session waiting for the same thing
  private readonly forTxn: Int32Array // txn -> first session that waits for it
  private readonly forKey: Int32Array // key -> first session that waits for it
  private readonly queue: Int32Array // ring of sessions that may go on
  private queueStart = 0
  private queueLength = 0

  constructor(sessionCount: number, txnCount: number, keyCount: number) {
    this.next = new Int32Array(sessionCount).fill(NONE)
    this.forTxn = new Int32Array(txnCount).fill(NONE)
    this.forKey = new Int32Array(keyCount).fill(NONE)
    this.queue = new Int32Array(sessionCount + 1)
  }

  enqueue(session: number): void {
    let at = this.queueStart + this.queueLength
    if (at >= this.queue.length) at -= this.queue.length
    this.queue[at] = session
    this.queueLength++
  }

  /** The next session that may go on, NONE if all of them wait or are done. */
  dequeue(): number {
    if (this.queueLength === 0) return NONE
    const session = this.queue[this.queueStart]!
    if (++this.queueStart === this.queue.length) this.queueStart = 0
    this.queueLength--
    return session
  }

  /** Returns false, for callers that say why they cannot go on. */
  waitForTxn(session: number, txn: number): false {
    this.next[session] = this.forTxn[txn]!
    this.forTxn[txn] = session
    return false
  }

  waitForKey(session: number, key: number): false {
    this.next[session] = this.forKey[key]!
    this.forKey[key] = session
    return false
  }

  isAwaited(key: number): boolean {
    return this.forKey[key] !== NONE
  }

  wakeForTxn(txn: number): void {
    if (this.forTxn[txn] !== NONE) this.wake(this.forTxn, txn)
  }

  wakeForKey(key: number): void {
    if (this.forKey[key] !== NONE) this.wake(this.forKey, key)
  }

  private wake(list: Int32Array, what: number): void {
    let session = list[what]!
    list[what] = NONE
    while (session !== NONE) {
      this.enqueue(session)
      session = this.next[session]!
    }
  }
}
