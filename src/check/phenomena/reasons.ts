// Why a dependency graph contradicts a level: from the cycle that was found, and from what its
// version orders rest on, to evidence (Edge in verdict.ts). An order follows from a path between
// its two writers, or because the opposite would close a cycle through somebody who read the later
// version. Reasons are looked for only now, among what was decided before, and built oldest first.
// Main class: Reasons.

import { assert } from '../../base/errors.ts'
import { findCyclic } from '../../graph/scc.ts'
import { NONE } from '../../history/history.ts'
import { foreignVersion } from '../../verdict/certify-reads.ts'
import { type Edge, INITIAL_TXN } from '../../verdict/verdict.ts'
import { EdgeFacts } from '../evidence/edge-facts.ts'
import { type Dependencies, type DependencyEdge, INIT, RW, SO, WR } from './dependencies.ts'

export type Conflict = { readonly kind: 'cycle' } | { readonly kind: 'weak'; readonly edge: number }

/** Where short cycles are looked for, at most. */
const MOST_STARTS = 32

/** Edges of the graph that lead from one end to the other; with `read`, from `from` to its reader. */
interface Reason {
  readonly path: readonly number[]
  /** The read of the later version that the opposite order would have overwritten, or NONE. */
  readonly read: number
  readonly key: number
}

export class Reasons {
  private readonly facts: EdgeFacts

  constructor(
    private readonly graph: Dependencies,
    private readonly value: Int8Array, // pair -> 1: a first, -1: b first
    private readonly trail: readonly number[],
  ) {
    this.facts = new EdgeFacts(graph.history, graph.readCheck)
  }

  assumption(pair: number, isForward: boolean): Edge {
    const { a, b, keys } = this.graph.pairs[pair]!
    const [from, to] = isForward ? [a, b] : [b, a]
    return this.facts.assumedVersions(this.txn(from), this.txn(to), keys[0]!)
  }

  /** The cycle of a contradiction, and which decisions it rests on, oldest first. */
  explain(
    conflict: Conflict,
    decisions: ReadonlySet<number>,
  ): { assumptions: number[]; cycle: Edge[] } {
    const { trail } = this
    const cycle = this.cycleOf(conflict)
    const reasons = new Map<number, Reason>()
    const needed = new Set(this.pairsOf(cycle))
    for (let at = trail.length - 1; at >= 0; at--) {
      const pair = trail[at]!
      if (!needed.has(pair) || decisions.has(pair)) continue
      const reason = this.reasonOf(pair, at + 1)
      reasons.set(pair, reason)
      for (const other of this.pairsOf(reason.path)) needed.add(other)
    }
    const orders = new Map<number, Edge>() // pair · keys + key -> its order, with reasons
    for (const pair of trail) {
      if (!needed.has(pair)) continue
      for (const key of this.graph.pairs[pair]!.keys) {
        orders.set(this.orderId(pair, key), this.order(pair, key, reasons.get(pair), orders))
      }
    }
    return {
      assumptions: trail.filter((pair) => needed.has(pair) && decisions.has(pair)),
      cycle: cycle.map((id) => this.edge(this.graph.edges[id]!, orders)),
    }
  }

  /** The edges of a shortest cycle of a contradiction. */
  cycleOf(conflict: Conflict): number[] {
    const { graph } = this
    if (conflict.kind === 'weak') {
      const { from, to } = graph.edges[conflict.edge]!
      return [...this.findPath(to, from, Number.POSITIVE_INFINITY, false)!, conflict.edge]
    }
    let best: number[] | null = null
    for (const node of this.findCyclic()) {
      const cycle = this.findPath(node, node, Number.POSITIVE_INFINITY, false)
      if (cycle !== null && (best === null || cycle.length < best.length)) best = cycle
      if (best?.length === 2) break
    }
    assert(best !== null, 'a graph without a topological order has a cycle')
    return best
  }

  /** A few transactions that lie on a cycle of strong edges. */
  private findCyclic(): number[] {
    const { isCyclic } = findCyclic(this.graph.strongEdges())
    const cyclic: number[] = []
    for (let node = 0; node < this.graph.txnCount && cyclic.length < MOST_STARTS; node++) {
      if (isCyclic(node)) cyclic.push(node)
    }
    return cyclic
  }

  private pairsOf(edges: readonly number[]): number[] {
    return edges.map((id) => this.graph.edges[id]!.pair).filter((pair) => pair !== NONE)
  }

  /** Why a pair was decided, from what was decided before. */
  private reasonOf(pair: number, time: number): Reason {
    const { graph } = this
    const { a, b, keys } = graph.pairs[pair]!
    const [from, to] = this.value[pair]! > 0 ? [a, b] : [b, a]
    const direct =
      this.findPath(from, to, time, false) ??
      (graph.level === 'pl-2l' ? null : this.findPath(from, to, time, true))
    if (direct !== null) return { path: direct, read: NONE, key: NONE }
    for (const key of keys) {
      for (const read of graph.readersOfVersion(to, key)) {
        const seen = graph.reads[read]!
        const kind = seen.reader === from ? 'none' : graph.overwriteKind(seen, from)
        if (kind === 'none') continue
        const path =
          this.findPath(from, seen.node, time, false) ??
          (kind === 'strong' ? this.findPath(from, seen.node, time, true) : null)
        if (path !== null) return { path, read, key }
      }
    }
    assert(false, 'an order that follows has a reason')
  }

  /** A shortest path over edges older than `time`, with one weak edge if so asked. */
  private findPath(from: number, to: number, time: number, weak: boolean): number[] | null {
    const { graph } = this
    const { nodeCount, out, edges } = graph
    const weakOut = weak ? this.weakEdges(time) : null
    const cameBy = new Int32Array(2 * nodeCount).fill(NONE) // node, + nodeCount after a weak edge
    const goal = weak ? to + nodeCount : to
    const queue = [from]
    for (const at of queue) {
      const node = at % nodeCount
      const shift = at - node
      const visit = (id: number, next: number) => {
        if (cameBy[next] !== NONE || (next === from && goal !== from)) return
        cameBy[next] = id
        queue.push(next)
      }
      for (const id of out[node]!) if (edges[id]!.time < time) visit(id, edges[id]!.to + shift)
      if (shift === 0)
        for (const id of weakOut?.get(node) ?? []) visit(id, edges[id]!.to + nodeCount)
      if (cameBy[goal] !== NONE) return this.pathTo(goal, from, cameBy)
    }
    return null
  }

  private pathTo(goal: number, from: number, cameBy: Int32Array): number[] {
    const { edges, nodeCount } = this.graph
    const path: number[] = []
    let at = goal
    do {
      const id = cameBy[at]!
      path.push(id)
      const { from: before, strong } = edges[id]!
      at = strong && at >= nodeCount ? before + nodeCount : before
    } while (at !== from)
    return path.reverse()
  }

  private weakEdges(time: number): Map<number, number[]> {
    const found = new Map<number, number[]>()
    for (const [id, { strong, from, time: decided }] of this.graph.edges.entries()) {
      if (strong || decided >= time) continue
      const known = found.get(from)
      if (known) known.push(id)
      else found.set(from, [id])
    }
    return found
  }

  private order(
    pair: number,
    key: number,
    reason: Reason | undefined,
    orders: ReadonlyMap<number, Edge>,
  ): Edge {
    const { facts, graph } = this
    const { a, b } = graph.pairs[pair]!
    const [from, to] =
      this.value[pair]! > 0 ? [this.txn(a), this.txn(b)] : [this.txn(b), this.txn(a)]
    if (reason === undefined) return facts.assumedVersions(from, to, key)
    const premises = reason.path.map((id) => this.edge(graph.edges[id]!, orders))
    const [first] = premises
    if (reason.read === NONE) {
      const isPlain = premises.length === 1 && first!.kind === 'WR' && this.isSound(first!)
      const replaced = isPlain ? facts.replaced(from, to, key) : null
      return replaced && this.isSound(replaced)
        ? replaced
        : { ...facts.versions(from, to, key), premises }
    }
    const seen = this.seen(reason.read)
    const opposite = facts.assumedVersions(to, from, reason.key)
    premises.push(facts.overwrite(seen, opposite))
    return { ...facts.versions(from, to, key), premises, refutes: true }
  }

  /** Whether the read of an edge is sound by itself, its transaction's own writes included. */
  private isSound({ ops }: Edge): boolean {
    return foreignVersion(this.graph.history, ops.at(-1)!) !== NONE
  }

  private edge(
    { kind, from, to, key, read, pair }: DependencyEdge,
    orders: ReadonlyMap<number, Edge>,
  ): Edge {
    const { graph, facts } = this
    if (kind === SO) return facts.session(this.txn(from), this.txn(to))
    if (kind === WR) return this.seen(read)
    if (kind === RW) {
      const { source } = graph.reads[read]!
      return facts.overwrite(this.seen(read), this.orderOf(source, to, key, pair, orders))
    }
    return this.orderOf(from, graph.txnAt[to]!, key, pair, orders)
  }

  /** The order of two writers, among these transactions, or of the initial state and one. */
  private orderOf(
    from: number,
    to: number,
    key: number,
    pair: number,
    orders: ReadonlyMap<number, Edge>,
  ): Edge {
    const { graph, facts } = this
    if (pair !== NONE) return orders.get(this.orderId(pair, key))!
    if (from === INIT) return facts.versions(INITIAL_TXN, this.txn(to), key)
    const [older, newer] = [this.txn(from), this.txn(to)]
    if (graph.isShown(from, key)) return facts.knownOrder(older, newer, key)
    const replaced = facts.replaced(older, newer, key)
    if (replaced && this.isSound(replaced)) return replaced
    const premises = [facts.readFrom(older, newer, key)]
    return { ...facts.versions(older, newer, key), premises }
  }

  private seen(read: number): Edge {
    const { op, source } = this.graph.reads[read]!
    return this.facts.seenBy(op, source === INIT ? INITIAL_TXN : this.txn(source))
  }

  private orderId(pair: number, key: number): number {
    return pair * this.graph.history.keyCount + key
  }

  private txn(local: number): number {
    return this.graph.txns[local]!
  }
}
