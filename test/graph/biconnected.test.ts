import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { findBlocks } from '../../src/graph/biconnected.ts'

function blocksOf(nodeCount: number, edges: readonly (readonly [number, number])[]): number[][] {
  const from = edges.map(([a]) => a)
  const to = edges.map(([, b]) => b)
  const blocks = findBlocks(nodeCount, from, to).map((block) => [...block])
  return blocks.sort((a, b) => a.join().localeCompare(b.join()))
}

/** Whether the nodes are connected when only these, less one, are kept. */
function isConnected(
  nodes: readonly number[],
  edges: readonly (readonly [number, number])[],
): boolean {
  const reached = new Set(nodes.slice(0, 1))
  for (const node of reached) {
    for (const [a, b] of edges) {
      const next = a === node ? b : b === node ? a : -1
      if (nodes.includes(next)) reached.add(next)
    }
  }
  return reached.size === nodes.length
}

/** Maximal sets that stay connected without any one of their nodes, by trying all sets. */
function blocksByTrying(nodeCount: number, edges: readonly (readonly [number, number])[]) {
  const sets: number[][] = []
  for (let mask = 1; mask < 1 << nodeCount; mask++) {
    const nodes = Array.from({ length: nodeCount }, (_, i) => i).filter((i) => (mask >> i) & 1)
    const without = nodes.map((node) => nodes.filter((other) => other !== node))
    if (isConnected(nodes, edges) && without.every((rest) => isConnected(rest, edges))) {
      sets.push(nodes)
    }
  }
  const maximal = sets.filter(
    (set) =>
      !sets.some((larger) => larger.length > set.length && set.every((n) => larger.includes(n))),
  )
  return maximal.sort((a, b) => a.join().localeCompare(b.join()))
}

describe('findBlocks', () => {
  it('splits at a node whose removal disconnects', () => {
    const bowTie = [
      [0, 1],
      [1, 2],
      [2, 0],
      [2, 3],
      [3, 4],
      [4, 2],
    ] as const
    expect(blocksOf(5, bowTie)).toEqual([
      [0, 1, 2],
      [2, 3, 4],
    ])
  })

  it('makes a block of a node without edges', () => {
    expect(blocksOf(3, [[0, 2]])).toEqual([[0, 2], [1]])
  })

  it('agrees with trying all sets on random graphs', () => {
    const random = new Random(1)
    for (let i = 0; i < 300; i++) {
      const nodeCount = 1 + random.below(7)
      const edges: [number, number][] = []
      for (let a = 0; a < nodeCount; a++) {
        for (let b = a + 1; b < nodeCount; b++) if (random.chance(0.35)) edges.push([a, b])
      }
      expect(blocksOf(nodeCount, edges)).toEqual(blocksByTrying(nodeCount, edges))
    }
  })

  it('walks a path of a hundred thousand nodes without recursion', () => {
    const from = Array.from({ length: 99_999 }, (_, i) => i)
    const to = from.map((i) => i + 1)
    expect(findBlocks(100_000, from, to).length).toBe(99_999)
  })
})
