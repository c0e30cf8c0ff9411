// A topological order of a graph that may have cycles: of its strongly connected components, the
// nodes of each one behind the other. Of the components that may come next it takes the one with
// the node of smallest priority, so that the order stays as close to a wish as edges allow. Kahn's
// algorithm with a heap of what may come next, which is small where sessions hold their
// transactions in line. O(edges + nodes · log of what may come next). Main function:
// findCondensedOrder.

import { Deadline } from '../base/deadline.ts'
import type { Csr } from './csr.ts'
import type { Components } from './scc.ts'
import { siftDown, siftUp } from './toposort.ts'

export interface CondensedOrder {
  readonly order: Int32Array // place -> node
  /** First and last place of each component of several nodes. */
  readonly blocks: readonly (readonly [number, number])[]
}

const NOBODY = -1

/** @param priority of nodes; of a component, the smallest one counts */
export function findCondensedOrder(
  { nodeCount, start, target }: Csr,
  { componentOf, count }: Components,
  priority: Float64Array,
  deadline: Deadline = Deadline.none(),
): CondensedOrder {
  // A component goes by its node of smallest priority; the others follow it in a chain.
  const head = new Int32Array(count).fill(NOBODY) // component -> the node it goes by
  const headOf = new Int32Array(nodeCount) // node -> the node that its component goes by
  const mate = new Int32Array(nodeCount).fill(NOBODY) // node -> another of its component
  for (let node = 0; node < nodeCount; node++) {
    const first = head[componentOf[node]!]!
    if (first === NOBODY || priority[node]! < priority[first]!) head[componentOf[node]!] = node
  }
  for (let node = 0; node < nodeCount; node++) {
    const first = head[componentOf[node]!]!
    headOf[node] = first
    if (first === node) continue
    mate[node] = mate[first]!
    mate[first] = node
  }
  const waiting = new Int32Array(nodeCount) // head -> edges from others that were not taken yet
  for (let node = 0; node < nodeCount; node++) {
    const own = headOf[node]!
    for (let slot = start[node]!, end = start[node + 1]!; slot < end; slot++) {
      const next = headOf[target[slot]!]!
      if (next !== own) waiting[next]!++
    }
  }
  const order = new Int32Array(nodeCount)
  const blocks: [number, number][] = []
  const heap = new Int32Array(count)
  let heapSize = 0
  for (let node = 0; node < nodeCount; node++) {
    if (headOf[node] === node && waiting[node] === 0) siftUp(heap, heapSize++, node, priority)
  }
  let length = 0
  while (heapSize > 0) {
    deadline.step()
    const own = heap[0]!
    heapSize--
    if (heapSize > 0) siftDown(heap, heapSize, heap[heapSize]!, priority)
    const first = length
    for (let node = own; node !== NOBODY; node = mate[node]!) {
      order[length++] = node
      for (let slot = start[node]!, end = start[node + 1]!; slot < end; slot++) {
        const next = headOf[target[slot]!]!
        if (next !== own && --waiting[next]! === 0) siftUp(heap, heapSize++, next, priority)
      }
    }
    if (length > first + 1) blocks.push([first, length - 1])
  }
  return { order, blocks }
}
