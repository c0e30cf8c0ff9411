// The solver of mixed levels on small histories without SQL: at one level for all it agrees with
// the decider of that level, at mixed levels with the oracle.

import { describe, expect, test } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import { Random } from '../../src/base/random.ts'
import { check } from '../../src/check/check.ts'
import { buildMixedProblem } from '../../src/check/mixed/build-problem.ts'
import type { History } from '../../src/history/history.ts'
import { LEVELS, type LevelId } from '../../src/levels/levels.ts'
import { solveMixed, verifySolution } from '../check/mixed/solve-mixed.ts'
import { some } from '../long.ts'
import { buildHistory } from './draft.ts'
import { randomHistory, shapeOf } from './random-history.ts'
import { SQL_LEVELS } from './sql-draft.ts'
import { SqlOracle } from './sql-oracle.ts'

const SEEDS = some(1500)

/** The verdict of the solver; its solution is verified on the way. */
function decide(history: History, level: LevelId): { sound: boolean; holds: boolean } {
  const problem = buildMixedProblem(history, level)
  const solution = solveMixed(problem, Deadline.none())
  if (solution) expect(verifySolution(problem, solution)).toBe(true)
  return { sound: problem.offences.length === 0, holds: solution !== null }
}

describe('solveMixed', () => {
  test('agrees with the deciders of single levels on histories without SQL', () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const history = buildHistory(randomHistory(seed, shapeOf(seed, { lists: 0 })))
      if (history.after !== null) continue // refused at mixed levels
      for (const level of SQL_LEVELS) {
        const { sound, holds } = decide(history, level)
        const satisfied = check(history, level, { certify: false }).verdict === 'satisfied'
        expect(sound && holds, `seed ${seed} at ${level}`).toBe(satisfied)
      }
    }
  }, 600_000)

  test('agrees with the oracle on histories without SQL at mixed levels', () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      const plain = buildHistory(randomHistory(seed, shapeOf(seed, { lists: 0, initial: null })))
      const random = new Random(seed)
      const levels = Array.from({ length: plain.txnCount }, () => random.pick(SQL_LEVELS))
      const txnLevel = Int8Array.from(levels, (id) => LEVELS.findIndex((level) => level.id === id))
      const history = { ...plain, txnLevel }
      const { holds } = new SqlOracle(history).decide(levels)
      expect(decide(history, 'mixed').holds, `seed ${seed} at ${levels}`).toBe(holds)
    }
  }, 600_000)
})
