// Verifies cycles and case splits: the shape of each cycle (certify-shape.ts), each edge by its
// rule (certify-edges.ts), and what the edges rest on, down to the history. Arguments nest: a
// version order may be refuted by a cycle under the opposite assumption, and a case assumes an
// order; prove-edges.ts goes through them. Main functions: certifyCycle, certifyOrders.

import type { Deadline } from '../base/deadline.ts'
import type { History } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { certifyCases } from './certify-cases.ts'
import { certifyEdge, certifyWrites } from './certify-edges.ts'
import { pathProblem } from './certify-shape.ts'
import { LEVEL_RULES } from './level-rules.ts'
import { cycleProblems, type Rule } from './prove-edges.ts'
import { type Case, type Edge, INITIAL_TXN } from './verdict.ts'

/** @param assumptions orders of writers under which there is the cycle */
export function certifyCycle(
  history: History,
  level: LevelId,
  edges: readonly Edge[],
  assumptions: readonly Edge[] = [],
): string[] {
  const rule: Rule = (edge, scope, need) => certifyEdge({ history, level, scope, need }, edge)
  return cycleProblems(rule, pathProblem(history, level, edges, null), edges, assumptions)
}

/** The rules for arguments by cases: both orders of two writers of a key. */
export function certifyOrders(
  history: History,
  level: LevelId,
  cases: readonly Case[],
  deadline: Deadline,
): string[] {
  if (!LEVEL_RULES[level].argued) return [`${level} has no case splits`]
  const { txnCount, keyCount, txnCounts } = history
  return certifyCases(
    cases,
    {
      txnCount,
      keyCount,
      assumptionProblem: (assumption) => assumptionProblem(history, assumption),
      cycleProblems: (cycle, assumptions) => certifyCycle(history, level, cycle, assumptions),
      candidates: () => [],
      counts: (txn) => txnCounts[txn] === 1,
      sources: () => [],
    },
    deadline,
  )
}

function assumptionProblem(history: History, edge: Edge): string | null {
  const { from, to, ops, premises } = edge
  if (edge.kind !== 'WW' || !edge.assumed) return 'a case assumes a version order'
  if (from === INITIAL_TXN || to === INITIAL_TXN) return 'the initial state comes first'
  if (from === to) return 'a case assumes an order of two transactions'
  if (!history.txnCounts[from] || !history.txnCounts[to]) return 'its ends do not count'
  if (premises.length > 0 || edge.refutes) return 'an assumption has no reasons'
  return ops.length === 2 ? certifyWrites(history, edge) : 'it names two writes'
}
