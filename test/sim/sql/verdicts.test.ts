// What the store makes is consistent at the levels that its transactions asked for, and is not
// where a fault struck: judged from outside, on client histories, by the oracle where they are
// tiny, by the reference decider where they are small, and by the solver where they are larger.

import { describe, expect, test } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { checkMixed } from '../../../src/check/mixed/check-mixed.ts'
import type { MixedProblem, MixedSolution } from '../../../src/check/problem/mixed-problem.ts'
import { decideByExtensions } from '../../../src/check/published/extensions.ts'
import type { History } from '../../../src/history/history.ts'
import { LEVELS } from '../../../src/levels/levels.ts'
import { type GenerateSqlOptions, generateSql } from '../../../src/pipeline/generate-sql.ts'
import { SQL_FAULTS } from '../../../src/sim/sql/faults.ts'
import { SQL_SHAPES } from '../../../src/workload/sql/parameters.ts'
import { solveMixed } from '../../check/mixed/solve-mixed.ts'
import type { SqlLevel } from '../../small/sql-draft.ts'
import { SqlOracle } from '../../small/sql-oracle.ts'

const LEVEL_CHOICES = ['rc', 'pc', 'si', 'ser', 'ser+rc', 'si+rc', 'mixed']
const TINY: GenerateSqlOptions['workload'] = { shape: 'sql', sessions: 2, transactions: 4, keys: 3 }
const SMALL = { sessions: 3, transactions: 9, districts: 2, keys: 3, items: 4 }

const levelsOf = (history: History) =>
  Array.from(history.txnLevel!, (level) => LEVELS[level]!.id as SqlLevel)

type Decide = (problem: MixedProblem, deadline: Deadline) => MixedSolution | null

function isConsistent(history: History, decide: Decide = decideByExtensions): boolean {
  const problem = buildMixedProblem(history, 'mixed')
  return problem.offences.length === 0 && decide(problem, Deadline.none()) !== null
}

describe('a store without faults', () => {
  for (const levels of LEVEL_CHOICES) {
    test(`satisfies ${levels} by the oracle`, () => {
      for (let seed = 1; seed <= 60; seed++) {
        const store = seed % 2 === 0 ? { aborts: 0.1, indeterminates: 0.2 } : {}
        const { history } = generateSql({ seed, workload: { ...TINY, levels }, store })
        const { consistent } = new SqlOracle(history).decide(levelsOf(history))
        expect(consistent, `seed ${seed}`).toBe(true)
      }
    })

    test(`satisfies ${levels} in every application`, () => {
      for (let seed = 1; seed <= 12; seed++) {
        for (const shape of SQL_SHAPES) {
          const { history } = generateSql({ seed, workload: { ...SMALL, shape, levels } })
          expect(isConsistent(history), `${shape}, seed ${seed}`).toBe(true)
        }
      }
    })
  }

  test('satisfies them in larger runs with aborted and indeterminate transactions', () => {
    for (let seed = 1; seed <= 4; seed++) {
      for (const levels of LEVEL_CHOICES) {
        for (const shape of SQL_SHAPES) {
          const workload = { shape, levels, sessions: 5, transactions: 50 }
          const store = { aborts: 0.05, indeterminates: 0.05 }
          const { history } = generateSql({ seed, workload, store })
          expect(isConsistent(history, solveMixed), `${shape} ${levels} ${seed}`).toBe(true)
        }
      }
    }
  })

  test('shows at weak levels what strong ones forbid', () => {
    let violated = 0
    for (let seed = 1; seed <= 60; seed++) {
      const { history } = generateSql({ seed, workload: { ...TINY, levels: 'rc' } })
      const asked = levelsOf(history).map(() => 'ser' as const)
      if (!new SqlOracle(history).decide(asked).consistent) violated++
    }
    expect(violated).toBeGreaterThan(3)
  })
})

describe('a fault', () => {
  for (const fault of SQL_FAULTS) {
    for (const shape of SQL_SHAPES) {
      test(`is found wherever it struck: ${fault.name} on ${shape}`, () => {
        for (let seed = 1; seed <= 15; seed++) {
          const levels = seed % 2 === 0 ? fault.forbiddenFrom : 'ser+rc'
          const workload = { ...SMALL, shape, levels }
          const store = { faults: [{ fault, count: 1 }] }
          const { history, strikes } = generateSql({ seed, workload, store })
          expect(strikes.map((strike) => strike.fault)).toEqual([fault.name])
          expect(isConsistent(history), `seed ${seed}`).toBe(false)
        }
      })
    }
  }

  test('is found among many transactions', () => {
    for (const fault of SQL_FAULTS) {
      for (let seed = 1; seed <= 4; seed++) {
        for (const shape of SQL_SHAPES) {
          const workload = { shape, levels: 'ser+rc', sessions: 5, transactions: 50 }
          const store = { faults: [{ fault, count: 2 }], aborts: 0.05, indeterminates: 0.05 }
          const { history, strikes } = generateSql({ seed, workload, store })
          expect(strikes).toHaveLength(2)
          const what = `${fault.name} ${shape} ${seed}`
          expect(isConsistent(history, solveMixed), what).toBe(false)
        }
      }
    }
  })

  test('is named and counted beside all others', () => {
    const workload = { shape: 'twitter' as const, levels: 'ser', sessions: 5, transactions: 200 }
    const store = { faults: SQL_FAULTS.map((fault) => ({ fault, count: 2 })) }
    const { history } = generateSql({ seed: 3, workload, store })
    const [result] = checkMixed(history, ['ser'])
    expect(result!.certificate?.verified).toBe(true)
    const told = result!.anomalies.map(({ name, count }) => `${count} ${name}`)
    // Stale indexes and phantoms show in the same way.
    expect(told.sort()).toEqual(['2 LostUpdate', '2 PredicateWriteSkew', '4 Phantom'])
  })
})
