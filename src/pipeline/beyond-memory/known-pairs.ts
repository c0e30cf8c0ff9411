// Pairs of transactions of which the one is to come before the other in the orders that are tried:
// found in one order, respected in the next. They only propose an order, and what they ask for
// together may be impossible. Main class: KnownPairs.

import { FloatColumn } from '../../base/grow.ts'
import { lowerBound } from '../../base/search.ts'
import { NumberSet } from '../../spill/number-set.ts'

export class KnownPairs {
  private sorted = new Float64Array(0) // later · txnCount + earlier
  private readonly found = new FloatColumn()
  private readonly dropped = new Set<number>()
  /** Transactions that are the later one of a pair. */
  private readonly isLater = new NumberSet(Number.POSITIVE_INFINITY)

  /** @param most of them that are kept */
  constructor(
    private readonly txnCount: number,
    private readonly most: number,
  ) {}

  /** Whether there is no room for more. */
  get isFull(): boolean {
    return this.found.length + this.sorted.length >= this.most
  }

  add(earlier: number, later: number): void {
    if (!this.isFull) this.found.push(later * this.txnCount + earlier)
  }

  /** Takes in what was found; returns how many pairs are new. */
  settle(): number {
    const { found, sorted, txnCount } = this
    const all = new Float64Array(sorted.length + found.length)
    all.set(sorted)
    all.set(found.view(), sorted.length)
    all.sort()
    let count = 0
    for (let i = 0; i < all.length; i++) {
      if (count > 0 && all[count - 1] === all[i]) continue
      all[count++] = all[i]!
    }
    for (let i = 0; i < found.length; i++) this.isLater.add(Math.floor(found.data[i]! / txnCount))
    found.length = 0
    this.sorted = all.slice(0, count)
    return count - sorted.length
  }

  /** Calls `visit` for those that have to come before a transaction, until it returns false. */
  every(later: number, visit: (earlier: number) => boolean): boolean {
    if (!this.isLater.has(later)) return true
    const { sorted, txnCount, dropped } = this
    const from = later * txnCount
    for (let i = lowerBound(sorted, from); i < sorted.length; i++) {
      const pair = sorted[i]!
      if (pair >= from + txnCount) break
      if (dropped.size > 0 && dropped.has(pair)) continue
      if (!visit(pair - from)) return false
    }
    return true
  }

  /** The pair is not asked for any more, and not found anew. */
  drop(earlier: number, later: number): void {
    this.dropped.add(later * this.txnCount + earlier)
  }
}
