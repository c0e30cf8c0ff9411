// Adya's levels on histories of a size that brute force does not reach: many writers of one key,
// parts that are too large to be searched beside parts that are not.

import { describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import type { LevelId } from '../../../src/levels/levels.ts'

const judge = (lines: readonly string[], level: LevelId) => {
  const result = check(parseNotation(`initial 0\n${lines.join('\n')}`), level)
  if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
  return result
}

describe('what is blamed and what is searched for', () => {
  it('tells of each kind once', () => {
    const lines = [
      's0: r(x,7) r(y,0)',
      's1: w(y,1) | r(x,5) r(y,4)',
      's2: w(x,2) r(y,4) | r(y,1) w(x,3) | r(y,0) r(x,5) r(x,3)',
      's3: w(y,4) w(x,5) w(x,6) | w(x,7)',
    ]
    const names = judge(lines, 'psi').anomalies.map(({ name }) => name)
    expect(names).toContain('SessionGuaranteeViolation')
    expect(names).toEqual([...new Set(names)])
  })
})

/** Each replaces what the one before it wrote. */
const chain = (length: number, key: string, name: string) =>
  Array.from({ length }, (_, i) => `${name}${i}: r(${key},${i}) w(${key},${i + 1})`)

/**
 * More than are searched together, joined by one key: satisfies pl-2+ if b's version of x precedes
 * a's, which only a search finds, and is not serializable.
 */
const LARGE = [
  'a: w(x,1)',
  'b: w(x,2) w(y,2)',
  'c: r(x,1) r(y,2)',
  'd: r(x,0) r(p,0) w(q,1)',
  'e: r(x,0) r(q,0) w(p,1)',
  ...Array.from({ length: 1600 }, (_, i) => `t${i}: r(x,0)`),
]

describe('PhenomenaLevels', () => {
  it.each(['pl-cs', 'pl-2+', 'pl-3u'] as const)(
    'finds a lost update among 600 that replace each other, at %s',
    (level) => {
      const lost = [...chain(600, 'x', 's'), 'lost: r(x,300) w(x,1000)']
      const { verdict, anomalies } = judge(lost, level)
      expect(verdict).toBe('violated')
      expect(anomalies.map(({ name }) => name)).toEqual(['LostUpdate'])
      expect(judge(chain(600, 'x', 's'), level).verdict).toBe('satisfied')
    },
  )

  it('decides 480 blind writers of one key', () => {
    const writers = Array.from({ length: 480 }, (_, i) => `s${i}: w(x,${i + 1})`)
    const skewed = ['a: r(x,5) r(y,1)', 'b: w(y,1) r(x,5)', 'c: r(x,7) r(x,9)']
    expect(judge([...writers, ...skewed], 'pl-2l').verdict).toBe('satisfied')
    expect(judge([...writers, ...skewed, 'd: r(x,9) r(x,7)'], 'pl-2l').verdict).toBe('violated')
  })

  it('does not hide a violation of one part behind a part that is too large', () => {
    const small = ['l1: r(z,0) w(z,1)', 'l2: r(z,0) w(z,2)']
    expect(judge(LARGE, 'pl-2+').verdict).toBe('unknown')
    for (const lines of [
      [...LARGE, ...small],
      [...small, ...LARGE],
    ]) {
      const { verdict, anomalies } = judge(lines, 'pl-2+')
      expect(verdict).toBe('violated')
      expect(anomalies.map(({ name }) => name)).toEqual(['LostUpdate'])
    }
  })

  it('finds an evident cycle in a part that is too large to be searched', () => {
    const lines = [...chain(2000, 'x', 's'), 'lost: r(x,900) w(x,9000)']
    const { verdict, anomalies } = judge(lines, 'pl-2+')
    expect(verdict).toBe('violated')
    expect(anomalies.map(({ name }) => name)).toEqual(['LostUpdate'])
  })

  it('tells a dirty write that only the reader’s own appends complete', () => {
    const lines = [
      's1: append(x,1) r(x,[2,1]) append(y,1)',
      's2: append(x,2) append(y,2)',
      's3: r(y,[1,2])',
    ]
    for (const level of ['pl-1', 'pl-2'] as const) {
      const { verdict, anomalies } = judge(lines, level)
      expect(verdict, level).toBe('violated')
      expect(anomalies.map(({ name }) => name)).toEqual(['G0'])
      expect(judge([...lines.slice(0, 2), 's3: r(y,[2,1])'], level).verdict).toBe('satisfied')
    }
  })

  it('looks past own appends that a read contradicts', () => {
    const lines = [
      's1: append(x,1) r(x,[1,2]) append(y,1)',
      's2: append(x,2) append(y,2)',
      's3: r(y,[1,2])',
    ]
    expect(judge(lines, 'pl-1').verdict).toBe('satisfied')
  })
})
