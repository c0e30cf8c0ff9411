// The hardest histories there are: formulas in disguise. Every verdict must be the formula's own,
// at all three levels alike, and is certified; the unsatisfiable ones need case splits.

import { describe, expect, it } from 'vitest'
import { Random } from '../../../src/base/random.ts'
import { check } from '../../../src/check/check.ts'
import type { Algorithm } from '../../../src/check/general/strong-levels.ts'
import { historyOf, isSatisfiable, randomFormula } from './sat-reduction.ts'

const LEVELS = ['pc', 'si', 'ser'] as const

/** Formulas of which about half are satisfiable, judged at every level; how many were. */
function judge(count: number, variables: number, clauses: number, algorithm: Algorithm) {
  const seen = { satisfied: 0, violated: 0, split: 0 }
  for (let seed = 1; seed <= count; seed++) {
    const formula = randomFormula(new Random(seed), variables, clauses)
    const expected = isSatisfiable(formula, variables) ? 'satisfied' : 'violated'
    const history = historyOf(formula, variables)
    for (const level of LEVELS) {
      const result = check(history, level, { algorithm })
      expect(result.verdict, `seed ${seed} at ${level}`).toBe(expected)
      expect(result.certificate?.verified).toBe(true)
      seen[expected]++
      if (result.anomalies.some((anomaly) => anomaly.cases.length > 0)) seen.split++
    }
  }
  return seen
}

describe('historyOf', () => {
  it('violates every level for x and not x', () => {
    const history = historyOf([[1], [-1]], 1)
    for (const level of LEVELS) expect(check(history, level).verdict).toBe('violated')
  })

  it('satisfies every level for x or not x', () => {
    const history = historyOf([[1, -1]], 1)
    for (const level of LEVELS) expect(check(history, level).verdict).toBe('satisfied')
  })
})

describe('check on formulas', () => {
  it('solves formulas of three variables', () => {
    const seen = judge(20, 3, 20, 'solve')
    expect(seen.satisfied).toBeGreaterThan(5)
    expect(seen.violated).toBeGreaterThan(5)
    expect(seen.split).toBeGreaterThan(5)
  })

  it('solves formulas of ten variables near the threshold', () => {
    const seen = judge(4, 10, 46, 'solve')
    expect(seen.satisfied).toBeGreaterThan(0)
    expect(seen.violated).toBeGreaterThan(0)
  })

  it('finds the same by searching for an order', () => {
    const small = [[[1, 2]], [[1], [-1]], [[1, -2], [2]], [[1], [-1, 2], [-2]], [[-1, -2]]]
    for (const formula of small) {
      const history = historyOf(formula, 2)
      const expected = isSatisfiable(formula, 2) ? 'satisfied' : 'violated'
      for (const level of LEVELS) {
        const result = check(history, level, { algorithm: 'search' })
        expect(result.verdict, JSON.stringify(formula)).toBe(expected)
      }
    }
  })
})
