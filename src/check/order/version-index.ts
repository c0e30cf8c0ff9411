// The writers of some keys in a given order: for a read of x that is stale in it, those between the
// version it saw and the reader are the only ones that can contradict the order. Built in one pass
// along the order for just the keys that stale reads are about. Main class: VersionIndex.

import { APPEND, type History, INITIAL, WRITE } from '../../history/history.ts'
import type { BaseOrder } from './base-order.ts'

export class VersionIndex {
  private readonly slotOf: Int32Array // key -> its place here, plus 1; 0 for keys left out
  private readonly start: Int32Array // place -> first entry
  private readonly end: Int32Array // place -> end of its entries
  private readonly writer: Int32Array // entry -> transaction, in base order within a key

  /** @param stale the reads it will be asked about */
  constructor(
    history: History,
    readonly order: BaseOrder,
    stale: Int32Array,
  ) {
    const { opKey, opKind, txnOpStart, keyCount } = history
    this.slotOf = new Int32Array(keyCount)
    let count = 0
    for (const read of stale) {
      const key = opKey[read]!
      if (this.slotOf[key] === 0) this.slotOf[key] = ++count
    }
    const { slotOf } = this
    this.start = new Int32Array(count + 1)
    for (let op = 0; op < history.opCount; op++) {
      const slot = slotOf[opKey[op]!]!
      if (slot > 0 && (opKind[op] === WRITE || opKind[op] === APPEND)) this.start[slot]!++
    }
    for (let slot = 0; slot < count; slot++) this.start[slot + 1]! += this.start[slot]!
    this.writer = new Int32Array(this.start[count]!).fill(INITIAL)
    const next = this.start.slice()
    for (const txn of order.order) {
      const end = txnOpStart[txn + 1]!
      for (let op = txnOpStart[txn]!; op < end; op++) {
        const slot = slotOf[opKey[op]!]! - 1
        if (slot < 0 || (opKind[op] !== WRITE && opKind[op] !== APPEND)) continue
        const at = next[slot]!
        if (at > this.start[slot]! && this.writer[at - 1] === txn) continue // wrote it before
        this.writer[at] = txn
        next[slot] = at + 1
      }
    }
    this.end = next
  }

  /** First entry of the key whose writer stands after the given position. */
  firstAfter(key: number, position: number): number {
    const slot = this.slotOf[key]! - 1
    let low = this.start[slot]!
    let high = this.end[slot]!
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.order.position[this.writer[middle]!]! <= position) low = middle + 1
      else high = middle
    }
    return low
  }

  endOf(key: number): number {
    return this.end[this.slotOf[key]! - 1]!
  }

  writerAt(entry: number): number {
    return this.writer[entry]!
  }
}
