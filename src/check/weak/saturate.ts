// Decides rc, ra and cc. Each is "some commit order contains so ∪ wr and puts t2 before t1 whenever
// t1's version was read by somebody to whom t2's had to be visible" (AWDIT, Biswas & Enea), and
// such an order exists iff so ∪ wr and all forced edges are acyclic.
//
// Instead of building that graph, start from an order that is nearly right and look only for forced
// edges that contradict it; a contradicting edge needs a stale read, of which there are few.
//   - An edge t2 -> t1 with t1 -hb-> t2 is a violation by itself (the CO patterns h, k, m). Its
//     read forces nothing else, so that one fault is one finding: by the letter, all between t1 and
//     t2 would lie on a cycle with it, a million innocent reads for one stale one.
//   - The other edges are added, components and order computed anew, and the search repeated until
//     nothing contradicts. Reads whose edge lies in a component show the CM patterns i, l, n; so do
//     reads that directly contradict one with a CO pattern: it forces t2 -> t1, they t1 -> t2.
// On exit every forced edge either follows the order or lies inside a component, so the components
// are exactly those of the whole graph. If it does not settle after a few rounds, all forced edges
// are added at once, which ends it. Main function: saturate.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { addTo } from '../../base/maps.ts'
import { type History, INITIAL, NONE } from '../../history/history.ts'
import type { ForcedEdge } from '../order/components.ts'
import { mendOrder } from '../order/mend-order.ts'
import type { BaseOrder } from '../order/stale-reads.ts'
import type { WeakContext } from './context.ts'
import type { WeakLevel } from './premises.ts'

export interface ForcedOrders {
  level: WeakLevel
  /** Forced edges that contradict happens-before; one per offending read. */
  causal: ForcedEdge[]
  /** Further such edges of a read, by the read. */
  alsoCausal: ReadonlyMap<number, readonly ForcedEdge[]>
  /** Forced edges on a cycle with others; one per read. */
  cyclic: ForcedEdge[]
  /** Reads that force the opposite of what a read of `causal` forces, with that one. */
  opposed: { edge: ForcedEdge; against: ForcedEdge }[]
  /** All added edges: with so ∪ wr ∪ ww they make the cycles of `cyclic`. */
  added: ForcedEdge[]
  /** The final order; a proof if nothing was found. */
  final: BaseOrder
}

const PATIENT_ROUNDS = 6
/** Forced edges are judged together, but not so many that they would need much memory. */
const MANY_CANDIDATES = 1 << 20

export function saturate(context: WeakContext, level: WeakLevel): ForcedOrders {
  if (level === 'cc') context.repair()
  const { history, reads, base, deadline } = context
  const search = new ForcedEdges(context, level)
  let current = base
  for (let round = 0; ; round++) {
    deadline.check()
    const exhaustive = round === PATIENT_ROUNDS
    const fresh = exhaustive
      ? search.findAll(current, deadline)
      : search.findContradicting(current, deadline)
    if (fresh === 0) break
    current = mendOrder(history, reads, current, search.added, deadline)
    if (exhaustive) break
  }
  const cyclic = search.findCyclic(current)
  return {
    level,
    causal: search.causal,
    alsoCausal: search.alsoCausal,
    cyclic,
    opposed: search.findOpposed(new Set(cyclic.map((edge) => edge.read))),
    added: search.added,
    final: current,
  }
}

class ForcedEdges {
  readonly causal: ForcedEdge[] = []
  readonly alsoCausal = new Map<number, ForcedEdge[]>()
  readonly added: ForcedEdge[] = []
  // All edges that contradict happens-before, each once: many reads may force the same.
  private readonly impossible = new Map<number, ForcedEdge>()
  private readonly history: History
  private readonly settled = new Set<number>() // reads that show a CO pattern
  private readonly known = new Set<number>() // to · txnCount + from
  private readonly candidates = new IntColumn(64) // what reads force before their sources
  private readonly candidateRead = new IntColumn(64) // candidate -> its read
  private read: number = NONE // whose candidates are being collected

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
    const isCyclic = current === base && base.component !== null
    const stale = current.stale.read
    for (let i = 0; i < stale.length; i++) {
      deadline.step(4)
      const read = stale[i]!
      if (this.settled.has(read)) continue
      this.read = read
      if (isCyclic) premises.forEach(this.level, read, this.contradictsInside, this.collect)
      else premises.forEachNewer(this.level, i, current, this.collect)
    }
    this.judge()
    return this.added.length - before
  }

  /** With so ∪ wr cyclic, an edge inside a component contradicts it as well. */
  private readonly contradictsInside = (t2: number, source: number): boolean => {
    const { position, component } = this.context.base
    if (source === INITIAL || component![t2] === component![source]) return true
    return position[t2]! > position[source]!
  }

  /** Adds every forced edge there is. */
  findAll(current: BaseOrder, deadline: Deadline): number {
    const { opSource } = this.context.reads
    const before = this.added.length
    for (const txn of current.order) {
      deadline.step(8)
      for (let op = this.history.txnOpStart[txn]!; op < this.history.txnOpStart[txn + 1]!; op++) {
        if (opSource[op] === NONE || this.settled.has(op)) continue
        this.read = op
        this.context.premises.forEach(this.level, op, always, this.collect)
      }
      if (this.candidates.length >= MANY_CANDIDATES) this.judge()
    }
    this.judge()
    return this.added.length - before
  }

  /** One edge for each read whose forced edges lie inside a component. */
  findCyclic(current: BaseOrder): ForcedEdge[] {
    const { component, groupEnd, order, position } = current
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
      this.context.deadline.step(16)
      let first: number = NONE
      const keepFirst = (t2: number) => {
        if (first === NONE) first = t2
      }
      // Nothing before the component has causes inside it.
      const isNear = (txn: number) =>
        position[txn] === NONE || position[txn]! > position[source]! || inside(txn, source)
      this.context.premises.forEach(this.level, op, inside, keepFirst, isNear)
      if (first !== NONE) found.push({ from: first, to: source, read: op })
    }
    return found
  }

  /** One edge for each other read that forces the opposite of an edge of `causal`. */
  findOpposed(cyclic: ReadonlySet<number>): { edge: ForcedEdge; against: ForcedEdge }[] {
    const { opSource } = this.context.reads
    const byWriter = new Map<number, ForcedEdge[]>() // t2 -> impossible edges t2 -> t1
    for (const edge of this.impossible.values()) {
      const known = byWriter.get(edge.from)
      if (known) known.push(edge)
      else byWriter.set(edge.from, [edge])
    }
    const found: { edge: ForcedEdge; against: ForcedEdge }[] = []
    if (byWriter.size === 0) return found
    for (let op = 0; op < opSource.length; op++) {
      const source = opSource[op]!
      if (source < 0 || !byWriter.has(source)) continue
      if (this.settled.has(op) || cyclic.has(op)) continue
      this.context.deadline.step(16)
      const against = byWriter
        .get(source)!
        .find((edge) => this.context.premises.holds(this.level, edge.to, op))
      if (against) found.push({ edge: { from: against.to, to: source, read: op }, against })
    }
    return found
  }

  private readonly collect = (t2: number): void => {
    this.candidates.push(t2)
    this.candidateRead.push(this.read)
  }

  /** Every read forces its candidates before its source; judges and forgets them. */
  private judge(): void {
    const { opSource } = this.context.reads
    const candidates = this.candidates.view()
    const reads = this.candidateRead.view()
    const impossible = this.findImpossible(candidates, reads)
    for (let start = 0, end = 0; start < candidates.length; start = end) {
      const read = reads[start]!
      const source = opSource[read]!
      while (end < candidates.length && reads[end] === read) end++
      for (let i = start; i < end; i++) {
        if (!impossible[i]) continue
        const edge = { from: candidates[i]!, to: source, read }
        if (this.settled.has(read)) addTo(this.alsoCausal, edge.read, edge)
        else this.causal.push(edge)
        this.settled.add(read)
        const id = this.idOf(edge)
        if (source !== INITIAL && !this.impossible.has(id)) this.impossible.set(id, edge)
      }
      if (this.settled.has(read)) continue
      for (let i = start; i < end; i++) this.add({ from: candidates[i]!, to: source, read })
    }
    this.candidates.length = 0
    this.candidateRead.length = 0
  }

  /** candidate -> 1 if the source of its read happens before it. */
  private findImpossible(candidates: Int32Array, reads: Int32Array): Uint8Array {
    const { opSource } = this.context.reads
    const impossible = new Uint8Array(candidates.length)
    const asked: number[] = [] // candidates whose source is not the initial state
    for (let i = 0; i < candidates.length; i++) {
      if (opSource[reads[i]!] === INITIAL) impossible[i] = 1
      else asked.push(i)
    }
    if (asked.length === 0) return impossible
    const sources = Int32Array.from(asked, (i) => opSource[reads[i]!]!)
    const later = Int32Array.from(asked, (i) => candidates[i]!)
    const answers = this.context.causality().beforeAll(sources, later)
    for (let q = 0; q < asked.length; q++) impossible[asked[q]!] = answers[q]!
    return impossible
  }

  private add(edge: ForcedEdge): void {
    const id = this.idOf(edge)
    if (this.known.has(id)) return
    this.known.add(id)
    this.added.push(edge)
  }

  private idOf(edge: ForcedEdge): number {
    return edge.to * this.history.txnCount + edge.from
  }
}

const always = () => true
