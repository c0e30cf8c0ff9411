// A growing graph whose nodes lie on chains (sessions), with its transitive closure. A chain is a
// run of consecutive node numbers, each node before the next. So what reaches a node is, for each
// chain, a prefix, and one number a chain says it all: row[chain] = first node of that chain that
// does not reach it. n · chains numbers instead of n² bits. Edges are collected and the rows
// computed anew in topological order, O(nodes · chains + edges · chains) a refresh; that beats
// updating them edge by edge as long as edges come by the thousand. Main class: ChainGraph.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { buildCsr, type Csr } from '../../graph/csr.ts'

export class ChainGraph {
  readonly nodeCount: number
  readonly chainCount: number
  readonly chainOf: Int32Array // node -> chain
  readonly rows: Int32Array // node · chainCount + chain -> first node there that does not reach it
  readonly from = new IntColumn(1024) // edge -> node
  readonly to = new IntColumn(1024) // edge -> node
  /** Nodes in a topological order of the edges at the last refresh. */
  order: Int32Array
  incoming: Csr

  /** @param chainStart chain -> its first node; one more entry, the number of nodes, at the end */
  constructor(
    readonly chainStart: Int32Array,
    deadline: Deadline,
  ) {
    this.chainCount = chainStart.length - 1
    this.nodeCount = chainStart[this.chainCount]!
    deadline.reserve(4 * this.nodeCount * this.chainCount)
    this.rows = new Int32Array(this.nodeCount * this.chainCount)
    this.chainOf = new Int32Array(this.nodeCount)
    for (let c = 0; c < this.chainCount; c++) {
      this.chainOf.fill(c, chainStart[c], chainStart[c + 1])
    }
    this.order = new Int32Array(0)
    this.incoming = buildCsr(0, [], [])
  }

  get edgeCount(): number {
    return this.from.length
  }

  /** True if a = b, or a path led from a to b at the last refresh. */
  reaches(a: number, b: number): boolean {
    return this.rows[b * this.chainCount + this.chainOf[a]!]! > a
  }

  add(from: number, to: number): void {
    this.from.push(from)
    this.to.push(to)
  }

  /** Brings order and rows up to date; false, with rows left as they were, if there is a cycle. */
  refresh(deadline: Deadline): boolean {
    const { nodeCount } = this
    deadline.check()
    this.incoming = buildCsr(nodeCount, this.to.data, this.from.data, this.edgeCount)
    const order = this.findOrder()
    if (order === null) return false
    this.order = order
    this.fillRows(deadline)
    return true
  }

  /** Kahn's algorithm; null if there is a cycle. */
  private findOrder(): Int32Array | null {
    const { nodeCount, chainOf, incoming } = this
    const out = buildCsr(nodeCount, this.from.data, this.to.data, this.edgeCount)
    const waiting = new Int32Array(nodeCount) // node -> predecessors not placed yet
    const order = new Int32Array(nodeCount)
    let placed = 0
    for (let node = 0; node < nodeCount; node++) {
      waiting[node] = incoming.start[node + 1]! - incoming.start[node]!
      if (node > 0 && chainOf[node - 1] === chainOf[node]) waiting[node]!++
      if (waiting[node] === 0) order[placed++] = node
    }
    for (let head = 0; head < placed; head++) {
      const node = order[head]!
      for (let slot = out.start[node]!; slot < out.start[node + 1]!; slot++) {
        const next = out.target[slot]!
        if (--waiting[next]! === 0) order[placed++] = next
      }
      const next = node + 1
      if (next < nodeCount && chainOf[next] === chainOf[node] && --waiting[next]! === 0) {
        order[placed++] = next
      }
    }
    return placed === nodeCount ? order : null
  }

  private fillRows(deadline: Deadline): void {
    const { rows, chainCount, chainOf, chainStart, order, incoming } = this
    for (let i = 0; i < order.length; i++) {
      if ((i & 4095) === 0) deadline.check()
      const node = order[i]!
      const chain = chainOf[node]!
      const at = node * chainCount
      if (node === chainStart[chain]) rows.set(chainStart.subarray(0, chainCount), at)
      else rows.copyWithin(at, at - chainCount, at)
      rows[at + chain] = node + 1
      for (let slot = incoming.start[node]!; slot < incoming.start[node + 1]!; slot++) {
        const from = incoming.target[slot]!
        if (rows[at + chainOf[from]!]! > from) continue
        const other = from * chainCount
        for (let c = 0; c < chainCount; c++) {
          if (rows[other + c]! > rows[at + c]!) rows[at + c] = rows[other + c]!
        }
      }
    }
  }
}
