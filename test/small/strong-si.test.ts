// Strong snapshot isolation against brute force, on histories with times, and on the histories that
// tell it from its neighbours. Every verdict is certified on the way.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { type CompareOptions, compareWithOracle, type Decide, SAMPLED, sampled } from './compare.ts'

const decide: Decide = (history, level) => {
  const result = check(history, level)
  if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
  return result.verdict
}

const CHOICES: [string, CompareOptions][] = [
  [
    'random histories, 20,000 if asked',
    { families: [], seeds: 20_000 / SAMPLED, shape: { times: true } },
  ],
  [
    'random histories of lists',
    {
      families: [],
      seeds: sampled(1500),
      firstSeed: 50_000,
      shape: { lists: 1, times: true },
    },
  ],
  [
    'random read-modify-write histories',
    {
      families: [],
      seeds: sampled(4000),
      firstSeed: 60_000,
      shape: { style: 'rmw', sight: 'prefix', freshness: 1, times: true },
    },
  ],
  [
    'random histories without session order',
    {
      families: [],
      seeds: sampled(1500),
      firstSeed: 70_000,
      sessionOrder: false,
      shape: { times: true },
    },
  ],
]

describe('check at strong-si', () => {
  it.each(CHOICES)('agrees with brute force on %s', (_, options) => {
    const { sessionOrder = true } = options
    const decideSo: Decide = (history, level) => {
      const result = check(history, { level, sessionOrder })
      if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
      return result.verdict
    }
    const outcome = compareWithOracle(decideSo, ['strong-si'], options)
    expect(outcome.disagreement).toBeNull()
    expect(outcome.satisfied['strong-si']).toBeGreaterThan(50)
    expect(outcome.violated['strong-si']).toBeGreaterThan(50)
  })

  it.each<[string, string, readonly LevelId[], readonly LevelId[]]>([
    [
      'a stale snapshot',
      's1: w(x,1) [start=0 finish=1]\ns2: r(x,0) [start=2 finish=3]',
      ['si', 'ser'],
      ['strong-si', 'sser'],
    ],
    [
      'a snapshot that was taken in time',
      's1: w(x,1) [start=0 finish=2]\ns2: r(x,0) [start=2 finish=3]',
      ['strong-si', 'sser'],
      [],
    ],
    [
      'write skew',
      's1: r(x,0) w(y,1) [start=0 finish=5]\ns2: r(y,0) w(x,2) [start=1 finish=6]',
      ['strong-si'],
      ['ser', 'sser'],
    ],
    [
      'a commit that goes back behind a later one',
      's1: w(x,1) [start=0 finish=1]\ns2: w(x,2) [start=2 finish=3]\ns3: r(x,1) [start=4 finish=5]',
      ['si'],
      ['strong-si'],
    ],
  ])('judges %s', (_, text, satisfied, violated) => {
    const history = parseNotation(`initial 0\n${text}`)
    for (const level of satisfied) expect(decide(history, level as 'si'), level).toBe('satisfied')
    for (const level of violated) expect(decide(history, level as 'si'), level).toBe('violated')
  })

  it('passes on what a transaction that does not count comes after', () => {
    const history = parseNotation(
      'initial 0\ns1: w(x,1) [id=N3 start=3 finish=9]\ns2: r(x,0) [start=9 finish=12 after=N4]\ns3: w(y,1) [id=N4 indeterminate start=9 finish=9 after=N3]',
    )
    expect(decide(history, 'si')).toBe('violated')
    expect(decide(history, 'strong-si')).toBe('violated')
  })

  it('is unknown without times, unless si is violated', () => {
    expect(check(parseNotation('initial 0\ns1: w(x,1)\ns2: r(x,0)'), 'strong-si')).toMatchObject({
      verdict: 'unknown',
      reason: 'the history has no times',
    })
    const lost = parseNotation('initial 0\ns1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)')
    expect(decide(lost, 'strong-si')).toBe('violated')
  })
})
