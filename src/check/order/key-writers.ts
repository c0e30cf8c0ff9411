// For every key, the transactions that write it, sorted by session and then session order: answers
// "the last transaction of session s before its i-th that writes x" by binary search. Built in one
// counting sort, only when some read has to be judged against other writers of its key. In another
// order, it says no more than who they are.

import { APPEND, type History, NONE, WRITE } from '../../history/history.ts'

export class KeyWriters {
  readonly start: Int32Array // key -> first slot; one more entry at the end
  readonly txn: Int32Array // slot -> transaction, by session and session order within a key

  /** @param order all of them, in the order that those of each key are to have */
  constructor(
    private readonly history: History,
    order: Int32Array = history.sessionTxns,
  ) {
    const { keyCount, opKind, opKey, txnCounts, txnOpStart, opCount } = history
    const size = new Int32Array(keyCount + 1)
    for (let op = 0; op < opCount; op++) {
      const kind = opKind[op]!
      if (kind === WRITE || kind === APPEND) size[opKey[op]! + 1]!++
    }
    for (let key = 0; key < keyCount; key++) size[key + 1]! += size[key]!
    const txns = new Int32Array(size[keyCount]!)
    const next = size.slice(0, keyCount)
    for (const txn of order) {
      if (!txnCounts[txn]) continue
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const kind = opKind[op]!
        if (kind !== WRITE && kind !== APPEND) continue
        const key = opKey[op]!
        const at = next[key]!
        if (at > size[key]! && txns[at - 1] === txn) continue // wrote it before
        txns[at] = txn
        next[key] = at + 1
      }
    }
    // Close the gaps that repeated and left-out writes leave behind.
    this.start = new Int32Array(keyCount + 1)
    let to = 0
    for (let key = 0; key < keyCount; key++) {
      this.start[key] = to
      for (let from = size[key]!; from < next[key]!; from++) txns[to++] = txns[from]!
    }
    this.start[keyCount] = to
    this.txn = txns.subarray(0, to)
  }

  /** First slot of the key at or after (session, index). */
  lowerBound(key: number, session: number, index: number): number {
    const { txnSession, txnIndex } = this.history
    let low = this.start[key]!
    let high = this.start[key + 1]!
    while (low < high) {
      const mid = (low + high) >>> 1
      const txn = this.txn[mid]!
      const s = txnSession[txn]!
      if (s < session || (s === session && txnIndex[txn]! < index)) low = mid + 1
      else high = mid
    }
    return low
  }

  /**
   * The last transaction of the session with a smaller index that writes the key, but for one, or
   * NONE.
   */
  lastBefore(key: number, session: number, index: number, except: number = NONE): number {
    const start = this.start[key]!
    let slot = this.lowerBound(key, session, index) - 1
    if (slot >= start && this.txn[slot] === except) slot--
    if (slot < start) return NONE
    const txn = this.txn[slot]!
    return this.history.txnSession[txn] === session ? txn : NONE
  }

  writes(txn: number, key: number): boolean {
    const { txnSession, txnIndex, txnOpStart, opKind, opKey } = this.history
    const from = txnOpStart[txn]!
    const to = txnOpStart[txn + 1]!
    if (to - from <= 24) {
      for (let op = from; op < to; op++) {
        if (opKey[op] === key && (opKind[op] === WRITE || opKind[op] === APPEND)) return true
      }
      return false
    }
    const slot = this.lowerBound(key, txnSession[txn]!, txnIndex[txn]!)
    return slot < this.start[key + 1]! && this.txn[slot] === txn
  }
}
