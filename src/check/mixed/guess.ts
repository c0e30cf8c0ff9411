// A choice of writers for a given order, as a database would have it that keeps snapshots, one for
// a transaction or at rc for a statement: each at the first place in the order, not before what was
// seen, at which the last versions of all rows passed over fail the predicate. Most histories that
// are consistent are so by the first order that comes to mind. O(pairs · writers) at worst, mostly
// O(pairs · log writers). Main class: Guess.

import type { Deadline } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { PC, RA } from '../problem/mixed-problem.ts'
import type { Layout } from './layout.ts'
import type { Verifier } from './verify.ts'

export class Guess {
  readonly source: Int32Array // pair -> node it reads from, NONE if its reader takes no part

  constructor(
    private readonly layout: Layout,
    private readonly verifier: Verifier,
    private readonly deadline: Deadline,
  ) {
    this.source = new Int32Array(layout.pairCount)
  }

  /** Whether the order, with the writers chosen into `source`, satisfies all axioms. */
  try(order: Int32Array): boolean {
    const { layout, verifier, source } = this
    verifier.setOrder(order)
    source.fill(NONE)
    source.set(layout.problem.fixedNode)
    for (const node of order) {
      if (!this.hasConflicts(node)) continue
      if (layout.problem.level[node]! >= PC) this.chooseStrong(node)
      else this.chooseWeak(node)
    }
    verifier.verify(order, source)
    return verifier.pair.length === 0
  }

  private hasConflicts(node: number): boolean {
    const { nodePairStart, nodePair, fixedCount } = this.layout
    for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
      if (nodePair[i]! >= fixedCount) return true
    }
    return false
  }

  private chooseStrong(node: number): void {
    const { layout, verifier, source } = this
    const { nodePairStart } = layout
    const place = verifier.lastVisible(node, source)
    this.choose(node, nodePairStart[node]!, nodePairStart[node + 1]!, place)
  }

  /** One snapshot for each statement at rc, each not before the last one; one for all above. */
  private chooseWeak(node: number): void {
    const { layout, verifier, source } = this
    const { problem, nodePairStart, nodePair, pairRead } = layout
    const last = nodePairStart[node + 1]!
    const perRead = problem.level[node]! < RA
    let place = verifier.position[verifier.previous(node)]!
    for (let from = nodePairStart[node]!, to = from; from < last; from = to) {
      const read = pairRead[nodePair[from]!]
      while (to < last && (!perRead || pairRead[nodePair[to]!] === read)) {
        const given = source[nodePair[to++]!]!
        if (given > 0) place = Math.max(place, verifier.position[given]!)
      }
      place = this.choose(node, from, to, place)
    }
  }

  /**
   * Chooses for a range of pairs the last versions up to a place in the order, the first place from
   * the given one on at which these may be passed over; returns that place.
   */
  private choose(node: number, from: number, to: number, least: number): number {
    const { layout, verifier, source } = this
    const { nodePair, fixedCount, pairKey } = layout
    const limit = verifier.position[node]!
    let place = least
    for (let i = from, agreed = 0; agreed < to - from; i = i + 1 < to ? i + 1 : from) {
      const open = nodePair[i]! - fixedCount
      this.deadline.step(4)
      agreed++
      if (open < 0) continue
      const key = pairKey[nodePair[i]!]!
      let seen = verifier.writerUpTo(key, place)
      while (seen !== NONE && !this.isCandidate(open, seen)) {
        this.deadline.step(4)
        seen = verifier.writerAfter(key, verifier.position[seen]!, node)
      }
      const at = seen === NONE ? limit : verifier.position[seen]!
      // No place will do: the rest is chosen as if this pair were not there.
      if (at >= limit || at <= place) continue
      place = at
      agreed = 1
    }
    for (let i = from; i < to; i++) {
      const open = nodePair[i]! - fixedCount
      if (open < 0) continue
      const seen = verifier.writerUpTo(pairKey[nodePair[i]!]!, place)
      source[nodePair[i]!] = this.isCandidate(open, seen) ? seen : this.lastCandidate(open, limit)
    }
    return place
  }

  /** Candidates are in the order of their nodes. */
  private isCandidate(open: number, node: number): boolean {
    const { zeroStart, zeroNode } = this.layout.problem
    let low = zeroStart[open]!
    let high = zeroStart[open + 1]!
    while (low < high) {
      const middle = (low + high) >> 1
      if (zeroNode[middle]! < node) low = middle + 1
      else high = middle
    }
    return low < zeroStart[open + 1]! && zeroNode[low] === node
  }

  /** The last candidate before a place, NONE if there is none. */
  private lastCandidate(open: number, limit: number): number {
    const { zeroStart, zeroNode } = this.layout.problem
    const { position } = this.verifier
    let best = NONE
    let bestAt = NONE
    this.deadline.step(1 + ((zeroStart[open + 1]! - zeroStart[open]!) >> 1))
    for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
      const at = position[zeroNode[i]!]!
      if (at <= bestAt || at >= limit) continue
      best = zeroNode[i]!
      bestAt = at
    }
    return best
  }
}
