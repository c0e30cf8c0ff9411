// When each transaction can have taken effect, by its own times and those of all that come before
// and after it: no earlier than the latest start among those before it, no later than the earliest
// finish among those after it, where before is session order, reads and known orders of versions.
// So one took effect before another for sure if it comes before it, or if its moment is over when
// that of the other begins; and a moment that is over before it begins is a contradiction.
//
// Two passes over an order of the transactions, O(n). Whether one comes before another although
// their moments overlap is found by going back from the later one, through transactions whose
// moments begin no earlier than the first one's: about as many as ran at that time. Main class:
// Moments.

import type { Deadline } from '../../base/deadline.ts'
import { COMMITTED, type History, NONE } from '../../history/history.ts'
import { findPrevious } from '../order/components.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

export class Moments {
  readonly opens: Float64Array // txn -> it took effect no earlier
  readonly closes: Float64Array // txn -> it took effect no later
  readonly opensWith: Int32Array // txn -> the one right before it from which `opens` comes, or NONE
  readonly closesWith: Int32Array // txn -> the one right after it from which `closes` comes
  private readonly previous: Int32Array // txn -> the last before it in its session, or NONE
  private readonly seen: Int32Array // txn -> the search that looked at it
  private readonly comes: Uint8Array // txn -> 1 if that search found it to come after
  private readonly pending: number[] = []
  private search = 0
  private since: number = NONE // what the search is about

  /** @param order of all that count, by session order, reads and known versions */
  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    order: Int32Array,
    private readonly deadline: Deadline,
  ) {
    const { txnCount, txnStatus, txnStartTime, txnFinishTime } = history
    this.opens = new Float64Array(txnCount)
    this.closes = new Float64Array(txnCount)
    this.opensWith = new Int32Array(txnCount).fill(NONE)
    this.closesWith = new Int32Array(txnCount).fill(NONE)
    this.previous = findPrevious(history)
    this.seen = new Int32Array(txnCount)
    this.comes = new Uint8Array(txnCount)
    for (const txn of order) {
      const isOver = txnStatus[txn] === COMMITTED // others may take effect at any later moment
      this.opens[txn] = txnStartTime![txn]!
      this.closes[txn] = isOver ? txnFinishTime![txn]! : Number.POSITIVE_INFINITY
    }
    for (const txn of order) {
      deadline.step(2)
      this.forEachBefore(txn, (before) => {
        if (this.opens[before]! <= this.opens[txn]!) return
        this.opens[txn] = this.opens[before]!
        this.opensWith[txn] = before
      })
    }
    for (let p = order.length - 1; p >= 0; p--) {
      const txn = order[p]!
      deadline.step(2)
      this.forEachBefore(txn, (before) => {
        if (this.closes[txn]! >= this.closes[before]!) return
        this.closes[before] = this.closes[txn]!
        this.closesWith[before] = txn
      })
    }
  }

  /** Whether the clock puts one before the other, be it by way of others. */
  isOver(earlier: number, later: number): boolean {
    return this.closes[earlier]! < this.opens[later]!
  }

  /** Whether one comes before another, the clock aside; several questions about one are cheaper. */
  comesBefore(earlier: number, later: number): boolean {
    const { seen, comes, pending, opens } = this
    if (this.since !== earlier) {
      this.since = earlier
      this.search++
      seen[earlier] = this.search
      comes[earlier] = 1
    }
    if (seen[later] === this.search) return comes[later] === 1
    // Depth first: a transaction comes after if one right before it does.
    pending.length = 0
    pending.push(later)
    seen[later] = this.search
    comes[later] = 0
    while (pending.length > 0) {
      this.deadline.step(2)
      const txn = pending.at(-1)!
      let next: number = NONE
      this.forEachBefore(txn, (before) => {
        if (seen[before] === this.search) comes[txn]! |= comes[before]!
        else if (opens[before]! >= opens[earlier]!) next = before
      })
      if (next === NONE || comes[txn] === 1) {
        pending.pop()
        continue
      }
      seen[next] = this.search
      comes[next] = 0
      pending.push(next)
    }
    return comes[later] === 1
  }

  /** Those right before one, in its session, by what it read and by what it replaced. */
  private forEachBefore(txn: number, visit: (before: number) => void): void {
    const { txnOpStart } = this.history
    const { opSource, versions } = this.reads
    if (this.previous[txn] !== NONE) visit(this.previous[txn]!)
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opSource[op]! >= 0) visit(opSource[op]!)
      if (versions !== null && versions.writeAfter[op]! >= 0) visit(versions.writeAfter[op]!)
    }
  }
}
