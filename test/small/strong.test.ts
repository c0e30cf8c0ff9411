// The strong levels against brute force: every small history of the families, then seeded random
// ones with aborts, indeterminates, times, repeated writes and lists, by both deciders. Every
// verdict is certified on the way.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import type { Algorithm } from '../../src/check/general/strong-levels.ts'
import type { History } from '../../src/history/history.ts'
import { compareWithOracle, type Decide, FEWER, SAMPLED, sampled } from './compare.ts'
import type { OracleLevel } from './oracle.ts'

const STRONG = ['pc', 'si', 'ser', 'sser'] as const

function decideBy(algorithm: Algorithm): Decide {
  return (history: History, level: OracleLevel) => {
    const result = check(history, level, { algorithm })
    if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
    return result.verdict
  }
}

describe('check at strong levels', () => {
  it('agrees with brute force on small histories, all of them if asked', () => {
    // Without times, sser asks nothing beyond ser.
    const levels = ['pc', 'si', 'ser'] as const
    const outcome = compareWithOracle(decideBy('solve'), levels, { stride: FEWER * SAMPLED })
    expect(outcome.disagreement).toBeNull()
    for (const level of levels) expect(outcome.satisfied[level]).toBeGreaterThan(100)
    for (const level of levels) expect(outcome.violated[level]).toBeGreaterThan(100)
  }, 600_000)

  it('agrees with brute force on small histories when it searches', () => {
    const outcome = compareWithOracle(decideBy('search'), STRONG, { stride: 19 + FEWER * SAMPLED })
    expect(outcome.disagreement).toBeNull()
  })

  for (const algorithm of ['solve', 'search'] as const) {
    it(`agrees with brute force on random histories, 20,000 if asked, by ${algorithm}`, () => {
      const options = { families: [], seeds: sampled(20_000) / FEWER }
      const outcome = compareWithOracle(decideBy(algorithm), STRONG, options)
      expect(outcome.disagreement).toBeNull()
      for (const level of STRONG) expect(outcome.satisfied[level]).toBeGreaterThan(1000 / SAMPLED)
      for (const level of STRONG) expect(outcome.violated[level]).toBeGreaterThan(1000 / SAMPLED)
    })

    it(`agrees with brute force on random histories of lists by ${algorithm}`, () => {
      const options = {
        families: [],
        seeds: sampled(3_000) / FEWER,
        firstSeed: 50_000,
        shape: { lists: 1 },
      }
      const outcome = compareWithOracle(decideBy(algorithm), STRONG, options)
      expect(outcome.disagreement).toBeNull()
    })
  }

  it('agrees with brute force on random histories of lists and registers', () => {
    const options = {
      families: [],
      seeds: sampled(3_000) / FEWER,
      firstSeed: 70_000,
      shape: { lists: 0.5 },
    }
    const outcome = compareWithOracle(decideBy('auto'), STRONG, options)
    expect(outcome.disagreement).toBeNull()
  })
})
