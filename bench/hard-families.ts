// Histories on which no algorithm for weak levels is known to be faster than n^1.5: those from which
// AWDIT proves its lower bounds (its Figures 5 and 6), here on complete bipartite graphs, which have
// the most edges without a triangle. Each node has a writer and a reader. The writer of a writes the
// key of every neighbour, then its own; the reader of a reads every neighbour's key from that
// neighbour. No order of writers is right for all: half of the reads are stale, each by as many
// versions as a side has nodes, yet every order is allowed, because there is no triangle. Plume
// text, line by line. Main function: writeFamily.

import { closeSync, openSync, writeSync } from 'node:fs'

/**
 * edges: each transaction in its own session, and each reader first reads a key that only one
 * writer writes, for every edge (Figure 5); one-session: the same in one session; nodes: without
 * those keys, writers in one session and readers in another (Figure 6).
 */
export type Family = 'edges' | 'one-session' | 'nodes'

export const FAMILIES: readonly Family[] = ['edges', 'one-session', 'nodes']

/** Nodes of a side so that the history has about so many operations. */
export function sideFor(family: Family, operations: number): number {
  return Math.round(Math.sqrt(operations / (family === 'nodes' ? 4 : 8)))
}

/** Lines of one transaction after another. */
export function* linesOf(family: Family, side: number): Generator<string[]> {
  const nodes = 2 * side
  const nodeKey = (node: number) => node
  const edgeKey = (from: number, to: number) => nodes + from * side + (to % side)
  const neighbours = (node: number) => {
    const first = node < side ? side : 0
    return Array.from({ length: side }, (_, i) => first + i)
  }
  for (let txn = 0; txn < 2 * nodes; txn++) {
    const node = txn % nodes
    const isWriter = txn < nodes
    const session = family === 'edges' ? txn : family === 'nodes' && !isWriter ? 1 : 0
    const lines: string[] = []
    const add = (kind: string, key: number, writer: number) =>
      lines.push(`${kind}(${key},${writer + 1},${session},${txn})`)
    const others = neighbours(node)
    if (isWriter) {
      for (const other of others) {
        add('w', nodeKey(other), node)
        if (family !== 'nodes') add('w', edgeKey(node, other), node)
      }
      add('w', nodeKey(node), node)
    } else {
      if (family !== 'nodes') for (const other of others) add('r', edgeKey(other, node), other)
      for (const other of others) add('r', nodeKey(other), other)
    }
    yield lines
  }
}

export function writeFamily(file: string, family: Family, side: number): void {
  const out = openSync(file, 'w')
  try {
    for (const lines of linesOf(family, side)) writeSync(out, `${lines.join('\n')}\n`)
  } finally {
    closeSync(out)
  }
}
