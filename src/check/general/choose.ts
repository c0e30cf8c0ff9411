// A choice of writers for the rows passed over, given an order, as a database would have it that
// keeps snapshots, one for a transaction or at rc for a statement: each at the first place in the
// order, not before what was seen, at which the last versions of all rows passed over fail the
// predicate. Most histories that are consistent are so by the first order that comes to mind, or by
// that with those who only read right behind what they saw: such an order tells of their ends only,
// and all behind them in their sessions would have to see what was committed until then.
// O(pairs · writers) at worst, mostly O(pairs · log writers). Main class: Choice.

import type { Deadline } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { PC, RA } from '../problem/levels.ts'
import type { Pairs } from './pairs.ts'
import type { Problem } from './problem.ts'
import type { Verifier } from './verify.ts'

export class Choice {
  readonly source: Int32Array // pair -> txn it reads from, NONE if its reader takes no part
  private readonly pairs: Pairs

  constructor(
    private readonly problem: Problem,
    private readonly verifier: Verifier,
    private readonly deadline: Deadline,
  ) {
    this.pairs = problem.pairs!
    this.source = new Int32Array(this.pairs.count)
  }

  /** The order, or one with readers moved up, if it satisfies all axioms with `source`. */
  findValid(order: Int32Array): Int32Array | null {
    if (this.isValid(order)) return order
    // In real time nobody may be moved up, past who finished before it started.
    if (this.problem.moments.instants.length > 0) return null
    const settled = this.settle(order)
    return this.isValid(settled) ? settled : null
  }

  /** The order with everybody who only reads behind the last of what it saw. */
  private settle(order: Int32Array): Int32Array {
    const { problem, pairs, source, verifier } = this
    const { writeStart } = problem.access
    const place = new Int32Array(problem.txnCount).fill(NONE) // txn -> what is settled
    source.fill(NONE)
    source.set(pairs.rows.fixedNode)
    for (const txn of order) {
      if (writeStart[txn] !== writeStart[txn + 1]) {
        place[txn] = verifier.position[txn]!
        continue
      }
      const previous = verifier.previousOf(txn)
      place[txn] = this.chooseByReads(txn, previous === NONE ? NONE : place[previous]!)
    }
    const rank = (txn: number) =>
      2 * place[txn]! + (writeStart[txn] === writeStart[txn + 1] ? 1 : 0)
    return order.slice().sort((a, b) => {
      return rank(a) - rank(b) || verifier.position[a]! - verifier.position[b]!
    })
  }

  /** Whether the order, with the writers chosen into `source`, satisfies all axioms. */
  private isValid(order: Int32Array): boolean {
    const { pairs, verifier, source } = this
    verifier.setOrder(order)
    source.fill(NONE)
    source.set(pairs.rows.fixedNode)
    for (const txn of order) {
      if (!this.hasConflicts(txn)) continue
      if (this.problem.level[txn]! >= PC) this.chooseStrong(txn)
      else this.chooseByReads(txn, verifier.placeOfPrevious(txn))
    }
    verifier.verify(order, source)
    return verifier.via.length === 0
  }

  private hasConflicts(txn: number): boolean {
    const { looseStart, loose, fixedCount } = this.pairs
    for (let i = looseStart[txn]!; i < looseStart[txn + 1]!; i++) {
      if (loose[i]! >= fixedCount) return true
    }
    return false
  }

  private chooseStrong(txn: number): void {
    const { txnStart } = this.pairs
    const place = this.verifier.lastVisible(txn, this.source)
    this.choose(txn, txnStart[txn]!, txnStart[txn + 1]!, place)
  }

  /**
   * One snapshot for each statement at rc, each not before the last one; one for all above. Returns
   * the place of the last one.
   */
  private chooseByReads(txn: number, least: number): number {
    const { pairs, verifier, source } = this
    const { txnStart, ofTxn, read } = pairs
    const last = txnStart[txn + 1]!
    const perRead = this.problem.level[txn]! < RA
    let place = least
    for (let from = txnStart[txn]!, to = from; from < last; from = to) {
      const current = read[ofTxn[from]!]
      while (to < last && (!perRead || read[ofTxn[to]!] === current)) {
        const given = source[ofTxn[to++]!]!
        if (given > 0) place = Math.max(place, verifier.position[given]!)
      }
      place = this.choose(txn, from, to, place)
    }
    return place
  }

  /**
   * Chooses for a range of pairs the last versions up to a place in the order, the first place from
   * the given one on at which these may be passed over; returns that place.
   */
  private choose(txn: number, from: number, to: number, least: number): number {
    const { pairs, verifier, source } = this
    const { ofTxn, fixedCount, key: pairKey } = pairs
    const limit = verifier.position[txn]!
    let place = least
    for (let i = from, agreed = 0; agreed < to - from; i = i + 1 < to ? i + 1 : from) {
      const open = ofTxn[i]! - fixedCount
      this.deadline.step(4)
      agreed++
      if (open < 0) continue
      const key = pairKey[ofTxn[i]!]!
      let seen = verifier.writerUpTo(key, place)
      while (seen !== NONE && pairs.findCandidate(open, seen) === NONE) {
        this.deadline.step(4)
        seen = verifier.writerAfter(key, verifier.placeOf(seen), txn)
      }
      const at = seen === NONE ? limit : verifier.placeOf(seen)
      // No place will do: the rest is chosen as if this pair were not there.
      if (at >= limit || at <= place) continue
      place = at
      agreed = 1
    }
    for (let i = from; i < to; i++) {
      const open = ofTxn[i]! - fixedCount
      if (open < 0) continue
      const seen = verifier.writerUpTo(pairKey[ofTxn[i]!]!, place)
      const isCandidate = pairs.findCandidate(open, seen) !== NONE
      source[ofTxn[i]!] = isCandidate ? seen : this.lastCandidate(open, limit)
    }
    return place
  }

  /** The last candidate before a place, NONE if there is none. */
  private lastCandidate(open: number, limit: number): number {
    const { zeroStart, zero } = this.pairs
    const { verifier } = this
    let best = NONE
    let bestAt = -2
    this.deadline.step(1 + ((zeroStart[open + 1]! - zeroStart[open]!) >> 1))
    for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
      const txn = zero[i]!
      const at = verifier.placeOf(txn)
      if (at <= bestAt || at >= limit || (txn > 0 && at < 0)) continue
      best = txn
      bestAt = at
    }
    return best
  }
}
