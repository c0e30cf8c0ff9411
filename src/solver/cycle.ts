// The cycle behind a conflict, with as few literals as possible.
//
// When v reaches u, an edge from u to v closes a cycle; its lemma negates the literals of the edges
// on the path. A breadth-first search by weight finds the path of fewest literals: a known edge
// weighs 0, and so does a literal true at level 0; any other literal weighs 1, so an edge weighs at
// most 2, and three buckets in turn do for a queue (Dial, CACM 1969). Only places up to that of u
// are searched. Cost: linear in the edges there. Main class: CycleFinder.

import { assert } from '../base/errors.ts'
import type { EdgeStore } from './edges.ts'
import type { DynamicOrder } from './order.ts'
import type { PresentGraph } from './present.ts'
import { NONE, type Trail } from './trail.ts'

const KNOWN = -1

export class CycleFinder {
  readonly literals: number[] = [] // the true literals of the cycle found, each once
  visits = 0 // nodes visited so far, a measure of work
  private readonly distance: Int32Array // node -> weight of the best path so far
  private readonly stamp: Int32Array // node -> search that set its distance
  private readonly parent: Int32Array // node -> node before it on the path
  private readonly via: Int32Array // node -> slot that leads to it, or KNOWN
  private readonly buckets: number[][] = [[], [], []] // nodes by distance modulo 3
  private search = 0

  constructor(
    private readonly store: EdgeStore,
    private readonly graph: PresentGraph,
    private readonly order: DynamicOrder,
    private readonly trail: Trail,
  ) {
    this.distance = new Int32Array(graph.nodeCount)
    this.stamp = new Int32Array(graph.nodeCount)
    this.parent = new Int32Array(graph.nodeCount)
    this.via = new Int32Array(graph.nodeCount)
  }

  /** Sets `literals` for the cycle closed by a candidate whose end reaches its start. */
  find(candidate: number): void {
    const u = this.store.candidateFrom[candidate]!
    const v = this.store.candidateTo[candidate]!
    this.literals.length = 0
    this.collect(candidate)
    if (u === v) return
    this.searchPath(v, u)
    for (let node = u; node !== v; node = this.parent[node]!) {
      const slot = this.via[node]!
      if (slot !== KNOWN) this.collect(this.graph.owner[slot]!)
    }
  }

  private collect(candidate: number): void {
    const literal = this.store.candidateLiteral[candidate]!
    const other = this.store.candidateOther[candidate]!
    if (!this.literals.includes(literal)) this.literals.push(literal)
    if (other !== NONE && !this.literals.includes(other)) this.literals.push(other)
  }

  private searchPath(v: number, u: number): void {
    const { graph, buckets, distance, stamp } = this
    const { known, outHead, outNext, slotTo } = graph
    const bound = this.order.position[u]!
    const search = ++this.search
    for (const bucket of buckets) bucket.length = 0
    stamp[v] = search
    distance[v] = 0
    buckets[0]!.push(v)
    let weight = 0
    let emptyCount = 0
    while (true) {
      const node = buckets[weight % 3]!.pop()
      if (node === undefined) {
        weight++
        emptyCount++
        assert(emptyCount <= 3, 'the end of a closing edge reaches its start')
        continue
      }
      emptyCount = 0
      if (distance[node] !== weight) continue
      if (node === u) return
      this.visits++
      for (let i = known.start[node]!, end = known.start[node + 1]!; i < end; i++) {
        this.relax(node, known.target[i]!, weight, KNOWN, bound)
      }
      for (let slot = outHead[node]!; slot >= 0; slot = outNext[slot]!) {
        this.relax(node, slotTo[slot]!, weight + this.weightOf(slot), slot, bound)
      }
    }
  }

  private relax(from: number, to: number, weight: number, slot: number, bound: number): void {
    if (this.order.position[to]! > bound) return
    if (this.stamp[to] === this.search && this.distance[to]! <= weight) return
    this.stamp[to] = this.search
    this.distance[to] = weight
    this.parent[to] = from
    this.via[to] = slot
    this.buckets[weight % 3]!.push(to)
  }

  private weightOf(slot: number): number {
    const { level } = this.trail
    const candidate = this.graph.owner[slot]!
    const other = this.store.candidateOther[candidate]!
    const first = level[this.store.candidateLiteral[candidate]! >> 1]! > 0 ? 1 : 0
    return other !== NONE && level[other >> 1]! > 0 ? first + 1 : first
  }
}
