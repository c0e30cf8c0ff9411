// Contended SQL histories by their record alone, without inferring or solving anything.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { Choice } from '../../../src/check/general/choose.ts'
import { buildKnownEdges } from '../../../src/check/general/known-edges.ts'
import { ofRows } from '../../../src/check/general/of-rows.ts'
import {
  commitsIn,
  orderAsRecorded,
  rowsRecorded,
} from '../../../src/check/general/recorded-order.ts'
import { Verifier } from '../../../src/check/general/verify.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { withRolledBack } from '../../../src/history/counts.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { layOutSql } from '../../../src/sim/sql/layout.ts'
import { simulateSql } from '../../../src/sim/sql/simulate.ts'
import { planSql } from '../../../src/workload/sql/workload.ts'

/** An order found for what the store ran, or null. */
function byRecord(levels: string, judged: LevelId, seed: number): Int32Array | null {
  const plan = planSql({ shape: 'sql', sessions: 20, transactions: 200, keys: 6, levels, seed })
  const deadline = Deadline.none()
  const { history } = layOutSql(simulateSql(plan, { seed }), 'session')
  const rows = buildMixedProblem(withRolledBack(history), judged)
  const problem = ofRows(rows)
  const known = buildKnownEdges(problem, deadline, 1e9)
  const nodes = orderAsRecorded(known, rowsRecorded(rows, deadline), deadline)
  const choice = new Choice(problem, new Verifier(problem), deadline)
  return nodes && choice.findValid(commitsIn(known, nodes))
}

describe('Choice.findValid', () => {
  it.each(['rc', 'ra', 'cc', 'pc', 'si', 'ser', 'mixed'])(
    'moves those who only read up to what they saw: a store at %s',
    (levels) => {
      for (const seed of [1, 2]) expect(byRecord(levels, 'mixed', seed)).not.toBeNull()
    },
  )

  it('finds nothing where nothing is to be found', () => {
    for (const seed of [1, 2]) expect(byRecord('rc', 'si', seed)).toBeNull()
  })
})
