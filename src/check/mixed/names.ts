// Names what violates mixed levels. Where a statement's predicate is part of the story, that is: a
// row that it passed over, it is a phantom, or a write skew by predicate if two readers missed each
// other's writes; otherwise the circle has the name it has at one level for all. Main function:
// nameArgument.

import type { AnomalyName } from '../../levels/anomalies.ts'
import { classifyCycle } from '../../verdict/classify.ts'
import { type Edge, findEdges } from '../../verdict/verdict.ts'
import type { Argument } from '../evidence/fold.ts'
import { CC, type MixedProblem, RA, RC_SQL } from './problem.ts'

export function nameArgument(problem: MixedProblem, { edges, cases }: Argument): AnomalyName {
  const all = edges.length > 0 ? [edges] : cases.map(({ cycle }) => cycle)
  const cycles = all.filter((cycle) => cycle.length > 0)
  const byPredicate = [...findEdges(edges, cases)].some((edge) => edge.event !== undefined)
  if (byPredicate) return cycles.some(isSkew) ? 'PredicateWriteSkew' : 'Phantom'
  const names = new Set(cycles.map((cycle) => nameCycle(problem, cycle)))
  const [only] = names
  return names.size === 1 ? only! : 'G2-item'
}

/** Two transactions, each of which missed what the other wrote. */
function isSkew(cycle: readonly Edge[]): boolean {
  return cycle.length === 2 && cycle.every(({ kind }) => kind === 'RW')
}

function nameCycle(problem: MixedProblem, cycle: readonly Edge[]): AnomalyName {
  const forced = cycle.find(({ kind }) => kind === 'CO')
  if (!forced) return classifyCycle(problem.history, cycle)
  const [seen, visible] = forced.premises
  const level = problem.level[problem.txnOf.indexOf(seen!.to)]!
  const others = cycle.filter((edge) => edge !== forced)
  const isCause = others.every(({ kind }) => kind === 'SO' || kind === 'WR')
  // At rc of SQL a session is visible too, and what the same statement read.
  if (level === RC_SQL && isCause) {
    if (visible!.kind === 'SO') return 'SessionGuaranteeViolation'
    if (statementOf(problem, seen!) === statementOf(problem, visible!)) return 'FracturedReadCO'
  }
  if (level === CC) return isCause ? 'COConflictCM' : 'ConflictCM'
  if (level === RA) return isCause ? 'FracturedReadCO' : 'FracturedReadCM'
  return isCause ? 'NonMonoReadCO' : 'NonMonoReadCM'
}

/** The statement by which a row was seen; NONE for a register. */
function statementOf({ history }: MixedProblem, { event, ops }: Edge): number {
  return event ?? history.sql!.opEvent[ops.at(-1)!]!
}
