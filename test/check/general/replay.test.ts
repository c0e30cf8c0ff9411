// Contended SQL histories, told session by session without times, by running them on a store.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { Choice } from '../../../src/check/general/choose.ts'
import { Conflicts } from '../../../src/check/general/conflicts.ts'
import { buildKnownEdges, type KnownEdges } from '../../../src/check/general/known-edges.ts'
import { ofRows } from '../../../src/check/general/of-rows.ts'
import { saturate } from '../../../src/check/general/saturate.ts'
import { SnapshotGuess } from '../../../src/check/general/snapshot-guess.ts'
import { Verifier } from '../../../src/check/general/verify.ts'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { withRolledBack } from '../../../src/history/counts.ts'
import type { LevelId } from '../../../src/levels/levels.ts'
import { layOutSql } from '../../../src/sim/sql/layout.ts'
import { simulateSql } from '../../../src/sim/sql/simulate.ts'
import { planSql } from '../../../src/workload/sql/workload.ts'

const LARGE = 1 << 29

/** An order that was found for what the store ran, and satisfies all axioms; or null. */
function guessed(levels: string, judged: LevelId, seed: number, turns = 1): Int32Array | null {
  const plan = planSql({ shape: 'sql', sessions: 20, transactions: 200, keys: 6, levels, seed })
  const { history } = layOutSql(simulateSql(plan, { seed, indeterminates: 0.02 }), 'session', false)
  const problem = ofRows(buildMixedProblem(withRolledBack(history), judged))
  const deadline = Deadline.none()
  const known: KnownEdges = buildKnownEdges(problem, deadline, LARGE)
  const conflicts = new Conflicts(problem, known, true, deadline)
  if (!saturate(known, conflicts, deadline)) return null
  const guess = new SnapshotGuess(known, conflicts, LARGE)
  const choice = new Choice(problem, new Verifier(problem), deadline)
  for (let turn = 0; turn < turns; turn++) {
    const order = guess.next(1e9, 1e9, deadline)
    if (order !== null) return choice.findValid(order)
  }
  return null
}

describe('SnapshotGuess', () => {
  it.each(['rc', 'ra', 'cc', 'pc', 'si', 'ser', 'ser+rc', 'mixed'])(
    'finds what happened by what was read alone: a store at %s',
    (levels) => {
      for (const seed of [1, 2, 3]) expect(guessed(levels, 'mixed', seed)).not.toBeNull()
    },
  )

  it('finds nothing where nothing is to be found', () => {
    for (const seed of [1, 2, 3]) {
      expect(guessed('rc', 'pc', seed, 3)).toBeNull()
      expect(guessed('pc', 'ser', seed, 3)).toBeNull()
    }
  })

  it('waits for its turn, and has no more than a few', () => {
    const plan = planSql({ shape: 'sql', sessions: 2, transactions: 4, keys: 2, seed: 1 })
    const { history } = layOutSql(simulateSql(plan, { seed: 1 }), 'session', false)
    const problem = ofRows(buildMixedProblem(withRolledBack(history), 'rc'))
    const deadline = Deadline.none()
    const known = buildKnownEdges(problem, deadline, LARGE)
    const conflicts = new Conflicts(problem, known, true, deadline)
    expect(saturate(known, conflicts, deadline)).toBe(true)
    const guess = new SnapshotGuess(known, conflicts, LARGE)
    expect(guess.next(0, 0, deadline)).toBeNull()
    expect(guess.conflictsToGo(0)).toBeLessThan(1000)
    for (let turn = 0; turn < 3; turn++) expect(guess.next(1e9, 0, deadline)).not.toBeNull()
    expect(guess.next(1e9, 1e9, deadline)).toBeNull()
    expect(guess.conflictsToGo(0)).toBe(Number.POSITIVE_INFINITY)
  })
})
