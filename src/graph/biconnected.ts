// Biconnected components (blocks) of an undirected graph: maximal sets of nodes that stay
// connected when any one node is taken away. Hopcroft and Tarjan, CACM 1973: a depth-first search
// that notes how far back each subtree reaches; where a child reaches no further than its parent,
// the edges since then form a block. Iterative. A node without edges is a block of its own; a node
// in several blocks joins them. Cost O(nodes + edges). Main function: findBlocks.

import { buildCsr } from './csr.ts'

const UNSEEN = -1

/** Each block as its nodes, ascending; edges are given once, in either direction. */
export function findBlocks(
  nodeCount: number,
  from: ArrayLike<number>,
  to: ArrayLike<number>,
  edgeCount: number = from.length,
): Int32Array[] {
  const ends = new Int32Array(2 * edgeCount)
  const others = new Int32Array(2 * edgeCount)
  for (let e = 0; e < edgeCount; e++) {
    ends[2 * e] = others[2 * e + 1] = from[e]!
    ends[2 * e + 1] = others[2 * e] = to[e]!
  }
  const graph = buildCsr(nodeCount, ends, others)
  const number = new Int32Array(nodeCount).fill(UNSEEN) // node -> when it was first seen
  const low = new Int32Array(nodeCount) // node -> earliest node that its subtree reaches
  const slotOf = graph.start.slice(0, nodeCount) // node -> next edge to look at
  const path: number[] = []
  const pending: number[] = [] // nodes seen whose block is not complete
  const blocks: Int32Array[] = []
  let seen = 0
  for (let root = 0; root < nodeCount; root++) {
    if (number[root] !== UNSEEN) continue
    number[root] = low[root] = seen++
    if (graph.start[root] === graph.start[root + 1]) blocks.push(Int32Array.of(root))
    path.push(root)
    while (path.length > 0) {
      const node = path[path.length - 1]!
      if (slotOf[node]! < graph.start[node + 1]!) {
        const next = graph.target[slotOf[node]!++]!
        if (number[next] === UNSEEN) {
          number[next] = low[next] = seen++
          path.push(next)
          pending.push(next)
        } else if (number[next]! < low[node]!) low[node] = number[next]!
        continue
      }
      path.pop()
      if (path.length === 0) break
      const parent = path[path.length - 1]!
      if (low[node]! < low[parent]!) low[parent] = low[node]!
      // Nothing below the node reaches past its parent: the parent separates this block.
      if (low[node]! >= number[parent]!) {
        const block = [parent]
        let member: number
        do {
          member = pending.pop()!
          block.push(member)
        } while (member !== node)
        blocks.push(Int32Array.from(block).sort())
      }
    }
  }
  return blocks
}
