// A choice of writers for a given order: for every conflict the last version visible if it fails
// the predicate, else the next one that does. Most histories that are consistent are so by the
// first order that comes to mind. O(pairs · log writers). Main class: Guess.

import { NONE } from '../../history/history.ts'
import type { Layout } from './layout.ts'
import { Premises } from './premises.ts'
import { PC } from './problem.ts'
import type { Verifier } from './verify.ts'

const MOST_ROUNDS = 4 // choices that make more visible, until the guess is left as it is

export class Guess {
  readonly source: Int32Array // pair -> node it reads from, NONE if its reader takes no part
  private readonly premises: Premises
  private readonly best: Int32Array // conflict -> place of the last version visible

  constructor(
    private readonly layout: Layout,
    private readonly verifier: Verifier,
  ) {
    this.source = new Int32Array(layout.pairCount)
    this.premises = new Premises(layout, (node) => verifier.position[node]! >= 0)
    this.best = new Int32Array(layout.problem.openCount)
  }

  /** Whether the order, with the writers chosen into `source`, satisfies all axioms. */
  try(order: Int32Array): boolean {
    const { layout, verifier, source, premises } = this
    verifier.setOrder(order)
    source.fill(NONE)
    source.set(layout.problem.fixedNode)
    premises.startClocks()
    for (const node of order) {
      premises.setClock(node, source)
      if (!this.hasConflicts(node)) continue
      if (layout.problem.level[node]! >= PC) this.chooseStrong(node)
      else this.chooseWeak(node)
      premises.setClock(node, source)
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
    const { nodePairStart, nodePair, fixedCount, pairKey } = layout
    let last = NONE
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const visible = verifier.lastVisible(node, source)
      if (visible === last) return
      last = visible
      for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
        const pair = nodePair[i]!
        if (pair < fixedCount) continue
        const seen = verifier.writerUpTo(pairKey[pair]!, last)
        source[pair] = this.choose(pair - fixedCount, verifier.position[seen]!, node)
      }
    }
  }

  private chooseWeak(node: number): void {
    const { layout, premises, source, best } = this
    const { nodePairStart, nodePair, fixedCount } = layout
    for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
      if (nodePair[i]! >= fixedCount) best[nodePair[i]! - fixedCount] = 0
    }
    premises.find(node, source)
    for (let i = 0; i < premises.pair.length; i++) {
      const open = premises.pair.data[i]! - fixedCount
      if (open < 0) continue
      best[open] = Math.max(best[open]!, this.verifier.position[premises.by.data[i]!]!)
    }
    for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
      const open = nodePair[i]! - fixedCount
      if (open >= 0) source[fixedCount + open] = this.choose(open, best[open]!, node)
    }
  }

  /** The first candidate not before a place, else the last before it; NONE if all come later. */
  private choose(open: number, place: number, reader: number): number {
    const { zeroStart, zeroNode } = this.layout.problem
    const { position } = this.verifier
    let best = NONE
    for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
      const at = position[zeroNode[i]!]!
      if (at === NONE || at >= position[reader]!) continue
      const so = best === NONE ? NONE : position[best]!
      const better = so < place ? at > so : at >= place && at < so
      if (better) best = zeroNode[i]!
    }
    return best
  }
}
