// Topological order by Kahn's algorithm (CACM 1962): take away nodes without predecessors.
//
// With priorities, the node taken is always the free one of smallest priority (ties: the smaller
// node), from a binary heap; this gives the order closest to a wish, such as commit times.
// Without, free nodes are taken first come, first served. Cost O(nodes + edges), times log nodes
// for the heap. Main functions: findTopologicalOrder, positionsOf.

import { Deadline } from '../base/deadline.ts'
import type { Csr } from './csr.ts'

type Priority = ArrayLike<number> // node -> what decides among those that are free

/** The nodes in a topological order, or null when the graph has a cycle. */
export function findTopologicalOrder(
  graph: Csr,
  priority?: Priority,
  deadline: Deadline = Deadline.none(),
): Int32Array | null {
  const { target } = graph
  const waiting = new Int32Array(graph.nodeCount) // node -> predecessors not taken yet
  for (let slot = 0; slot < target.length; slot++) waiting[target[slot]!]!++
  return priority === undefined
    ? takeInTurn(graph, waiting, deadline)
    : takeSmallest(graph, waiting, priority, deadline)
}

/** The inverse of an order: node -> its position. */
export function positionsOf(order: Int32Array): Int32Array {
  const position = new Int32Array(order.length)
  for (let i = 0; i < order.length; i++) position[order[i]!] = i
  return position
}

function takeInTurn(graph: Csr, waiting: Int32Array, deadline: Deadline): Int32Array | null {
  const { nodeCount, start, target } = graph
  const order = new Int32Array(nodeCount) // doubles as the queue
  let tail = 0
  for (let node = 0; node < nodeCount; node++) if (waiting[node] === 0) order[tail++] = node
  for (let head = 0; head < tail; head++) {
    deadline.step()
    const node = order[head]!
    for (let slot = start[node]!, end = start[node + 1]!; slot < end; slot++) {
      const next = target[slot]!
      if (--waiting[next]! === 0) order[tail++] = next
    }
  }
  return tail === nodeCount ? order : null
}

function takeSmallest(
  { nodeCount, start, target }: Csr,
  waiting: Int32Array,
  priority: Priority,
  deadline: Deadline,
): Int32Array | null {
  const order = new Int32Array(nodeCount)
  const heap = new Int32Array(nodeCount)
  let heapSize = 0
  let taken = 0
  for (let node = 0; node < nodeCount; node++) {
    if (waiting[node] === 0) siftUp(heap, heapSize++, node, priority)
  }
  while (heapSize > 0) {
    deadline.step()
    const node = heap[0]!
    order[taken++] = node
    heapSize--
    if (heapSize > 0) siftDown(heap, heapSize, heap[heapSize]!, priority)
    for (let slot = start[node]!, end = start[node + 1]!; slot < end; slot++) {
      const next = target[slot]!
      if (--waiting[next]! === 0) siftUp(heap, heapSize++, next, priority)
    }
  }
  return taken === nodeCount ? order : null
}

/** Puts `node` into the hole at `hole`, moving larger ancestors down. */
export function siftUp(heap: Int32Array, hole: number, node: number, priority: Priority): void {
  let at = hole
  while (at > 0) {
    const parent = (at - 1) >> 1
    const other = heap[parent]!
    if (!isBefore(node, other, priority)) break
    heap[at] = other
    at = parent
  }
  heap[at] = node
}

/** Puts `node` at the root of a heap of `size`, moving smaller descendants up. */
export function siftDown(heap: Int32Array, size: number, node: number, priority: Priority): void {
  let at = 0
  while (true) {
    let child = 2 * at + 1
    if (child >= size) break
    if (child + 1 < size && isBefore(heap[child + 1]!, heap[child]!, priority)) child++
    if (!isBefore(heap[child]!, node, priority)) break
    heap[at] = heap[child]!
    at = child
  }
  heap[at] = node
}

function isBefore(a: number, b: number, priority: Priority): boolean {
  const difference = priority[a]! - priority[b]!
  return difference < 0 || (difference === 0 && a < b)
}
