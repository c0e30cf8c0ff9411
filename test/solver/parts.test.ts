import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { buildEdgeGraph, EdgeStore } from '../../src/solver/edges.ts'
import { DynamicOrder } from '../../src/solver/order.ts'
import { PresentGraph } from '../../src/solver/present.ts'
import { refute } from '../../src/solver/refutation.ts'

/** Whether `from` reaches `to` by the edges, the slow way. */
function reaches(edges: readonly (readonly [number, number])[], from: number, to: number) {
  const seen = new Set([from])
  for (const node of seen) for (const [a, b] of edges) if (a === node) seen.add(b)
  return seen.has(to)
}

describe('DynamicOrder.admit', () => {
  it('refuses exactly the edges that close a cycle, while edges come and go', () => {
    let refusals = 0
    for (let seed = 0; seed < 100; seed++) {
      const random = new Random(seed)
      const nodeCount = 3 + random.below(10)
      const store = new EdgeStore(nodeCount)
      for (let a = 0; a < nodeCount; a++) {
        for (let b = 0; b < nodeCount; b++) store.addCandidate(a * nodeCount + b, -1, a, b)
      }
      const graph = buildEdgeGraph(store, nodeCount * nodeCount)
      const present = new PresentGraph(store, graph)
      const nodeAt = random.shuffle(Array.from({ length: nodeCount }, (_, node) => node))
      const order = new DynamicOrder(present, Int32Array.from(nodeAt))
      const stack: number[] = [] // candidates present, in order
      for (let step = 0; step < 100; step++) {
        if (stack.length > 0 && random.chance(0.3)) {
          present.remove(graph.slotOf[stack.pop()!]!)
          continue
        }
        const [from, to] = [random.below(nodeCount), random.below(nodeCount)]
        const candidate = from * nodeCount + to
        const edges = stack.map((e) => [Math.floor(e / nodeCount), e % nodeCount] as const)
        const admitted = order.admit(from, to)
        expect(admitted, `seed ${seed}`).toBe(!reaches(edges, to, from))
        if (admitted) {
          present.add(graph.slotOf[candidate]!, candidate)
          stack.push(candidate)
          edges.push([from, to])
        } else refusals++
        expect(new Set(order.position).size).toBe(nodeCount)
        for (const [a, b] of edges) expect(order.position[a]).toBeLessThan(order.position[b]!)
      }
    }
    expect(refusals).toBeGreaterThan(1000)
  })
})

describe('buildEdgeGraph', () => {
  it('leaves out what lies on no cycle and merges parallel edges', () => {
    const store = new EdgeStore(4)
    store.addKnown(0, 1)
    store.addKnown(0, 1)
    store.addKnown(2, 3)
    store.addCandidate(0, -1, 1, 0)
    store.addCandidate(2, -1, 1, 0)
    store.addCandidate(4, -1, 0, 1) // parallel to a known edge
    store.addCandidate(6, -1, 1, 2) // between components
    const graph = buildEdgeGraph(store, 8)
    expect([...graph.out.target]).toEqual([1])
    expect([...graph.slotOf]).toEqual([0, 0, -1, -1])
    expect([...graph.literalEdge]).toEqual([0, 1])
  })
})

describe('refute', () => {
  it('needs no lemma where propagation suffices', () => {
    expect(refute([[0], [1]])).toEqual([
      { clause: 0, literals: [0] },
      { clause: 1, literals: [1] },
    ])
  })

  it('is a single step when a clause is empty', () => {
    expect(refute([[0, 2], []])).toEqual([{ clause: 1, literals: [] }])
  })

  it('leaves out what it does not use', () => {
    const steps = refute([[4, 6], [0, 2], [1], [3]])
    expect(steps.map(({ clause }) => clause)).toEqual([2, 3, 1])
  })

  it('derives a lemma where it has to try', () => {
    const clauses = [0, 1].flatMap((a) => [2, 3].map((b) => [a, b]))
    const steps = refute(clauses)
    expect(steps.filter(({ clause }) => clause < 0).map(({ literals }) => literals)).toEqual([[0]])
    expect(steps).toHaveLength(5)
  })
})
