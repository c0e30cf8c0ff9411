// The 14 anomalies of MTC's Table I, and Fekete's, each as a history of mini-transactions: violated
// at exactly the levels that forbid it, under its name, with evidence that is certified.

import { describe, expect, it } from 'vitest'
import { check, profile } from '../../../src/check/check.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { findSuccessors } from '../../../src/check/versions/successors.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { certifyPlain } from '../../../src/verdict/certify-plain.ts'
import { positionOf } from '../../../src/verdict/verdict.ts'

const LEVELS = ['ci', 'rc', 'ra', 'cc', 'pc', 'si', 'ser', 'sser'] as const

/** Reads that no level admits. */
const OFFENCES: [string, string][] = [
  ['ThinAirRead', 's1: r(x,7)'],
  ['AbortedRead', 's1: r(x,0) w(x,1) [aborted]\ns2: r(x,1)'],
  ['FutureRead', 's1: r(x,1) w(x,1)'],
  ['NotMyLastWrite', 's1: r(x,0) w(x,1) w(x,2) r(x,1)'],
  ['NotMyOwnWrite', 's1: r(x,0) w(x,1) r(x,0)'],
  ['IntermediateRead', 's1: r(x,0) w(x,1) w(x,2)\ns2: r(x,1)'],
]

/** Name at the strong levels, levels that allow it, and a history with times. */
const CYCLES: [string, readonly LevelId[], string][] = [
  ['NonRepeatableRead', ['rc'], 's1: r(x,0) w(x,1) [0,9]\ns2: r(x,0) r(x,1) [0,9]'],
  [
    'SessionGuaranteeViolation',
    ['ci', 'rc'],
    's1: r(x,0) w(x,1) [0,9]\ns2: r(x,1) w(x,2) [0,4] | r(x,1) [4,9]',
  ],
  [
    'NonMonotonicRead',
    ['ci'],
    's1: r(x,0) w(x,1) [0,9]\ns2: r(x,1) r(y,0) w(x,2) w(y,2) [0,9]\ns3: r(y,2) r(x,1) [0,9]',
  ],
  ['FracturedRead', ['ci', 'rc'], 's1: r(x,0) r(y,0) w(x,1) w(y,1) [0,9]\ns2: r(x,0) r(y,1) [0,9]'],
  [
    'CausalityViolation',
    ['ci', 'rc', 'ra'],
    's1: r(x,0) w(x,1) [0,9]\ns2: r(x,1) r(y,0) w(y,1) [0,9]\ns3: r(x,0) r(y,1) [0,9]',
  ],
  [
    'LongFork',
    ['ci', 'rc', 'ra', 'cc'],
    's1: r(x,0) w(x,1) [0,9]\ns2: r(y,0) w(y,1) [0,9]\n' +
      's3: r(x,1) r(y,0) [0,9]\ns4: r(x,0) r(y,1) [0,9]',
  ],
  [
    'LostUpdate',
    ['ci', 'rc', 'ra', 'cc', 'pc'],
    's1: r(x,0) w(x,1) [0,9]\ns2: r(x,0) w(x,2) [0,9]',
  ],
  [
    'WriteSkew',
    ['ci', 'rc', 'ra', 'cc', 'pc', 'si'],
    's1: r(x,0) r(y,0) w(x,1) [0,9]\ns2: r(x,0) r(y,0) w(y,1) [0,9]',
  ],
  [
    'ReadOnlyAnomaly',
    ['ci', 'rc', 'ra', 'cc', 'pc', 'si'],
    's1: r(x,0) r(y,0) w(x,1) [0,9]\ns2: r(y,0) w(y,1) [0,9]\ns3: r(x,0) r(y,1) [0,9]',
  ],
  [
    'StaleRead',
    ['ci', 'rc', 'ra', 'cc', 'pc', 'si', 'ser'],
    's1: r(x,0) w(x,1) [0,3]\ns2: r(x,0) [4,9]',
  ],
]

describe('check on mini-transactions', () => {
  for (const [name, notation] of OFFENCES) {
    it(`reports ${name} at every level`, () => {
      const history = parseNotation(notation)
      for (const level of LEVELS) {
        const result = check(history, level)
        expect(result.verdict, level).toBe('violated')
        expect(result.anomalies[0]!.name, level).toBe(name)
        expect(result.certificate?.verified, level).toBe(true)
      }
    })
  }

  for (const [name, allowing, notation] of CYCLES) {
    it(`reports ${name} except at ${allowing.join(', ')}`, () => {
      const history = parseNotation(notation)
      expect(findSuccessors(history, checkReads(history)).isMini).toBe(true)
      for (const level of LEVELS) {
        const result = check(history, level)
        const expected = allowing.includes(level) ? 'satisfied' : 'violated'
        expect(result.verdict, level).toBe(expected)
        expect(result.certificate?.verified, level).toBe(true)
        if (expected === 'satisfied' || ['ci', 'rc', 'ra', 'cc'].includes(level)) continue
        expect(result.anomalies.map((anomaly) => anomaly.name)[0], level).toBe(name)
        expect(['mini', 'order'], level).toContain(result.algorithm)
      }
    })
  }

  it('shows a lost update by its two transactions and who wrote the version they replace', () => {
    const history = parseNotation('s1: r(x,0) w(x,1)\ns2: r(x,1) w(x,2)\ns3: r(x,1) w(x,3)')
    for (const level of ['si', 'ser'] as const) {
      const { anomalies } = check(history, level)
      expect(anomalies).toHaveLength(1)
      expect(anomalies[0]).toMatchObject({
        name: 'LostUpdate',
        count: 1,
        txns: [1, 2],
        earlier: [0],
      })
    }
  })

  it('counts every lost update, and lists all on request', () => {
    const history = parseNotation(
      's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\ns3: r(x,0) w(x,3)\ns4: r(y,0) w(y,1)\ns5: r(y,0) w(y,2)',
    )
    expect(check(history, 'si').anomalies.map(({ count }) => count)).toEqual([3])
    const all = check(history, 'si', { all: true })
    expect(all.anomalies.map(({ name }) => name)).toEqual([
      'LostUpdate',
      'LostUpdate',
      'LostUpdate',
    ])
    expect(certifyPlain(history, all).problems).toEqual([])
  })

  it('merges a run of session order into one step', () => {
    const idle = Array.from({ length: 50 }, () => 'r(y,0)').join(' | ')
    const history = parseNotation(`s1: r(x,0) w(x,1) | ${idle} | r(x,0)`)
    for (const level of ['pc', 'si', 'ser'] as const) {
      const { anomalies } = check(history, level)
      expect(anomalies.map(({ name }) => name)).toEqual(['SessionGuaranteeViolation'])
      expect(anomalies[0]!.edges.map((edge) => edge.kind)).toEqual(['SO', 'RW'])
    }
  })

  it('blames real time only if nothing else is to blame', () => {
    const skew = 's1: r(x,0) r(y,0) w(x,1) [0,1]\ns2: r(x,0) r(y,0) w(y,1) [2,3]'
    expect(check(parseNotation(skew), 'sser').anomalies.map(({ name }) => name)).toEqual([
      'WriteSkew',
    ])
  })

  it('orders in real time by closed intervals, and lets an indeterminate one finish late', () => {
    const verdict = (notation: string) => check(parseNotation(notation), 'sser').verdict
    expect(verdict('s1: r(x,0) w(x,1) [0,3]\ns2: r(x,0) [3,9]')).toBe('satisfied')
    expect(verdict('s1: r(x,0) w(x,1) [0,3]\ns2: r(x,0) [4,9]')).toBe('violated')
    expect(
      verdict('s1: r(x,0) w(x,1) [0,3 indeterminate]\ns2: r(x,0) [4,9]\ns3: r(x,1) [4,9]'),
    ).toBe('satisfied')
    expect(verdict('s1: r(x,1) [0,3]\ns2: r(x,0) w(x,1) [4,9]')).toBe('violated')
  })

  it('needs times for sser: without them it is violated only if ser is', () => {
    const unknown = check(parseNotation('s1: r(x,0) w(x,1)\ns2: r(x,1)'), 'sser')
    expect(unknown).toMatchObject({ verdict: 'unknown', reason: 'the history has no times' })
    const skew = parseNotation('s1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)')
    expect(check(skew, 'sser').verdict).toBe('violated')
  })
})

describe('check on long read-modify-write histories', () => {
  const LENGTH = 30_000

  it('follows one long session', () => {
    const txns = Array.from({ length: LENGTH }, (_, i) => `r(x,${i}) w(x,${i + 1}) [${i},${i}]`)
    const fine = parseNotation(`s1: ${txns.join(' | ')}`)
    for (const level of ['pc', 'si', 'ser', 'sser'] as const) {
      expect(check(fine, level).verdict).toBe('satisfied')
    }
    const stale = parseNotation(`s1: ${txns.join(' | ')} | r(x,1) [${LENGTH},${LENGTH}]`)
    for (const level of ['pc', 'si', 'ser', 'sser'] as const) {
      const { anomalies } = check(stale, level)
      expect(anomalies.map(({ name }) => name)).toEqual(['SessionGuaranteeViolation'])
    }
  })

  it('finds a cycle through thousands of sessions', () => {
    const size = 5_000
    const lines = Array.from({ length: size }, (_, i) => {
      const before = (i + size - 1) % size
      return `s${i}: r(k${before},1) r(k${i},0) w(k${i},1)`
    })
    const history = parseNotation(lines.join('\n'))
    for (const level of ['pc', 'si', 'ser'] as const) {
      const { anomalies } = check(history, level)
      expect(anomalies.map(({ name }) => name)).toEqual(['CircularInformationFlow'])
      expect(anomalies[0]!.edges).toHaveLength(size)
    }
  })

  it('orders thousands of sessions in real time', () => {
    const lines = Array.from(
      { length: 2_000 },
      (_, i) => `s${i}: r(x,${i}) w(x,${i + 1}) [${2 * i},${2 * i + 1}]`,
    )
    const inOrder = parseNotation(lines.join('\n'))
    expect(check(inOrder, 'sser').verdict).toBe('satisfied')
    const reversed = parseNotation(lines.reverse().join('\n'))
    expect(check(reversed, 'sser').verdict).toBe('satisfied')
    const late = parseNotation(`${lines.join('\n')}\nlate: r(x,7) [9000,9001]`)
    const result = check(late, 'sser')
    expect(result.anomalies.map(({ name }) => name)).toEqual(['StaleRead'])
    expect(result.anomalies[0]!.edges.map(({ kind }) => kind)).toEqual(['RT', 'RW'])
  })
})

describe('positionOf', () => {
  it('tells the first transaction of the first counterexample', () => {
    const history = parseNotation(
      's1: r(z,0) w(z,1) | r(z,1) w(z,2) | r(x,0) w(x,1)\ns2: r(z,2) | r(x,0) w(x,2)',
    )
    expect(positionOf(check(history, 'si'))).toBe(3)
    expect(positionOf(check(history, 'rc'))).toBeNull()
  })
})

describe('profile of mini-transactions', () => {
  it('says which verdicts follow from others', () => {
    const fine = parseNotation('s1: r(x,0) w(x,1)\ns2: r(x,1)')
    expect(profile(fine).map(({ level, impliedBy }) => `${level}<${impliedBy}`)).toEqual([
      'ci<ser',
      'rc<ser',
      'ra<ser',
      'cc<ser',
      'pc<ser',
      'psi<ser',
      'si<ser',
      'ser<null',
    ])
    const fork = parseNotation(
      's1: r(x,0) w(x,1)\ns2: r(y,0) w(y,1)\ns3: r(x,1) r(y,0)\ns4: r(x,0) r(y,1)',
    )
    const found = profile(fork).map(({ level, verdict }) => `${level} ${verdict}`)
    expect(found.slice(3)).toEqual([
      'cc satisfied',
      'pc violated',
      'psi satisfied',
      'si violated',
      'ser violated',
    ])
  })

  it('lists the patterns of weak levels even if a weaker one is violated', () => {
    const history = parseNotation(
      's1: r(x,0) w(x,1)\ns2: r(x,1) r(y,0) w(x,2) w(y,2)\ns3: r(y,2) r(x,1)',
    )
    const results = profile(history)
    for (const level of ['rc', 'ra', 'cc']) {
      const result = results.find((one) => one.level === level)!
      expect(result.impliedBy).toBeNull()
      expect(result.anomalies.length).toBeGreaterThan(0)
    }
    expect(results.find((one) => one.level === 'psi')!.impliedBy).toBe('cc')
  })

  it('lists what only stronger levels forbid even if a weaker one is violated', () => {
    const history = parseNotation(
      's1: r(x,7) [0,9]\ns2: r(u,0) w(u,1) [0,9] | r(u,0) [9,10]\n' +
        's3: r(y,0) w(y,1) [0,9]\ns4: r(y,0) w(y,2) [0,9]\n' +
        's5: r(a,0) r(b,0) w(a,1) [0,9]\ns6: r(a,0) r(b,0) w(b,1) [0,9]\n' +
        's7: r(z,0) w(z,1) [0,1]\ns8: r(z,0) [2,3]',
    )
    const names = new Map(
      profile(history).map(({ level, anomalies, certificate }) => {
        expect(certificate?.verified).toBe(true)
        return [level, anomalies.map(({ name }) => name)]
      }),
    )
    const weak = ['ThinAirRead', 'SessionGuaranteeViolation']
    expect(names.get('cc')).toEqual(weak)
    expect(names.get('si')).toEqual([...weak, 'LostUpdate'])
    expect(names.get('ser')).toEqual([...weak, 'LostUpdate', 'WriteSkew'])
    expect(names.get('sser')).toEqual([...weak, 'LostUpdate', 'WriteSkew', 'StaleRead'])
  })
})

describe('a verdict on many violations', () => {
  it.each([1, 4])('tells each kind once, with all that it counts (seed %i)', (seed) => {
    const workload = { shape: 'churn', transactions: 1000 } as const
    const { history } = generate({ seed, workload, store: { level: 'cc' } })
    for (const { level, anomalies } of profile(history)) {
      const names = anomalies.map(({ name }) => name)
      expect(names, level).toEqual([...new Set(names)])
    }
    expect(check(history, 'ser').anomalies.length).toBeGreaterThan(3)
  })
})
