// Paths among the known edges, for evidence. A breadth-first search backwards from the target that
// counts only edges: walking along a chain is free, since session order is transitive. Edges
// inferred late are avoided where older ones do: the search is tried with the edges of the
// definition alone, then with those of one round of inference after another. Typed arrays with
// stamps; O(edges) each. Main class: KnownPaths.

import { IntColumn } from '../../base/grow.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'
import type { KnownEdges } from './known-edges.ts'

/** One step of a path; `edge` is -1 for a walk along a chain. */
export interface PathStep {
  readonly from: number
  readonly to: number
  readonly edge: number
}

export class KnownPaths {
  private readonly incoming: Csr
  private readonly stamp: Int32Array // node -> search that reached it
  private readonly via: Int32Array // node -> edge that leads on from it, -1 for the chain
  private readonly queue = new IntColumn(64) // pairs: node, edge that leads on from it
  private search = 0

  constructor(private readonly known: KnownEdges) {
    const { graph } = known
    const { nodeCount, edgeCount } = graph
    this.incoming = buildCsr(nodeCount, graph.to.data, graph.from.data, edgeCount)
    this.stamp = new Int32Array(nodeCount)
    this.via = new Int32Array(nodeCount)
  }

  /** A path between two different nodes through edges below the limit, null if there is none. */
  find(from: number, to: number, limit: number): PathStep[] | null {
    for (const round of this.known.roundStart) {
      const bound = Math.min(round, limit)
      const path = this.findWithin(from, to, bound)
      if (path !== null || bound === limit) return path
    }
    return this.findWithin(from, to, limit)
  }

  private findWithin(from: number, to: number, limit: number): PathStep[] | null {
    const { graph } = this.known
    const { chainOf, chainStart } = graph
    const { incoming, stamp, via, queue } = this
    const search = ++this.search
    queue.length = 0
    queue.push(to)
    queue.push(-2)
    for (let head = 0; head < queue.length; head += 2) {
      const start = queue.data[head]!
      if (stamp[start] === search) continue
      via[start] = queue.data[head + 1]!
      const first = chainStart[chainOf[start]!]!
      // Everything earlier on the chain is as near as this node.
      for (let node = start; node >= first && stamp[node] !== search; node--) {
        stamp[node] = search
        if (node < start) via[node] = -1
        if (node === from) return this.unwind(from, to)
        for (let slot = incoming.start[node]!; slot < incoming.start[node + 1]!; slot++) {
          const edge = incoming.edge[slot]!
          if (edge >= limit) break
          const source = incoming.target[slot]!
          if (stamp[source] === search) continue
          queue.push(source)
          queue.push(edge)
        }
      }
    }
    return null
  }

  private unwind(from: number, to: number): PathStep[] {
    const { graph } = this.known
    const steps: PathStep[] = []
    let node = from
    do {
      const edge = this.via[node]!
      if (edge >= 0) {
        steps.push({ from: node, to: graph.to.data[edge]!, edge })
        node = graph.to.data[edge]!
        continue
      }
      const start = node
      while (node !== to && this.via[node] === -1) node++
      steps.push({ from: start, to: node, edge: -1 })
    } while (node !== to)
    return steps
  }
}
