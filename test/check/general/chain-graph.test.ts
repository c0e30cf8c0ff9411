import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { Random } from '../../../src/base/random.ts'
import { ChainGraph } from '../../../src/check/general/chain-graph.ts'

/** Node -> all nodes that reach it, by following edges back one by one. */
function reachingSets(graph: ChainGraph): Set<number>[] {
  const before: number[][] = Array.from({ length: graph.nodeCount }, () => [])
  for (let node = 1; node < graph.nodeCount; node++) {
    if (graph.chainOf[node] === graph.chainOf[node - 1]) before[node]!.push(node - 1)
  }
  for (let e = 0; e < graph.edgeCount; e++) {
    before[graph.to.data[e]!]!.push(graph.from.data[e]!)
  }
  return before.map((_, node) => {
    const found = new Set([node])
    for (const next of found) for (const each of before[next]!) found.add(each)
    return found
  })
}

/** Compares all that the graph says after each batch of edges; returns how many nodes changed. */
function compare(lengths: readonly number[], seed: number, wide?: number): number {
  const random = new Random(seed)
  const chainStart = Int32Array.from([0, ...lengths])
  for (let c = 0; c < lengths.length; c++) chainStart[c + 1]! += chainStart[c]!
  const graph = new ChainGraph(chainStart, Deadline.none(), 1e6, wide)
  // Edges lead forwards along a hidden order that the chains respect.
  const place = Float64Array.from({ length: graph.nodeCount }, () => random.below(1 << 20))
  for (let c = 0; c < lengths.length; c++) place.subarray(chainStart[c], chainStart[c + 1]).sort()
  let changed = 0
  for (let round = 0; round < 4; round++) {
    for (let i = 0; i < graph.nodeCount / 2; i++) {
      const a = random.below(graph.nodeCount)
      const b = random.below(graph.nodeCount)
      if (place[a]! < place[b]!) graph.add(a, b)
    }
    expect(graph.refresh(Deadline.none())).toBe(true)
    const sets = reachingSets(graph)
    for (let node = 0; node < graph.nodeCount; node++) {
      if (graph.hasChanged[node]) changed++
      for (let other = 0; other < graph.nodeCount; other++) {
        const isRight = graph.reaches(other, node) === sets[node]!.has(other)
        if (!isRight) expect.fail(`seed ${seed}, round ${round}: ${other} and ${node}`)
      }
      for (let c = 0; c < lengths.length; c++) {
        let first = chainStart[c]!
        while (first < chainStart[c + 1]! && sets[node]!.has(first)) first++
        if (graph.firstNotReaching(c, node) !== first) expect.fail(`seed ${seed}: chain ${c}`)
      }
    }
  }
  return changed
}

describe('ChainGraph', () => {
  it('knows what reaches what, with few long chains', () => {
    for (let seed = 0; seed < 40; seed++) expect(compare([30, 1, 25, 40], seed)).toBeGreaterThan(96)
  })

  it('knows what reaches what, with many short chains', () => {
    const ones = new Array(97).fill(1)
    const mixed = [...new Array(20).fill(1), 33, ...new Array(20).fill(2), 5]
    for (let seed = 0; seed < 40; seed++) {
      expect(compare(ones, seed)).toBeGreaterThan(97)
      expect(compare(mixed, seed)).toBeGreaterThan(98)
    }
  })

  it('knows the same when it leaves out edges that others make up for', () => {
    for (let seed = 0; seed < 40; seed++) {
      for (const lengths of [new Array(97).fill(1), new Array(40).fill(2), [30, 1, 25, 40]]) {
        expect(compare(lengths, seed, 1)).toBe(compare(lengths, seed))
      }
    }
  })

  it('takes the smaller of two closures, and none where both are too large', () => {
    const closureOf = (lengths: number[], most: number) => {
      const start = Int32Array.from([0, ...lengths])
      for (let c = 0; c < lengths.length; c++) start[c + 1]! += start[c]!
      return new ChainGraph(start, Deadline.none(), most).hasClosure
    }
    const ones = new Array(320).fill(1)
    expect(closureOf(ones, 320 * 10)).toBe(true)
    expect(closureOf(ones, 320 * 10 - 1)).toBe(false)
    expect(closureOf([160, 160], 320 * 2)).toBe(true)
    expect(closureOf([160, 160], 320 * 2 - 1)).toBe(false)
  })

  it('notices a cycle', () => {
    const graph = new ChainGraph(Int32Array.from([0, 2, 4]), Deadline.none(), 1e6)
    graph.add(1, 2)
    expect(graph.refresh(Deadline.none())).toBe(true)
    graph.add(3, 0)
    expect(graph.refresh(Deadline.none())).toBe(false)
  })
})
