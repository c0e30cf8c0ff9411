import { describe, expect, test } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import { buildMixedProblem } from '../../src/check/mixed/build-problem.ts'
import { decideByExtensions } from '../../src/check/published/extensions.ts'
import { buildHistory, renderDraft } from './draft.ts'
import { profileOf } from './oracle.ts'
import { randomHistory, shapeOf } from './random-history.ts'
import { SQL_LEVELS } from './sql-draft.ts'
import { SqlOracle } from './sql-oracle.ts'

describe('SqlOracle', () => {
  test('says of histories without SQL what their own oracle says, and so does the decider', () => {
    const counts = { satisfied: 0, violated: 0, unknown: 0 }
    for (let seed = 1; seed <= 1500; seed++) {
      const draft = randomHistory(seed, shapeOf(seed, { lists: 0, times: false }))
      const profile = profileOf(draft)
      const history = buildHistory(draft)
      if (history.after !== null) continue // refused at mixed levels
      const oracle = new SqlOracle(history)
      for (const level of SQL_LEVELS) {
        const truth = oracle.decide(Array.from(history.txnStatus, () => level))
        const verdict = truth.consistent ? 'satisfied' : 'violated'
        const what = `${level} (seed ${seed}):\n${renderDraft(draft)}`
        expect(verdict, what).toBe(profile[level])
        const problem = buildMixedProblem(history, level)
        expect(problem.offences.length, what).toBe(truth.offences.length)
        expect(decideByExtensions(problem, Deadline.none()) !== null, what).toBe(truth.holds)
        counts[profile[level]]++
      }
    }
    expect(counts.satisfied).toBeGreaterThan(2000)
    expect(counts.violated).toBeGreaterThan(2000)
  }, 60_000)
})
