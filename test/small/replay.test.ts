// Running transactions on a store, with steps back, finds an order wherever there is one: at pc, si
// and ser, where all take part, on random small SQL histories.

import { expect, test } from 'vitest'
import type { Deadline } from '../../src/base/deadline.ts'
import { Choice } from '../../src/check/general/choose.ts'
import { Conflicts } from '../../src/check/general/conflicts.ts'
import { buildKnownEdges } from '../../src/check/general/known-edges.ts'
import { ofRows } from '../../src/check/general/of-rows.ts'
import { Replay } from '../../src/check/general/replay.ts'
import { saturate } from '../../src/check/general/saturate.ts'
import { Verifier } from '../../src/check/general/verify.ts'
import { asSolution } from '../../src/check/mixed/check-mixed.ts'
import {
  MAYBE,
  type MixedProblem,
  type MixedSolution,
} from '../../src/check/problem/mixed-problem.ts'
import { solveMixed } from '../check/mixed/solve-mixed.ts'
import { FEWER, sampled } from './compare.ts'
import { compareWithSqlOracle, type Mix } from './compare-sql.ts'

const STRONG_MIXES: readonly Mix[] = ['pc', 'si', 'ser']

/** How many histories were decided by running them. */
let replayed = 0

/** @param infers false: only what is known by definition keeps the run from mistakes */
function byReplay(rows: MixedProblem, deadline: Deadline, infers: boolean): MixedSolution | null {
  if (rows.state.includes(MAYBE)) return solveMixed(rows, deadline)
  replayed++
  const problem = ofRows(rows)
  const known = buildKnownEdges(problem, deadline, 1 << 29)
  const conflicts = new Conflicts(problem, known, true, deadline)
  const isSound = infers ? saturate(known, conflicts, deadline) : known.graph.refresh(deadline)
  const order = isSound ? new Replay(known, conflicts).find(1e6, deadline) : null
  if (order === null) return null
  const verifier = new Verifier(problem)
  const choice = new Choice(problem, verifier, deadline)
  const valid = choice.findValid(order)
  expect(valid).not.toBeNull()
  return asSolution(problem, { satisfied: true, order: valid!, source: choice.source, verifier })
}

test('running transactions agrees with the oracle, 5,000 histories if asked', () => {
  const outcome = compareWithSqlOracle(
    {
      inferred: (problem, deadline) => byReplay(problem, deadline, true),
      bare: (problem, deadline) => byReplay(problem, deadline, false),
    },
    sampled(5000) / FEWER,
    STRONG_MIXES,
  )
  expect(outcome.disagreement).toBeNull()
  expect(replayed).toBeGreaterThan(sampled(5000) / FEWER)
  for (const mix of STRONG_MIXES) {
    expect(outcome.satisfied[mix]).toBeGreaterThan(sampled(1000) / FEWER)
    expect(outcome.violated[mix]).toBeGreaterThan(sampled(1000) / FEWER)
  }
}, 120_000)
