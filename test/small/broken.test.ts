// Databases that return no row, or several, and that lose commits: every level, with both ways of
// deciding, against brute force; each verdict passes its own certificate.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { compareWithOracle, FEWER } from './compare.ts'
import { ORACLE_LEVELS } from './oracle.ts'

const SOUND = { thinAir: 0, wild: 0, aborted: 0, rewrites: false } as const

describe('reads of a broken database', () => {
  it.each([
    ['registers', { lists: 0, initial: 0 }],
    ['registers without an initial value', { lists: 0, initial: undefined }],
    ['lists', { lists: 1 }],
    ['read-modify-write', { style: 'rmw', sight: 'all' }],
  ] as const)('are violations at every level: %s', (_, shape) => {
    const broken = compareWithOracle(
      (history, level) => check(history, level).verdict,
      ORACLE_LEVELS,
      { families: [], seeds: 150 / FEWER, shape: { ...SOUND, ...shape, broken: 0.08 } },
    )
    expect(broken.disagreement).toBeNull()
    expect(broken.violated.rc).toBeGreaterThan(20 / FEWER)
    expect(broken.satisfied.rc).toBeGreaterThan(5 / FEWER)
  })
})

describe('audits', () => {
  it.each([
    ['registers', { lists: 0, initial: 0 }],
    ['lists', { lists: 1 }],
    ['read-modify-write', { style: 'rmw', sight: 'all' }],
    ['indeterminate transactions', { style: 'rmw', indeterminate: 0.3 }],
  ] as const)('show lost commits at every level: %s', (_, shape) => {
    for (const sessionOrder of [true, false]) {
      const audited = compareWithOracle(
        (history, level) => check(history, level, { sessionOrder }).verdict,
        ORACLE_LEVELS,
        {
          families: [],
          seeds: 150 / FEWER,
          shape: { ...SOUND, ...shape, audits: 0.4, times: true },
          sessionOrder,
        },
      )
      expect(audited.disagreement).toBeNull()
      expect(audited.violated.rc).toBeGreaterThan(10 / FEWER)
      expect(audited.satisfied.ser).toBeGreaterThan(10 / FEWER)
    }
  })
})
