// Decides a strong level on a problem: what is known by definition (known-edges.ts), what follows
// from it (saturate.ts), and for what stays open (residue.ts) clause learning modulo acyclicity
// (src/solver). NP-complete in general (Biswas & Enea, Theorem 3.2), but on recorded histories
// little or nothing stays open. Exact: 'satisfied' comes with an order of all nodes, 'violated'
// with what is needed to explain it (suspects.ts, explain.ts). Main function: decide.

import type { Deadline } from '../../base/deadline.ts'
import { positionsOf } from '../../graph/toposort.ts'
import type { AcyclicSolver } from '../../solver/solver.ts'
import { buildKnownEdges, type KnownEdges } from './known-edges.ts'
import type { Problem } from './problem.ts'
import { buildResidue, buildSolver, type Residue } from './residue.ts'
import { saturate } from './saturate.ts'
import type { LevelShape } from './shape.ts'

/** Unresolved pairs, and the solver that found no way to resolve them. */
export interface Contradiction {
  readonly residue: Residue
  readonly solver: AcyclicSolver
}

export type Decision =
  | { readonly satisfied: true; readonly order: Int32Array } // nodes, first to last
  | {
      readonly satisfied: false
      readonly known: KnownEdges
      /** Null if the known edges alone have a cycle. */
      readonly contradiction: Contradiction | null
    }

export function decide(problem: Problem, shape: LevelShape, deadline: Deadline): Decision {
  const known = buildKnownEdges(problem, shape, deadline)
  if (!saturate(known, deadline)) return { satisfied: false, known, contradiction: null }
  const residue = buildResidue(known, deadline)
  if (residue.pairs.count === 0) return { satisfied: true, order: known.graph.order }
  const solver = buildSolver(known, residue)
  solver.setInitialOrder(positionsOf(known.graph.order))
  if (solver.solve(deadline) === 'sat') {
    return { satisfied: true, order: positionsOf(solver.order()) }
  }
  return { satisfied: false, known, contradiction: { residue, solver } }
}

/** A violation that follows without any search, null if none does. */
export function refuteByKnown(
  problem: Problem,
  shape: LevelShape,
  deadline: Deadline,
): Extract<Decision, { satisfied: false }> | null {
  const known = buildKnownEdges(problem, shape, deadline)
  return saturate(known, deadline) ? null : { satisfied: false, known, contradiction: null }
}
