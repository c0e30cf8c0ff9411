// Compressed sparse rows: the successors of every node in one array.
//
// The edges come as two parallel arrays (from, to) and are counted, then placed, in two passes, so
// building costs O(nodes + edges) and the edges of a node keep the order in which they were given.
// Edge ids survive in `edge`, for callers that keep labels in arrays of their own. Parallel edges
// and self-loops are kept. Main function: buildCsr.

export interface Csr {
  readonly nodeCount: number
  readonly start: Int32Array // node -> its first slot; start[nodeCount] is the number of edges
  readonly target: Int32Array // slot -> node the edge leads to
  readonly edge: Int32Array // slot -> id of the edge: its index in the arrays given
}

/** Successor lists of the first `edgeCount` edges; call with `to, from` for predecessor lists. */
export function buildCsr(
  nodeCount: number,
  from: ArrayLike<number>,
  to: ArrayLike<number>,
  edgeCount: number = from.length,
): Csr {
  const start = new Int32Array(nodeCount + 1)
  for (let e = 0; e < edgeCount; e++) start[from[e]! + 1]!++
  for (let node = 0; node < nodeCount; node++) start[node + 1]! += start[node]!
  const next = start.slice(0, nodeCount)
  const target = new Int32Array(edgeCount)
  const edge = new Int32Array(edgeCount)
  for (let e = 0; e < edgeCount; e++) {
    const slot = next[from[e]!]!++
    target[slot] = to[e]!
    edge[slot] = e
  }
  return { nodeCount, start, target, edge }
}
