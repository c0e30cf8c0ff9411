// The strong levels against brute force: every small history of the families, then seeded random
// ones with aborts, indeterminates, times, repeated writes and lists. Every verdict is certified on
// the way.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import type { History } from '../../src/history/history.ts'
import { compareWithOracle } from './compare.ts'
import type { OracleLevel } from './oracle.ts'

const STRONG = ['pc', 'si', 'ser', 'sser'] as const

function decide(history: History, level: OracleLevel) {
  const result = check(history, level)
  if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
  return result.verdict
}

describe('check at strong levels', () => {
  it('agrees with brute force on every small history', () => {
    const outcome = compareWithOracle(decide, STRONG)
    expect(outcome.disagreement).toBeNull()
    for (const level of STRONG) expect(outcome.violated[level]).toBeGreaterThan(100)
  })

  it('agrees with brute force on 20,000 random histories', () => {
    const outcome = compareWithOracle(decide, STRONG, { families: [], seeds: 20_000 })
    expect(outcome.disagreement).toBeNull()
    for (const level of STRONG) expect(outcome.satisfied[level]).toBeGreaterThan(100)
    for (const level of STRONG) expect(outcome.violated[level]).toBeGreaterThan(100)
  })

  it('agrees with brute force on random histories of lists', () => {
    const shape = { lists: 1 }
    const outcome = compareWithOracle(decide, STRONG, { families: [], seeds: 5_000, shape })
    expect(outcome.disagreement).toBeNull()
  })
})
