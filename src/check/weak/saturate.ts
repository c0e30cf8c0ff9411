// Decides rc, ra and cc. Each is "some commit order contains so ∪ wr and puts t2 before t1 whenever
// t1's version was read by somebody to whom t2's had to be visible" (AWDIT, Biswas & Enea), and
// such an order exists iff so ∪ wr and all forced edges are acyclic.
//
// Instead of building that graph, start from an order that is nearly right and look only for forced
// edges that contradict it; a contradicting edge needs a stale read, of which there are few. Then
//   - an edge t2 -> t1 with t1 -hb-> t2 is a violation by itself (the CO patterns h, k, m): one
//     finding a read, however many neighbours its cycle draws in;
//   - all such edges are added, components and order computed anew, and the search repeated until
//     nothing contradicts. Other reads whose edge lies in a component show the CM patterns i, l, n.
// On exit every forced edge either follows the order or lies inside a component, so the components
// are exactly those of the whole graph. If it does not settle after a few rounds, all forced edges
// are added at once, which ends it. Main function: saturate.

import type { Deadline } from '../../base/deadline.ts'
import { type History, INITIAL, NONE } from '../../history/history.ts'
import type { BaseOrder } from '../order/base-order.ts'
import { type ForcedEdge, mendOrder } from '../order/components.ts'
import { findStaleReads } from '../order/stale-reads.ts'
import type { WeakContext } from './context.ts'
import type { WeakLevel } from './premises.ts'

export interface Saturation {
  level: WeakLevel
  /** Forced edges that contradict happens-before; one per offending read. */
  causal: ForcedEdge[]
  /** Forced edges on a cycle with others; one per read. */
  cyclic: ForcedEdge[]
  /** All added edges: with so ∪ wr ∪ ww they make the cycles of `cyclic`. */
  added: ForcedEdge[]
  /** The final order; a proof if nothing was found. */
  final: BaseOrder
}

const PATIENT_ROUNDS = 6

export function saturate(context: WeakContext, level: WeakLevel): Saturation {
  const { history, reads, base, deadline } = context
  const search = new ForcedEdges(context, level)
  let current = base
  for (let round = 0; ; round++) {
    deadline.check()
    const exhaustive = round === PATIENT_ROUNDS
    const fresh = exhaustive ? search.findAll(current) : search.findContradicting(current, deadline)
    if (fresh === 0) break
    current = mendOrder(history, reads, current, search.added, deadline)
    if (exhaustive) break
    current.stale = findStaleReads(history, reads, current)
  }
  return {
    level,
    causal: search.causal,
    cyclic: search.findCyclic(current),
    added: search.added,
    final: current,
  }
}

class ForcedEdges {
  readonly causal: ForcedEdge[] = []
  readonly added: ForcedEdge[] = []
  private readonly history: History
  private readonly settled = new Set<number>() // reads that show a CO pattern
  private readonly known = new Set<number>() // (to + 2) · txnCount + from

  constructor(
    private readonly context: WeakContext,
    private readonly level: WeakLevel,
  ) {
    this.history = context.history
  }

  /** Adds the forced edges that the order contradicts; returns how many are new. */
  findContradicting(current: BaseOrder, deadline: Deadline): number {
    const before = this.added.length
    const { base, premises } = this.context
    const isKnot = current === base && base.component !== null
    const stale = current.stale.read
    for (let i = 0; i < stale.length; i++) {
      if ((i & 4095) === 0) deadline.check()
      const read = stale[i]!
      const judge = (t2: number) => this.judgeEdge(read, t2)
      if (isKnot) premises.forEach(this.level, read, this.contradictsKnot, judge)
      else premises.forEachNewer(this.level, i, current, judge)
    }
    return this.added.length - before
  }

  /** With so ∪ wr cyclic, an edge inside a component contradicts it as well. */
  private readonly contradictsKnot = (t2: number, source: number): boolean => {
    const { position, component } = this.context.base
    if (source === INITIAL || component![t2] === component![source]) return true
    return position[t2]! > position[source]!
  }

  /** Adds every forced edge there is. */
  findAll(current: BaseOrder): number {
    const { opSource } = this.context.reads
    const before = this.added.length
    for (const txn of current.order) {
      for (let op = this.history.txnOpStart[txn]!; op < this.history.txnOpStart[txn + 1]!; op++) {
        if (opSource[op] === NONE) continue
        this.context.premises.forEach(this.level, op, always, (t2) => this.judgeEdge(op, t2))
      }
    }
    return this.added.length - before
  }

  /** One edge for each read whose forced edges lie inside a component. */
  findCyclic(current: BaseOrder): ForcedEdge[] {
    const { component, groupEnd, order } = current
    const found: ForcedEdge[] = []
    if (component === null || groupEnd === null) return found
    const { opSource } = this.context.reads
    const inside = (t2: number, source: number) =>
      source !== INITIAL && component[t2] === component[source]
    const cyclicTxn = new Uint8Array(this.history.txnCount)
    for (let p = 0; p < order.length; p = groupEnd[p]!) {
      if (groupEnd[p]! > p + 1) for (let q = p; q < groupEnd[p]!; q++) cyclicTxn[order[q]!] = 1
    }
    for (let op = 0; op < opSource.length; op++) {
      const source = opSource[op]!
      if (source < 0 || !cyclicTxn[source] || this.settled.has(op)) continue
      let first: number = NONE
      this.context.premises.forEach(this.level, op, inside, (t2) => {
        if (first === NONE) first = t2
      })
      if (first !== NONE) found.push({ from: first, to: source, read: op })
    }
    return found
  }

  /** The read forces t2 before its source. */
  private judgeEdge(read: number, t2: number): void {
    const source = this.context.reads.opSource[read]!
    const edge = { from: t2, to: source, read }
    if (source === INITIAL || this.context.causality().before(source, t2)) {
      if (!this.settled.has(read)) this.causal.push(edge)
      this.settled.add(read)
    }
    const id = (source + 2) * this.history.txnCount + t2
    if (this.known.has(id)) return
    this.known.add(id)
    this.added.push(edge)
  }
}

const always = () => true
