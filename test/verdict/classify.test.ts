// Names of minimal cycles, with the neighbour that differs in one edge.

import { describe, expect, it } from 'vitest'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { classifyCycle } from '../../src/verdict/classify.ts'
import type { Edge, EdgeKind } from '../../src/verdict/verdict.ts'

/** T1 … T5, of which T3 only reads. */
const HISTORY: History = parseNotation(
  's1: r(x,0) w(x,1) | r(x,1) w(y,1)\ns2: r(x,1) r(y,1)\ns3: r(y,0) w(y,2) | r(y,1) w(z,1)',
)

/** A cycle 0 → 1 → … → 0 of edges such as 'RW:0', a kind and its key; keys differ unless given. */
function cycle(...labels: string[]): Edge[] {
  return labels.map((label, i) => {
    const [kind, key] = label.split(':')
    return {
      from: i,
      to: (i + 1) % labels.length,
      kind: kind as EdgeKind,
      key: key === undefined ? 10 + i : Number(key),
      ops: [i, i],
      premises: [],
    }
  })
}

/** The same cycle, begun elsewhere, has the same name. */
function nameOf(edges: Edge[]): string {
  const names = new Set<string>()
  for (let i = 0; i < edges.length; i++) {
    names.add(classifyCycle(HISTORY, [...edges.slice(i), ...edges.slice(0, i)]))
  }
  return [...names].join()
}

const NAMES: [string, string[]][] = [
  ['CyclicCO', ['WR', 'WR']],
  ['CyclicCO', ['SO', 'WR']],
  ['G1c', ['WW', 'WR']],
  ['G1c', ['RT', 'WR']],
  ['G0', ['WW', 'WW']],
  ['G0', ['WW', 'SO']],
  ['LostUpdate', ['RW:1', 'RW:1']],
  ['WriteSkew', ['RW:1', 'RW:2']],
  ['LostUpdate', ['WW:1', 'RW:1']],
  ['G-single', ['WW:1', 'RW:2']],
  ['SessionGuaranteeViolation', ['SO', 'RW']],
  ['SessionGuaranteeViolation', ['WR', 'SO', 'RW']],
  ['CausalityViolation', ['SO', 'WR', 'RW']],
  ['CausalityViolation', ['WR', 'WR', 'RW']],
  ['G-single', ['WR', 'WW', 'RW']],
  ['StaleRead', ['RT', 'RW']],
  ['StaleRead', ['WR', 'RT', 'RW']],
  ['LongFork', ['WR', 'RW', 'WR', 'RW']],
  ['LongFork', ['SO', 'RW', 'WR', 'RW']],
  ['G-nonadjacent', ['WW', 'RW', 'WR', 'RW']],
  ['G-nonadjacent', ['WR', 'RW', 'WR', 'RW', 'WR', 'RW']],
  ['G2-item', ['RW', 'RW', 'RW']],
]

describe('classifyCycle', () => {
  for (const [name, labels] of NAMES) {
    it(`calls ${labels.join(' ')} ${name}`, () => {
      expect(nameOf(cycle(...labels))).toBe(name)
    })
  }

  it('tells a read-only transaction from one that writes', () => {
    expect(nameOf(cycle('RW', 'WR', 'RW'))).toBe('ReadOnlyAnomaly')
    expect(nameOf(cycle('WR', 'RW', 'RW'))).toBe('G2-item')
    expect(nameOf(cycle('RW', 'WW', 'RW'))).toBe('G2-item')
  })

  it('tells a read that goes back from one that was too early', () => {
    const [seen, missed] = cycle('WR', 'RW') as [Edge, Edge]
    expect(
      nameOf([
        { ...seen, ops: [9, 3] },
        { ...missed, ops: [4, 5] },
      ]),
    ).toBe('NonMonoReadCO')
    expect(
      nameOf([
        { ...seen, ops: [9, 4] },
        { ...missed, ops: [3, 5] },
      ]),
    ).toBe('FracturedReadCO')
  })
})
