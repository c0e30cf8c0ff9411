import { describe, expect, test } from 'vitest'
import { decideByExtensions } from '../../src/check/mixed/reference.ts'
import { compareWithSqlOracle, MIXES } from './compare-sql.ts'

describe('deciders of mixed levels', () => {
  test('agree with the oracle on 5,000 histories at every level and at their own', () => {
    const outcome = compareWithSqlOracle({ decideByExtensions }, 5000)
    expect(outcome.disagreement).toBeNull()
    for (const mix of MIXES) {
      expect(outcome.satisfied[mix]).toBeGreaterThan(1000)
      expect(outcome.violated[mix]).toBeGreaterThan(1000)
    }
  }, 120_000)
})
