// Real time that counts like session order, at every level and with session order or without, and
// real time by key, ser+lin, against brute force on histories with times. Every verdict is
// certified on the way.

import { describe, expect, it } from 'vitest'
import { check, checkLevels, profile } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { type CompareOptions, compareWithOracle, type Decide, SAMPLED, sampled } from './compare.ts'
import type { Draft } from './draft.ts'
import { ORACLE_LEVELS } from './oracle.ts'
import { randomVersions } from './versions.ts'

const decideWith =
  (sessionOrder: boolean, realTime: boolean): Decide =>
  (history, level) => {
    const result = check(history, { level, sessionOrder, realTime })
    if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
    return result.verdict
  }

const times = { times: true }
const variants = (draft: Draft, number: number) => [randomVersions(draft, number)]
const CHOICES: [string, CompareOptions][] = [
  ['random histories', { seeds: 8_000 / SAMPLED, shape: times }],
  ['lists', { seeds: sampled(1200), firstSeed: 50_000, shape: { ...times, lists: 1 } }],
  ['named orders', { seeds: sampled(1200), firstSeed: 60_000, shape: { ...times, after: 0.3 } }],
  ['no times', { seeds: sampled(400), firstSeed: 80_000, shape: { times: false } }],
  [
    'no session order',
    { seeds: sampled(1200), firstSeed: 70_000, shape: times, sessionOrder: false },
  ],
]

describe('check with real time', () => {
  it.each(CHOICES)('agrees with brute force at every level: %s', (name, options) => {
    const decide = decideWith(options.sessionOrder ?? true, true)
    const all = { ...options, families: [], realTime: true }
    const outcome = compareWithOracle(decide, ORACLE_LEVELS, all)
    expect(outcome.disagreement).toBeNull()
    for (const level of ORACLE_LEVELS) {
      if (name !== 'no times') expect(outcome.satisfied[level], level).toBeGreaterThan(sampled(40))
      expect(outcome.violated[level], level).toBeGreaterThan(sampled(40))
    }
  })

  it('tells a stale read at rc only where the clock counts', () => {
    const history = parseNotation(
      'initial 0\ns1: w(x,1) [start=0 finish=1]\ns2: r(x,0) [start=2 finish=3]',
    )
    const results = checkLevels(history, ['cc', { level: 'cc', realTime: true }, 'ra', 'sser'])
    expect(results.map(({ verdict }) => verdict)).toEqual([
      'satisfied',
      'violated',
      'satisfied',
      'violated',
    ])
    expect(results[1]).toMatchObject({ level: 'cc', realTime: true })
    expect(results[1]!.anomalies.map(({ name }) => name)).toEqual(['StaleRead'])
    expect(results[0]).not.toHaveProperty('realTime')
  })

  it('counts at all levels of a profile, where ser is sser', () => {
    const history = parseNotation(
      'initial 0\ns1: w(x,1) [start=0 finish=1]\ns2: r(x,0) [start=2 finish=3]',
    )
    const levels = profile(history, { realTime: true })
    expect(levels.map(({ level, verdict }) => [level, verdict])).toEqual([
      ['ci', 'satisfied'],
      ['rc', 'satisfied'],
      ['ra', 'violated'],
      ['cc', 'violated'],
      ['pc', 'violated'],
      ['psi', 'violated'],
      ['si', 'violated'],
      ['ser', 'violated'],
    ])
    for (const { level, realTime } of levels) expect(realTime ?? false).toBe(level !== 'ci')
  })

  it('is refused at levels that know no order', () => {
    const history = parseNotation('s1: w(x,1)')
    for (const level of ['pl-2', 'pl-2+'] as const) {
      expect(() => check(history, { level, realTime: true })).toThrow(`level ${level} knows no`)
    }
    expect(check(history, { level: 'ci', realTime: true }).realTime).toBeUndefined()
  })
})

describe('check at ser+lin', () => {
  const BY_KEY: [string, CompareOptions][] = [
    ['random histories, 20,000 if asked', { seeds: 20_000 / SAMPLED, shape: times }],
    ['lists', { seeds: sampled(2000), firstSeed: 50_000, shape: { ...times, lists: 1 } }],
    ['named orders', { seeds: sampled(2000), firstSeed: 60_000, shape: { ...times, after: 0.3 } }],
    [
      'no session order',
      { seeds: sampled(2000), firstSeed: 70_000, shape: times, sessionOrder: false },
    ],
    [
      'read-modify-write',
      { seeds: sampled(8000), firstSeed: 80_000, shape: { ...times, style: 'rmw', freshness: 1 } },
    ],
    ['known versions', { seeds: sampled(8000), firstSeed: 90_000, shape: times, variants }],
    [
      'known versions, named orders',
      { seeds: sampled(2000), firstSeed: 100_000, shape: { ...times, after: 0.3 }, variants },
    ],
  ]
  it.each(BY_KEY)('agrees with brute force: %s', (_, options) => {
    const decide = decideWith(options.sessionOrder ?? true, false)
    const outcome = compareWithOracle(decide, ['ser+lin'], { ...options, families: [] })
    expect(outcome.disagreement).toBeNull()
    expect(outcome.satisfied['ser+lin']).toBeGreaterThan(50)
    expect(outcome.violated['ser+lin']).toBeGreaterThan(50)
  })

  it.each<[string, string, readonly LevelId[], readonly LevelId[]]>([
    [
      'a stale read of one key',
      's1: w(x,1) [start=0 finish=1]\ns2: r(x,0) [start=2 finish=3]',
      ['ser'],
      ['ser+lin', 'sser'],
    ],
    [
      'a cause that is seen later than its effect',
      's1: w(x,1) [start=0 finish=1]\ns2: w(y,1) [start=2 finish=3]\ns3: r(x,0) r(y,1) [start=0 finish=4]',
      ['ser', 'ser+lin'],
      ['sser'],
    ],
    [
      'keys of which each is linearizable by itself, in no common order',
      's1: w(x,1) w(y,1) [start=0 finish=1]\ns2: w(x,2) w(z,1) [start=2 finish=3]\ns3: r(z,1) r(y,0) [start=0 finish=4]',
      ['ser'],
      ['ser+lin', 'sser'],
    ],
    [
      'write skew',
      's1: r(x,0) w(y,1) [start=0 finish=5]\ns2: r(y,0) w(x,2) [start=1 finish=6]',
      ['si'],
      ['ser', 'ser+lin'],
    ],
  ])('judges %s', (_, text, satisfied, violated) => {
    const history = parseNotation(`initial 0\n${text}`)
    const decide = decideWith(true, false)
    for (const level of satisfied) expect(decide(history, level as 'si'), level).toBe('satisfied')
    for (const level of violated) expect(decide(history, level as 'si'), level).toBe('violated')
  })

  it('tells a chain through several keys step by step', () => {
    const history = parseNotation(
      'initial 0\n' +
        's1: w(x,1) w(v,1) [start=0 finish=1]\ns2: r(v,1) w(y,1) [start=2 finish=3]\n' +
        's3: w(y,2) w(z,1) [start=4 finish=5]\ns4: r(z,1) r(x,0) [start=0 finish=9]',
    )
    const { anomalies, certificate } = check(history, 'ser+lin')
    expect(certificate?.verified).toBe(true)
    const steps = anomalies[0]!.edges.filter(({ kind }) => kind === 'RT')
    expect(steps.length).toBeGreaterThan(0)
    for (const { from, to } of steps) expect(Math.abs(to - from)).toBe(1)
  })

  it.each<LevelId>(['strong-si', 'sser', 'ser+lin'])(
    'tells by whom one of unknown outcome was over at %s, where the clock does not',
    (level) => {
      const history = parseNotation(
        'initial 0\ns1: w(x,1) [id=A indeterminate start=0 finish=0]\n' +
          's2: r(x,1) [id=B start=1 finish=2 after=A]\ns3: r(x,0) [start=4 finish=9]',
      )
      const { verdict, certificate } = check(history, level)
      expect([verdict, certificate?.verified]).toEqual(['violated', true])
    },
  )

  it('is unknown without times, unless ser is violated', () => {
    expect(check(parseNotation('s1: w(x,1)'), 'ser+lin')).toMatchObject({
      verdict: 'unknown',
      reason: 'the history has no times',
    })
    const lost = parseNotation('initial 0\ns1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)')
    expect(check(lost, 'ser+lin').verdict).toBe('violated')
  })
})
