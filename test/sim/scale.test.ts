// Stores and faults on histories too large for the oracle, judged by the checkers.

import { describe, expect, test } from 'vitest'
import { checkLevels } from '../../src/check/check.ts'
import { CHAIN, type LevelId } from '../../src/levels/levels.ts'
import { type GenerateOptions, generate } from '../../src/pipeline/generate.ts'
import { FAULTS } from '../../src/sim/faults.ts'

type Workload = GenerateOptions['workload']

const SHAPES: [string, Workload][] = [
  ['general', { shape: 'general', sessions: 6, transactions: 100, ops: 5, reads: 0.7, keys: 30 }],
  ['mini', { sessions: 6, transactions: 100, keys: 30, shape: 'mini' }],
  ['append', { sessions: 6, transactions: 100, ops: 4, keys: 5, shape: 'append' }],
]

const rank = (level: LevelId) => CHAIN.indexOf(level)

describe('a store of some size', () => {
  for (const [shape, workload] of SHAPES) {
    test(`keeps its level and no stronger one (${shape})`, () => {
      for (const level of CHAIN) {
        const stronger = CHAIN[rank(level) + 1]
        let apart = 0
        for (let seed = 0; seed < 8; seed++) {
          const store = { level, aborts: 0.05, indeterminates: 0.05 }
          const { history } = generate({ seed, workload, store })
          for (const { level: judged, verdict } of checkLevels(history, CHAIN)) {
            if (rank(judged) <= rank(level)) expect([seed, judged, verdict]).toContain('satisfied')
            if (judged === stronger && verdict === 'violated') apart++
          }
        }
        // Mini-transactions of a snapshot store are rarely in each other's way.
        if (level !== 'sser' && shape !== 'mini') expect(apart).toBeGreaterThan(0)
      }
    })
  }
})

describe('faults in a store of some size', () => {
  for (const fault of FAULTS) {
    test(`${fault.name} is found where it is forbidden, and nothing is where it is not`, () => {
      for (const [shape, workload] of SHAPES) {
        const expected = (shape === 'append' && fault.onLists) || fault
        const faults = [{ fault, count: 3 }]
        for (const level of CHAIN) {
          const { history, strikes } = generate({ seed: 11, workload, store: { level, faults } })
          expect(strikes.length).toBe(3)
          for (const { level: judged, verdict } of checkLevels(history, CHAIN)) {
            const forbidden = rank(judged) >= rank(expected.forbiddenFrom)
            // A store weaker than the judged level may break it without any fault.
            if (!forbidden && rank(level) < rank(judged)) continue
            const wanted = forbidden ? 'violated' : 'satisfied'
            expect([shape, level, judged, verdict]).toEqual([shape, level, judged, wanted])
          }
        }
      }
    })
  }
})
