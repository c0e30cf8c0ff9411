import { describe, expect, it } from 'vitest'
import { checkLevels } from '../../src/check/check.ts'
import { fingerprintOf } from '../../src/fleet/fingerprint.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelRequest } from '../../src/levels/levels.ts'

function fingerprint(notation: string, level: LevelRequest['level']): string {
  const history = parseNotation(notation)
  const [result] = checkLevels(history, [{ level }], {})
  expect(result!.verdict).toBe('violated')
  return fingerprintOf(history, result!)
}

const LOST_UPDATE = 's1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)'
const SKEW = 's1: r(x,0) r(y,0) w(x,1)\ns2: r(x,0) r(y,0) w(y,1)'

describe('fingerprintOf', () => {
  it('is the same under other names of keys, values and sessions', () => {
    const first = fingerprint(LOST_UPDATE, 'si')
    expect(first).toMatch(/^[0-9a-f]{12}$/)
    expect(fingerprint('a: r(k,0) w(k,7)\nb: r(k,0) w(k,5)', 'si')).toBe(first)
    expect(fingerprint('s2: r(x,0) w(x,2)\ns1: r(x,0) w(x,1)', 'si')).toBe(first)
    expect(fingerprint(SKEW, 'ser')).toBe(
      fingerprint('p: r(b,0) r(a,0) w(b,3)\nq: r(a,0) r(b,0) w(a,9)', 'ser'),
    )
  })

  it('does not care how the state came about that it starts from', () => {
    const later = 's0: w(x,5)\ns1: r(x,5) w(x,1)\ns2: r(x,5) w(x,2)'
    expect(fingerprint(later, 'si')).toBe(fingerprint(LOST_UPDATE, 'si'))
  })

  it('differs between levels, anomalies and shapes of a cycle', () => {
    const three = `s1: r(x,0) w(y,1)
s2: r(y,0) w(z,1)
s3: r(z,0) w(x,1)`
    const different = [
      fingerprint(LOST_UPDATE, 'si'),
      fingerprint(LOST_UPDATE, 'ser'),
      fingerprint(SKEW, 'ser'),
      fingerprint(three, 'ser'),
      fingerprint('s1: w(x,1) w(y,1)\ns2: r(x,1) r(y,0)', 'ser'),
    ]
    expect(new Set(different).size).toBe(different.length)
  })

  it('does not take violations for the same of which there is no evidence', () => {
    const [first, other] = [LOST_UPDATE, SKEW].map((notation) => {
      const history = parseNotation(notation)
      const [result] = checkLevels(history, [{ level: 'ser' }], {})
      return fingerprintOf(history, { ...result!, anomalies: [] })
    })
    expect(first).not.toBe(other)
  })

  it('is the same whatever order a ring of many is told in', () => {
    const ring = (order: readonly number[]) =>
      order.map((i) => `s${i}: r(k${i},0) w(k${(i + 1) % order.length},1)`).join('\n')
    expect(fingerprint(ring([3, 0, 6, 2, 5, 1, 4]), 'ser')).toBe(
      fingerprint(ring([0, 1, 2, 3, 4, 5, 6]), 'ser'),
    )
  })
})
