// Weak levels, anomaly by anomaly: each history has a twin one edit away that satisfies the level.

import { describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { some } from '../../long.ts'
import { compareWithOracle } from '../../small/compare.ts'

const WEAK = ['rc', 'ra', 'cc'] as const

function judge(notation: string, level: LevelId) {
  const { verdict, anomalies, certificate } = check(parseNotation(notation), level)
  expect(certificate?.verified).toBe(true)
  const told = anomalies.map(({ name, edges }) =>
    [name, ...edges.map((edge) => `T${edge.from + 1} ${edge.kind} T${edge.to + 1}`)].join(', '),
  )
  return { verdict, told }
}

/** What the first history shows, from which level on, and what takes it away. */
const CASES: [
  what: string,
  history: string,
  from: LevelId,
  told: string,
  edit: [string, string],
][] = [
  [
    'a read of what another one read had replaced',
    's1: w(x,1) | r(x,1) w(x,2) w(y,1)\ns2: r(y,1) r(x,1)',
    'rc',
    'NonMonotonicRead',
    ['r(y,1) r(x,1)', 'r(y,1) r(x,2)'],
  ],
  [
    'transactions that read from each other',
    's1: r(y,1) w(x,1)\ns2: r(x,1) w(y,1)',
    'rc',
    'CircularInformationFlow',
    ['r(y,1)', 'r(y,0)'],
  ],
  [
    'half of what another one wrote',
    's1: w(x,1) | r(x,1) w(x,2) w(y,1)\ns2: r(x,1) r(y,1)',
    'ra',
    'FracturedRead',
    ['r(x,1) r(y,1)', 'r(x,2) r(y,1)'],
  ],
  [
    'a session that misses its own write',
    's1: w(x,1) | r(x,0)',
    'ra',
    'SessionGuaranteeViolation',
    ['r(x,0)', 'r(x,1)'],
  ],
  [
    'two reads of one key with a write between them',
    's1: w(x,1)\ns2: r(x,0) r(x,1)',
    'ra',
    'NonRepeatableRead',
    ['r(x,0) r(x,1)', 'r(x,1) r(x,1)'],
  ],
  [
    'an effect without its cause',
    's1: r(x,0) w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,0)',
    'cc',
    'CausalityViolation',
    ['r(y,1) r(x,0)', 'r(y,1) r(x,1)'],
  ],
  [
    'two writes seen in opposite orders',
    's1: w(x,1)\ns2: w(x,2)\ns3: r(x,1) | r(x,2)\ns4: r(x,2) | r(x,1)',
    'cc',
    'ConflictCM',
    ['s4: r(x,2) | r(x,1)', 's4: r(x,1) | r(x,2)'],
  ],
]

describe('WeakLevels', () => {
  it.each(CASES)('finds %s', (_, history, from, name, [wrong, right]) => {
    for (const level of WEAK) {
      const { verdict, told } = judge(history, level)
      const isForbidden = WEAK.indexOf(level) >= WEAK.indexOf(from as 'rc')
      expect(verdict, level).toBe(isForbidden ? 'violated' : 'satisfied')
      if (isForbidden) expect(told[0]).toMatch(new RegExp(`^${name}(,|$)`))
      expect(judge(history.replace(wrong, right), level).verdict, level).toBe('satisfied')
    }
  })

  it('tells the shortest of several chains of reasons', () => {
    // T5 learns of T2 by T3 alone, and by T4 and T3.
    const history = [
      's0: w(x,9)',
      's1: r(x,9) w(x,1)',
      's2: r(x,1) w(y,1)',
      's3: r(y,1) w(z,1)',
      's4: r(y,1) r(z,1) r(x,9)',
    ].join('\n')
    expect(judge(history, 'cc').told[0]).toBe('CausalityViolation, T1 WR T2, T2 CO T1')
    const [anomaly] = check(parseNotation(history), 'cc').anomalies
    const forced = anomaly!.edges.find(({ kind }) => kind === 'CO')!
    const reasons = forced.premises.map((edge) => `T${edge.from + 1} ${edge.kind} T${edge.to + 1}`)
    expect(reasons).toEqual(['T1 WR T5', 'T2 WR T3', 'T3 WR T5'])
  })

  it('judges alike in whatever order sessions are told', () => {
    for (const [, history] of CASES) {
      const lines = history.split('\n')
      for (const level of WEAK) {
        const backwards = judge(lines.toReversed().join('\n'), level).verdict
        expect(backwards, `${level}: ${history}`).toBe(judge(history, level).verdict)
      }
    }
  })

  it('orders anew as often as forced edges ask for it', () => {
    // Readers force the writers of x one by one, against the order in which they are told.
    const count = 40
    const writers = Array.from({ length: count }, (_, i) => `w${i}: w(x,${i + 1}) w(y${i},1)`)
    const readers = Array.from(
      { length: count - 1 },
      (_, i) => `r${i}: r(y${i + 1},1) r(x,${i + 1})`,
    )
    const history = [...writers, ...readers].join('\n')
    expect(judge(history, 'ra').verdict).toBe('satisfied')
    const circle = `${history}\nlast: r(y0,1) r(x,${count})`
    expect(judge(circle, 'ra').verdict).toBe('violated')
    expect(judge(circle, 'rc').verdict).toBe('violated')
  })

  it('agrees with brute force', () => {
    const decide = (...[history, level]: Parameters<Parameters<typeof compareWithOracle>[0]>) =>
      check(history, level).verdict
    for (const lists of [0, 1]) {
      const options = { families: [], seeds: some(2000), firstSeed: 90_000, shape: { lists } }
      expect(compareWithOracle(decide, [...WEAK], options).disagreement).toBeNull()
    }
  })
})
