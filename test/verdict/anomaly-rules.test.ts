// Names of minimal cycles, with the neighbour that differs in one edge.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { check, checkLevels } from '../../src/check/check.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { ANOMALIES, COMMON_NAMES } from '../../src/levels/anomalies.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { nameEvidence } from '../../src/verdict/anomaly-rules.ts'
import type { Edge, EdgeKind } from '../../src/verdict/verdict.ts'
import { buildHistory } from '../small/draft.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'

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
    names.add(nameEvidence(HISTORY, [...edges.slice(i), ...edges.slice(0, i)], []))
  }
  return [...names].join()
}

const NAMES: [string, string[]][] = [
  ['CircularInformationFlow', ['WR', 'WR']],
  ['CircularInformationFlow', ['SO', 'WR']],
  ['G1c', ['WW', 'WR']],
  ['G1c', ['RT', 'WR']],
  ['G0', ['WW', 'WW']],
  ['G0', ['WW', 'SO']],
  ['WriteSkew', ['RW:1', 'RW:2']],
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

describe('nameEvidence', () => {
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
    const older = (read: number) => ({ ...missed, premises: [{ ...seen, ops: [8, read] }] })
    expect(nameOf([{ ...seen, ops: [9, 3] }, older(4)])).toBe('NonMonotonicRead')
    expect(nameOf([{ ...seen, ops: [9, 4] }, older(3)])).toBe('FracturedRead')
  })
})

/** The names of what a checker finds, certified on the way. */
const found = (notation: string, level: LevelId) => {
  const result = check(parseNotation(notation), level)
  expect(result.certificate?.verified).toBe(true)
  return result.anomalies.map(({ name }) => name)
}

describe('names of what checkers find', () => {
  it('calls an update lost only if it took no account of the other one', () => {
    expect(found('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)', 'si')).toEqual(['LostUpdate'])
    const seen = 's1: r(x,0) w(x,1)\ns2: r(x,0) r(x,1) w(x,2)'
    for (const level of ['si', 'ser'] as const) {
      expect(found(seen, level)).toContain('NonRepeatableRead')
      expect(found(seen, level)).not.toContain('LostUpdate')
    }
    // The same among transactions that also write blindly, which the general engine judges.
    const blind = 's3: w(y,1)\ns4: w(y,2)'
    expect(found(`s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\n${blind}`, 'si')).toEqual(['LostUpdate'])
    expect(found(`${seen}\n${blind}`, 'si')).not.toContain('LostUpdate')
  })

  it('calls a skew of two who write a common key by what snapshot isolation forbids', () => {
    const skew = 's1: r(x,0) w(y,1)\ns2: r(y,0) w(x,1)'
    expect(found(skew, 'ser')).toEqual(['WriteSkew'])
    const both = 's1: r(x,0) w(y,1) w(z,1)\ns2: r(y,0) w(x,1) w(z,2)'
    for (const level of ['si', 'ser'] as const) expect(found(both, level)).toEqual(['G-single'])
  })

  it('shows one anti-dependency where the level forbids cycles with one', () => {
    const notation = `
      s0: append(x,1) append(y,1)
      s1: append(x,2)
      s2: append(y,2) r(x,[1,2]) r(y,[1,2])
      s3: r(x,[1]) append(y,3)`
    for (const level of ['psi', 'pl-2+', 'pl-3u', 'pl-2.99', 'si', 'ser'] as const) {
      expect(found(notation, level), level).toEqual(['G-single'])
    }
    // These forbid cycles with one, so that nothing they find needs two.
    const wrong = new Set(['G2-item', 'G-nonadjacent', 'WriteSkew', 'LongFork', 'ReadOnlyAnomaly'])
    let count = 0
    for (let seed = 1; seed <= 300; seed++) {
      const history = buildHistory(randomHistory(seed, shapeOf(seed, { lists: seed % 2 })))
      for (const { anomalies } of checkLevels(history, ['psi', 'pl-2+'])) {
        for (const { name, edges } of anomalies) {
          expect(edges.length > 0 && wrong.has(name), `${name}, seed ${seed}`).toBe(false)
          count++
        }
      }
    }
    expect(count).toBeGreaterThan(100)
  })

  it('shows a known order of versions as such, and names the cycle that is shown', () => {
    const notation = `
      s1: append(x,1) append(y,1)
      s2: append(x,2) r(y,[]) append(y,2)
      s3: r(x,[2,1])
      s4: r(y,[1,2])`
    const result = check(parseNotation(notation), 'ser')
    for (const { name, edges } of result.anomalies) {
      const count = edges.filter(({ kind }) => kind === 'RW').length
      if (name === 'G-single') expect(count).toBe(1)
    }
    expect(result.certificate?.verified).toBe(true)
  })
})

describe('docs/anomalies.md', () => {
  it('says of every anomaly what its evidence must show', () => {
    const page = readFileSync(new URL('../../docs/anomalies.md', import.meta.url), 'utf8')
    const named = page.split('\n').filter((line) => line.startsWith('| `'))
    for (const { name } of ANOMALIES) {
      if (COMMON_NAMES.has(name)) continue
      expect(
        named.filter((line) => line.split('|')[1]!.includes(`\`${name}\``)),
        name,
      ).toHaveLength(1)
    }
    const known = ANOMALIES.map(({ name }) => name as string)
    const told = named.flatMap((line) => line.split('|')[1]!.match(/(?<=`)[^`, ]+(?=`)/g) ?? [])
    expect(told.filter((name) => !known.includes(name))).toEqual([])
  })
})
