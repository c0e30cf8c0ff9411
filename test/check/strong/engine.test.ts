import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { Random } from '../../../src/base/random.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { decide } from '../../../src/check/strong/engine.ts'
import { ProblemBuilder } from '../../../src/check/strong/problem.ts'
import { SHAPES } from '../../../src/check/strong/shape.ts'
import type { History } from '../../../src/history/history.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { historyOf, isSatisfiable, randomFormula } from './sat-reduction.ts'

const LEVELS = ['pc', 'si', 'ser'] as const

function problemOf(history: History) {
  return new ProblemBuilder(history, checkReads(history)).build()
}

describe('decide', () => {
  it('decides the same when open pairs are added only as they are needed', () => {
    for (let seed = 1; seed <= 60; seed++) {
      const { history } = generate({
        seed,
        workload: { sessions: 6, transactions: 150, ops: 4, keys: 30, reads: 0.3 },
        store: { level: seed % 3 === 0 ? 'pc' : 'ser' },
      })
      const problem = problemOf(history)
      for (const level of LEVELS) {
        const all = decide(problem, SHAPES[level], Deadline.none())
        const few = decide(problem, SHAPES[level], Deadline.none(), 0)
        expect(few.satisfied, `seed ${seed} at ${level}`).toBe(all.satisfied)
      }
    }
  })

  it('adds pairs until a formula turns out to be unsatisfiable', () => {
    for (let seed = 1; seed <= 10; seed++) {
      const formula = randomFormula(new Random(seed), 3, 16)
      const problem = problemOf(historyOf(formula, 3))
      for (const level of LEVELS) {
        const { satisfied } = decide(problem, SHAPES[level], Deadline.none(), 0)
        expect(satisfied, `seed ${seed} at ${level}`).toBe(isSatisfiable(formula, 3))
      }
    }
  })
})
