// Which transactions lead to which nodes of a dependency graph: over strong edges alone, and with
// one weak edge on the way. Bits, a row for each node, worked out in one pass along a topological
// order: O(edges · transactions / 32). An edge that is added later is taken in where it leads
// somewhere new: O(nodes · transactions / 32). Main class: Reach.

import { findTopologicalOrder } from '../../graph/toposort.ts'
import type { Dependencies, DependencyEdge } from './dependencies.ts'

export class Reach {
  /** Nodes in a topological order of the strong edges; null if these have a cycle. */
  readonly order: Int32Array | null
  private readonly words: number
  private readonly strong: Int32Array // node · words -> transactions that lead there, or are it
  private readonly weak: Int32Array // the same, with one weak edge on the way

  constructor(
    private readonly graph: Dependencies,
    priority: ArrayLike<number>,
  ) {
    this.words = (graph.txnCount + 31) >>> 5
    this.order = findTopologicalOrder(graph.strongEdges(), priority)
    const size = this.order === null ? 0 : graph.nodeCount * this.words
    this.strong = new Int32Array(size)
    this.weak = new Int32Array(size)
    if (this.order === null) return
    for (const node of this.order) this.fillStrong(node)
    for (const node of this.order) this.fillWeak(node)
  }

  /** Whether a transaction leads to a node, or is it. */
  leads(txn: number, node: number): boolean {
    return ((this.strong[node * this.words + (txn >>> 5)]! >>> (txn & 31)) & 1) === 1
  }

  /** Whether it leads there over one weak edge. */
  leadsWeakly(txn: number, node: number): boolean {
    return ((this.weak[node * this.words + (txn >>> 5)]! >>> (txn & 31)) & 1) === 1
  }

  /** Takes in an edge that was added since; false if it closes a cycle of strong ones. */
  takeIn({ from, to, strong }: DependencyEdge): boolean {
    const { nodeCount, txnCount } = this.graph
    const isTxn = to < txnCount // a read's own node leads nowhere over strong edges
    if (strong && isTxn && this.leads(to, from)) return false
    if (strong && this.leads(from, to)) return true
    for (let node = 0; node < nodeCount; node++) {
      if (node !== to && !(isTxn && this.leads(to, node))) continue
      if (strong) this.join(this.strong, node, this.strong, from)
      this.join(this.weak, node, strong ? this.weak : this.strong, from)
    }
    return true
  }

  private fillStrong(node: number): void {
    const { into, edges, txnCount } = this.graph
    if (node < txnCount) this.strong[node * this.words + (node >>> 5)]! |= 1 << (node & 31)
    for (const id of into[node]!) this.join(this.strong, node, this.strong, edges[id]!.from)
  }

  private fillWeak(node: number): void {
    const { into, weakInto, edges } = this.graph
    for (const id of into[node]!) this.join(this.weak, node, this.weak, edges[id]!.from)
    for (const id of weakInto[node]!) this.join(this.weak, node, this.strong, edges[id]!.from)
  }

  private join(target: Int32Array, node: number, source: Int32Array, other: number): void {
    const { words } = this
    const to = node * words
    const from = other * words
    for (let word = 0; word < words; word++) target[to + word]! |= source[from + word]!
  }
}
