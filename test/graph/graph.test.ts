import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { buildCsr } from '../../src/graph/csr.ts'
import { PairIndex } from '../../src/graph/pair-index.ts'
import { findComponents } from '../../src/graph/scc.ts'
import { findTopologicalOrder, positionsOf } from '../../src/graph/toposort.ts'

function randomEdges(random: Random, nodeCount: number, edgeCount: number) {
  const from = new Int32Array(edgeCount).map(() => random.below(nodeCount))
  const to = new Int32Array(edgeCount).map(() => random.below(nodeCount))
  return { from, to }
}

/** Reachability by at least one edge, the slow way. */
function closure(nodeCount: number, from: Int32Array, to: Int32Array): boolean[][] {
  const reach = Array.from({ length: nodeCount }, () => new Array<boolean>(nodeCount).fill(false))
  for (let e = 0; e < from.length; e++) reach[from[e]!]![to[e]!] = true
  for (let k = 0; k < nodeCount; k++) {
    for (let i = 0; i < nodeCount; i++) {
      if (!reach[i]![k]) continue
      for (let j = 0; j < nodeCount; j++) if (reach[k]![j]) reach[i]![j] = true
    }
  }
  return reach
}

describe('buildCsr', () => {
  it('lists the successors of every node in the order given, with edge ids', () => {
    const graph = buildCsr(3, [2, 0, 2, 2], [1, 2, 2, 1])
    expect([...graph.start]).toEqual([0, 1, 1, 4])
    expect([...graph.target]).toEqual([2, 1, 2, 1])
    expect([...graph.edge]).toEqual([1, 0, 2, 3])
  })

  it('takes only the first edges when told so', () => {
    expect([...buildCsr(2, [0, 1, 1], [1, 0, 1], 1).target]).toEqual([1])
  })
})

describe('findComponents', () => {
  it('agrees with mutual reachability on random graphs, in reverse topological order', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = new Random(seed)
      const nodeCount = 1 + random.below(12)
      const { from, to } = randomEdges(random, nodeCount, random.below(2 * nodeCount + 1))
      const { componentOf, count } = findComponents(buildCsr(nodeCount, from, to))
      const reach = closure(nodeCount, from, to)
      for (let i = 0; i < nodeCount; i++) {
        expect(componentOf[i]).toBeLessThan(count)
        for (let j = 0; j < nodeCount; j++) {
          const together = i === j || (reach[i]![j]! && reach[j]![i]!)
          expect(componentOf[i] === componentOf[j], `seed ${seed}`).toBe(together)
          if (reach[i]![j]) expect(componentOf[i]).toBeGreaterThanOrEqual(componentOf[j]!)
        }
      }
    }
  })

  it('takes a path of a million nodes and a cycle through it', () => {
    const nodeCount = 1_000_000
    const from = Int32Array.from({ length: nodeCount }, (_, i) => i)
    const to = from.map((i) => (i + 1) % nodeCount)
    expect(findComponents(buildCsr(nodeCount, from, to)).count).toBe(1)
    expect(findComponents(buildCsr(nodeCount, from, to, nodeCount - 1)).count).toBe(nodeCount)
  })
})

describe('findTopologicalOrder', () => {
  it('finds an order exactly when there is no cycle, with and without priorities', () => {
    for (let seed = 0; seed < 300; seed++) {
      const random = new Random(seed)
      const nodeCount = 1 + random.below(12)
      const { from, to } = randomEdges(random, nodeCount, random.below(nodeCount + 3))
      const cyclic = closure(nodeCount, from, to).some((row, i) => row[i])
      const graph = buildCsr(nodeCount, from, to)
      const wish = Float64Array.from({ length: nodeCount }, () => random.unit())
      for (const order of [findTopologicalOrder(graph), findTopologicalOrder(graph, wish)]) {
        expect(order === null, `seed ${seed}`).toBe(cyclic)
        if (order === null) continue
        const position = positionsOf(order)
        expect([...order].sort((a, b) => a - b)).toEqual([...order.keys()])
        from.forEach((node, e) => {
          expect(position[node]).toBeLessThan(position[to[e]!]!)
        })
      }
    }
  })

  it('takes the free node of smallest priority', () => {
    const graph = buildCsr(4, [3, 1], [0, 2])
    expect([...findTopologicalOrder(graph, [0, 5, 1, 9])!]).toEqual([1, 2, 3, 0])
  })
})

describe('PairIndex', () => {
  it('numbers pairs like a map of strings does', () => {
    const random = new Random(1)
    const index = new PairIndex()
    const expected = new Map<string, number>()
    for (let i = 0; i < 20_000; i++) {
      const a = random.below(100)
      const b = random.below(100) - 1
      const name = `${a},${b}`
      expect(index.find(a, b)).toBe(expected.get(name) ?? -1)
      if (!expected.has(name)) expected.set(name, expected.size)
      const id = index.add(a, b)
      expect(id).toBe(expected.get(name))
      expect([index.firstOf(id), index.secondOf(id)]).toEqual([a, b])
    }
    expect(index.count).toBe(expected.size)
  })
})
