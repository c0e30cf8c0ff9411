// What is known of the commit order: edges, and for every node a bit for each node that they lead
// to, brought up to date on request, in reverse topological order. The initial transaction, node 0,
// is before all others without any edge. O(edges · nodes / 32) for each update, nodes² / 8 bytes;
// beyond a size only direct edges are known, which is sound wherever knowledge only saves work.
// Main class: KnownOrder.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { buildCsr } from '../../graph/csr.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import { NONE } from '../../history/history.ts'

const MOST_NODES = 20_000 // 50 MB of bits

export class KnownOrder {
  readonly from = new IntColumn(64)
  readonly to = new IntColumn(64)
  // What an edge rests on, for suspects.ts; NONE where there is nothing of the kind.
  readonly pair = new IntColumn(64) // edge -> pair that was read
  readonly via = new IntColumn(64) // edge -> another pair, which made a writer visible
  readonly pathFrom = new IntColumn(64) // edge -> a node from which older edges lead ...
  readonly pathTo = new IntColumn(64) // ... to this one
  /** After an update: the nodes, in an order that contains what is known. */
  order: Int32Array = new Int32Array(0)
  private readonly width: number // words for a node's bits
  private readonly reach: Uint32Array // node · width -> bits of the nodes it leads to

  constructor(
    readonly nodeCount: number,
    private readonly deadline: Deadline,
    private readonly wish: ArrayLike<number>,
  ) {
    const isSmall = nodeCount <= MOST_NODES
    this.width = isSmall ? (nodeCount + 31) >> 5 : 0
    deadline.reserve(4 * this.width * nodeCount)
    this.reach = new Uint32Array(this.width * nodeCount)
  }

  add(
    from: number,
    to: number,
    pair: number = NONE,
    pathFrom: number = NONE,
    pathTo: number = NONE,
    via: number = NONE,
  ): void {
    if (from === 0) return
    this.from.push(from)
    this.to.push(to)
    this.pair.push(pair)
    this.via.push(via)
    this.pathFrom.push(pathFrom)
    this.pathTo.push(pathTo)
  }

  /** Whether `a` is known, since the last update, to come before `b`. */
  has(a: number, b: number): boolean {
    if (a === 0) return b !== 0
    if (this.width === 0) return false
    return (this.reach[a * this.width + (b >> 5)]! & (1 << (b & 31))) !== 0
  }

  /** Takes in the edges added; false if they run in a circle. */
  update(): boolean {
    const { nodeCount, width, reach, from, to } = this
    this.deadline.check()
    const graph = buildCsr(nodeCount, from.data, to.data, from.length)
    const order = findTopologicalOrder(graph, this.wish, this.deadline)
    if (order === null) return false
    this.order = order
    if (width === 0) return true
    reach.fill(0)
    for (let i = nodeCount - 1; i >= 0; i--) {
      this.deadline.step()
      const node = order[i]!
      const row = node * width
      for (let slot = graph.start[node]!; slot < graph.start[node + 1]!; slot++) {
        const next = graph.target[slot]!
        const word = row + (next >> 5)
        const bit = 1 << (next & 31)
        if ((reach[word]! & bit) !== 0) continue
        reach[word]! |= bit
        this.deadline.step(width >> 3)
        const other = next * width
        for (let w = 0; w < width; w++) reach[row + w]! |= reach[other + w]!
      }
    }
    return true
  }
}
