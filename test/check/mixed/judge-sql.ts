// Judges an SQL history in notation, for tests: both the oracle and the decider must say the same.

import { expect } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import type { MixedProblem, MixedSolution } from '../../../src/check/problem/mixed-problem.ts'
import { decideByExtensions } from '../../../src/check/published/extensions.ts'
import { levelsOf, type Mix } from '../../small/compare-sql.ts'
import { historyOfSql, parseSql } from '../../small/sql-draft.ts'
import { SqlOracle } from '../../small/sql-oracle.ts'

export interface Judged {
  readonly problem: MixedProblem
  readonly solution: MixedSolution | null
  /** Names of what violates every level. */
  readonly offences: string[]
  /** Transactions in commit order: T1, T2 …; null if it is violated. */
  readonly order: string[] | null
}

export function judgeSql(notation: string, mix: Mix = 'mixed'): Judged {
  const draft = parseSql(notation)
  const history = historyOfSql(draft)
  const truth = new SqlOracle(history).decide(levelsOf(draft, mix))
  const problem = buildMixedProblem(history, mix)
  const solution = decideByExtensions(problem, Deadline.none())
  const offences = problem.offences.map(({ name }) => name)
  expect(offences.slice().sort()).toEqual(truth.offences.map(({ name }) => name).sort())
  expect(solution !== null).toBe(truth.holds)
  const order = solution && Array.from(solution.order.subarray(1), (node) => `T${node}`)
  return { problem, solution, offences, order }
}
