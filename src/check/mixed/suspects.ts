// From a contradiction that follows without choice to the transactions and rows that show it: those
// on a cycle of known edges, or of a row that no version explains, and those on which these rest,
// and so on down to what was read. An edge rests on edges that are older; why a candidate was
// dropped is found again among them. What is found is a good guess, not a proof: whoever uses it
// decides the part it makes. Each path O(edges). Main function: findSuspects.

import type { Deadline } from '../../base/deadline.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'
import { findComponents } from '../../graph/scc.ts'
import { NONE } from '../../history/history.ts'
import { PC } from '../problem/mixed-problem.ts'
import type { Layout } from './layout.ts'
import type { Part } from './restrict.ts'
import type { Saturation } from './saturate.ts'

/** How many cycles are worked out to find short ones, and how many of them are handed on. */
const TRIES = 40
const KEPT = 4

/** Parts that are likely to contradict on their own, the most promising first. */
export function findSuspects(layout: Layout, saturation: Saturation, deadline: Deadline): Part[] {
  const { known, broken } = saturation
  const paths = new Paths(saturation, deadline)
  const { zeroStart } = layout.problem
  const size = (pair: number) => {
    const open = pair - layout.fixedCount
    return open < 0 ? 0 : zeroStart[open + 1]! - zeroStart[open]!
  }
  const pairs = broken.toSorted((a, b) => size(a) - size(b)).slice(0, KEPT)
  const traces = pairs.map((pair) => {
    const trace = new Trace(layout, saturation, paths)
    trace.addPair(pair, known.from.length)
    return trace
  })
  for (const cycle of findCycles(saturation, paths, deadline)) {
    const trace = new Trace(layout, saturation, paths)
    for (const edge of cycle) trace.addEdge(edge)
    traces.push(trace)
  }
  return traces.map((trace) => trace.run())
}

/** Cycles of known edges, short ones first. */
function findCycles({ known }: Saturation, paths: Paths, deadline: Deadline): number[][] {
  const { from, to } = known
  const graph = buildCsr(known.nodeCount, from.data, to.data, from.length)
  const { componentOf } = findComponents(graph, deadline)
  const inside: number[] = []
  for (let edge = 0; edge < from.length; edge++) {
    if (componentOf[from.data[edge]!] === componentOf[to.data[edge]!]) inside.push(edge)
  }
  const cycles: number[][] = []
  for (let i = 0; i < inside.length; i += Math.ceil(inside.length / TRIES)) {
    const edge = inside[i]!
    const path = paths.find(to.data[edge]!, from.data[edge]!, from.length)
    if (path !== null) cycles.push([edge, ...path])
  }
  return cycles.sort((a, b) => a.length - b.length).slice(0, KEPT)
}

/** Shortest paths through known edges that are older than some edge. */
class Paths {
  private readonly incoming: Csr
  private readonly stamp: Int32Array // node -> search that reached it
  private readonly next: Int32Array // node -> edge that leads on from it
  private search = 0

  constructor(
    private readonly saturation: Saturation,
    private readonly deadline: Deadline,
  ) {
    const { from, to, nodeCount } = saturation.known
    this.incoming = buildCsr(nodeCount, to.data, from.data, from.length)
    this.stamp = new Int32Array(nodeCount)
    this.next = new Int32Array(nodeCount)
  }

  /** The edges of a path between two nodes, null if there is none. */
  find(from: number, to: number, limit: number): number[] | null {
    const { incoming, stamp, next, deadline } = this
    if (from === 0 || from === to) return []
    const search = ++this.search
    const queue = [to]
    stamp[to] = search
    for (const node of queue) {
      deadline.step(1 + incoming.start[node + 1]! - incoming.start[node]!)
      for (let slot = incoming.start[node]!; slot < incoming.start[node + 1]!; slot++) {
        if (incoming.edge[slot]! >= limit) break
        const source = incoming.target[slot]!
        if (stamp[source] === search) continue
        stamp[source] = search
        next[source] = incoming.edge[slot]!
        if (source === from) return this.unwind(from, to)
        queue.push(source)
      }
    }
    return null
  }

  private unwind(from: number, to: number): number[] {
    const path: number[] = []
    for (let node = from; node !== to; node = this.saturation.known.to.data[path.at(-1)!]!) {
      path.push(this.next[node]!)
    }
    return path
  }
}

/** Gathers transactions and pairs, and the edges whose reasons are still to be gathered. */
class Trace {
  private readonly nodes = new Set<number>()
  private readonly pairs = new Map<number, number>() // pair -> the limit it was traced with
  private readonly edges = new Set<number>() // in order of arrival, also the queue

  constructor(
    private readonly layout: Layout,
    private readonly saturation: Saturation,
    private readonly paths: Paths,
  ) {}

  addEdge(edge: number): void {
    this.edges.add(edge)
  }

  /** The read, and for a row passed over why none of the other versions was seen. */
  addPair(pair: number, limit: number): void {
    if (pair === NONE || this.pairs.has(pair)) return
    const { layout, saturation } = this
    this.pairs.set(pair, limit)
    this.nodes.add(layout.pairReader[pair]!)
    const open = pair - layout.fixedCount
    if (open < 0) return
    const { zeroStart, zeroNode } = layout.problem
    for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
      if (zeroNode[i] !== saturation.source[pair]) this.addDropped(pair, zeroNode[i]!, limit)
    }
  }

  /** A candidate comes after the reader, or is overwritten by what the reader sees. */
  private addDropped(pair: number, candidate: number, limit: number): void {
    const { layout, paths } = this
    const { problem, snapshot, pairKey, pairReader } = layout
    const { writerStart, writerNode } = problem
    const reader = pairReader[pair]!
    const begin = snapshot[reader]!
    if (this.addPath(begin, candidate, limit)) return
    if (problem.level[reader]! < PC) this.addReadsOf(reader, limit)
    const { known } = this.saturation
    const key = pairKey[pair]!
    for (let slot = writerStart[key]! + 1; slot < writerStart[key + 1]!; slot++) {
      const by = writerNode[slot]!
      if (by === reader || !known.has(by, begin) || !known.has(candidate, by)) continue
      const path = paths.find(by, begin, limit)
      if (path === null || !this.addPath(candidate, by, limit)) continue
      for (const edge of path) this.edges.add(edge)
      this.nodes.add(by)
      return
    }
  }

  /** Below pc what else was read makes writers visible. */
  private addReadsOf(node: number, limit: number): void {
    const { nodePairStart, nodePair } = this.layout
    for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
      if (this.saturation.source[nodePair[i]!] !== NONE) this.addPair(nodePair[i]!, limit)
    }
  }

  private addPath(from: number, to: number, limit: number): boolean {
    const path = this.paths.find(from, to, limit)
    for (const edge of path ?? []) this.edges.add(edge)
    return path !== null
  }

  run(): Part {
    const { layout, edges, nodes, pairs } = this
    const { known } = this.saturation
    const { problem, snapshot, fixedCount } = layout
    const nodeOf = Int32Array.from({ length: layout.graphNodeCount }, (_, node) => node)
    for (let node = 0; node < problem.nodeCount; node++) nodeOf[snapshot[node]!] = node
    for (const edge of edges) {
      nodes.add(nodeOf[known.from.data[edge]!]!)
      nodes.add(nodeOf[known.to.data[edge]!]!)
      this.addPair(known.pair.data[edge]!, edge)
      this.addPair(known.via.data[edge]!, edge)
      if (known.pathTo.data[edge] === NONE) continue
      this.addPath(known.pathFrom.data[edge]!, known.pathTo.data[edge]!, edge)
    }
    const part = {
      nodes: new Uint8Array(problem.nodeCount),
      fixed: new Uint8Array(fixedCount),
      open: new Uint8Array(problem.openCount),
    }
    for (const node of nodes) part.nodes[node] = 1
    for (const pair of pairs.keys()) {
      if (pair < fixedCount) part.fixed[pair] = 1
      else part.open[pair - fixedCount] = 1
    }
    return part
  }
}
