import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { Random } from '../../../src/base/random.ts'
import { decide } from '../../../src/check/general/engine.ts'
import { ofRegisters } from '../../../src/check/general/problem.ts'
import { ProblemBuilder } from '../../../src/check/problem/register-problem.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import type { History } from '../../../src/history/history.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { historyOf, isSatisfiable, randomFormula } from './sat-reduction.ts'

/** Open pairs are added one by one; and without anything inferred before. */
const FEW_PAIRS = { pairs: 0, closure: 1 << 27 }
const NO_CLOSURE = { pairs: 0, closure: 0 }

const LEVELS = ['pc', 'si', 'ser'] as const

function problemOf(history: History) {
  return new ProblemBuilder(history, checkReads(history)).build()
}

describe('decide', () => {
  it('decides the same when open pairs are added as they are needed, with and without closure', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { history } = generate({
        seed,
        workload: {
          shape: 'general',
          sessions: 6,
          transactions: 150,
          ops: 4,
          keys: 30,
          reads: 0.3,
        },
        store: { level: seed % 3 === 0 ? 'pc' : 'ser' },
      })
      const problem = problemOf(history)
      for (const level of LEVELS) {
        const all = decide(ofRegisters(problem, level), Deadline.none())
        for (const limits of [FEW_PAIRS, NO_CLOSURE]) {
          const few = decide(ofRegisters(problem, level), Deadline.none(), null, limits)
          expect(few.satisfied, `seed ${seed} at ${level}`).toBe(all.satisfied)
        }
      }
    }
  })

  it('adds pairs until a formula turns out to be unsatisfiable', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const formula = randomFormula(new Random(seed), 3, 16)
      const problem = problemOf(historyOf(formula, 3))
      for (const level of LEVELS) {
        for (const limits of [FEW_PAIRS, NO_CLOSURE]) {
          const { satisfied } = decide(ofRegisters(problem, level), Deadline.none(), null, limits)
          expect(satisfied, `seed ${seed} at ${level}`).toBe(isSatisfiable(formula, 3))
        }
      }
    }
  })
})
