// Looks for orders of versions under which a dependency graph has no cycle that a level forbids.
// Whatever one order of two writers contradicts follows at once (reach.ts), and what follows from
// that; then all that is open
// is decided as some order of the transactions says; if that fails, one pair of the cycle it
// closed is decided the other way round, and so on, with steps back to a decision that took part
// in the failure. Every failure is a case of the argument: what was assumed, and the cycle it
// closed (reasons.ts). O(edges · transactions / 32) a step, exponentially many steps at worst.
// Main function: searchVersions.

import type { Deadline } from '../../base/deadline.ts'
import type { Case, Edge } from '../../verdict/verdict.ts'
import type { Dependencies } from './dependencies.ts'
import { Reach } from './reach.ts'
import { type Conflict, Reasons } from './reasons.ts'

export type VersionOrders =
  | { readonly found: true; readonly order: Int32Array } // of the transactions, among these
  | { readonly found: false; readonly edges: Edge[]; readonly cases: Case[] }

/**
 * @param priority node -> where it would best stand; of a read's node as of its transaction
 * @param patience failures, or decisions at a time, after which it gives up: null
 */
export function searchVersions(
  graph: Dependencies,
  priority: ArrayLike<number>,
  deadline: Deadline,
  patience = Number.POSITIVE_INFINITY,
): VersionOrders | null {
  return new VersionSearch(graph, priority, deadline).run(patience)
}

interface Decision {
  readonly pair: number
  readonly isForward: boolean
  readonly edgeCount: number // before it
  readonly trailLength: number // before it
  /** If it is the second of two ways: what the failure of the first one rests on besides. */
  readonly others: readonly number[] | null
}

class VersionSearch {
  private readonly value: Int8Array // pair -> 1: a first, -1: b first, 0: open
  private readonly trail: number[] = [] // pairs as they were decided
  private readonly decisions: Decision[] = []
  private readonly cases: Case[] = []
  private readonly reasons: Reasons
  private reach!: Reach

  constructor(
    private readonly graph: Dependencies,
    private readonly priority: ArrayLike<number>,
    private readonly deadline: Deadline,
  ) {
    this.value = new Int8Array(graph.pairs.length)
    this.reasons = new Reasons(graph, this.value, this.trail)
  }

  run(patience: number): VersionOrders | null {
    while (true) {
      this.deadline.check()
      if (Math.max(this.cases.length, this.decisions.length) >= patience) return null
      const conflict = this.propagate()
      if (conflict === null) {
        const next = this.complete()
        if (next === null) return { found: true, order: this.finalOrder() }
        this.decide(next.pair, next.isForward, null)
        continue
      }
      const { assumptions, cycle } = this.reasons.explain(conflict, this.decisionPairs())
      if (assumptions.length === 0) return { found: false, edges: cycle, cases: [] }
      this.cases.push({ assumptions: assumptions.map((pair) => this.assumed(pair)), cycle })
      if (this.stepBack(assumptions)) continue
      return { found: false, edges: [], cases: this.cases }
    }
  }

  private decisionPairs(): Set<number> {
    return new Set(this.decisions.map(({ pair }) => pair))
  }

  private assumed(pair: number): Edge {
    return this.reasons.assumption(pair, this.value[pair]! > 0)
  }

  private decide(pair: number, isForward: boolean, others: readonly number[] | null): void {
    const edgeCount = this.graph.edges.length
    this.decisions.push({ pair, isForward, edgeCount, trailLength: this.trail.length, others })
    this.set(pair, isForward)
  }

  private set(pair: number, isForward: boolean): void {
    this.value[pair] = isForward ? 1 : -1
    this.trail.push(pair)
    this.graph.decide(pair, isForward, this.trail.length)
  }

  private cutBack(edgeCount: number, trailLength: number): void {
    this.graph.cutBack(edgeCount)
    while (this.trail.length > trailLength) this.value[this.trail.pop()!] = 0
  }

  /** Tries the other way of the latest decision that took part; false if none is left. */
  private stepBack(failed: readonly number[]): boolean {
    let involved = new Set(failed)
    for (let last = this.decisions.pop(); last !== undefined; last = this.decisions.pop()) {
      const { pair, isForward, edgeCount, trailLength, others } = last
      const isInvolved = involved.delete(pair)
      if (isInvolved && others === null) {
        this.cutBack(edgeCount, trailLength)
        this.decide(pair, !isForward, [...involved])
        return true
      }
      if (isInvolved) {
        involved = new Set([...involved, ...others!])
        // Both ways fail, so that what is left of the assumptions cannot hold.
        const assumptions = [...involved].map((other) => this.assumed(other))
        if (assumptions.length > 0) this.cases.push({ assumptions, cycle: [] })
      }
      this.cutBack(edgeCount, trailLength)
    }
    return false
  }

  /** Decides whatever follows; what contradicts itself, or null. */
  private propagate(): Conflict | null {
    const { graph, value } = this
    while (true) {
      this.deadline.check()
      this.reach = new Reach(graph, this.priority)
      const conflict = this.findConflict()
      if (conflict !== null) return conflict
      let isChanged = false
      for (let pair = 0; pair < graph.pairs.length; pair++) {
        if (value[pair] !== 0) continue
        const { a, b } = graph.pairs[pair]!
        const forward = this.isForced(pair, a, b)
        if (!forward && !this.isForced(pair, b, a)) continue
        isChanged = true
        const edgeCount = graph.edges.length
        this.set(pair, forward)
        if (!this.takeIn(edgeCount)) break
      }
      if (!isChanged) return null
    }
  }

  /** Takes in all edges from this number on; false if one closes a cycle. */
  private takeIn(edgeCount: number): boolean {
    const { edges } = this.graph
    for (let id = edgeCount; id < edges.length; id++) {
      if (!this.reach.takeIn(edges[id]!)) return false
    }
    return true
  }

  private findConflict(): Conflict | null {
    if (this.reach.order === null) return { kind: 'cycle' }
    const { edges } = this.graph
    for (const [id, { strong, from, to }] of edges.entries()) {
      if (!strong && this.reach.leads(to, from)) return { kind: 'weak', edge: id }
    }
    return null
  }

  /** Whether the opposite order would close a cycle. */
  private isForced(pair: number, from: number, to: number): boolean {
    const { graph, reach } = this
    if (reach.leads(from, to) || (graph.level !== 'pl-2l' && reach.leadsWeakly(from, to)))
      return true
    for (const key of graph.pairs[pair]!.keys) {
      for (const read of graph.readersOfVersion(to, key)) {
        const seen = graph.reads[read]!
        if (seen.reader === from) continue
        const kind = graph.overwriteKind(seen, from)
        if (kind === 'none') continue
        if (reach.leads(from, seen.node)) return true
        if (kind === 'strong' && reach.leadsWeakly(from, seen.node)) return true
      }
    }
    return false
  }

  /**
   * Decides all that is open as an order of the transactions says. Null if that will do; else a
   * pair of a cycle it closed, to be decided the other way round.
   */
  private complete(): { pair: number; isForward: boolean } | null {
    const { graph, value, trail } = this
    const edgeCount = graph.edges.length
    const trailLength = trail.length
    const place = new Int32Array(graph.nodeCount)
    for (const [i, node] of this.reach.order!.entries()) place[node] = i
    for (let pair = 0; pair < graph.pairs.length; pair++) {
      const { a, b } = graph.pairs[pair]!
      if (value[pair] === 0) this.set(pair, place[a]! < place[b]!)
    }
    if (trail.length === trailLength) return null
    this.reach = new Reach(graph, this.priority)
    const conflict = this.findConflict()
    if (conflict === null) return null
    const cycle = this.reasons.cycleOf(conflict)
    const isOpen = new Set(trail.slice(trailLength))
    const involved = cycle.map((id) => graph.edges[id]!.pair).filter((pair) => isOpen.has(pair))
    const pair = involved[0] ?? trail[trailLength]!
    const isForward = value[pair]! < 0
    this.cutBack(edgeCount, trailLength)
    return { pair, isForward }
  }

  private finalOrder(): Int32Array {
    const { txnCount } = this.graph
    return this.reach.order!.filter((node) => node < txnCount)
  }
}
