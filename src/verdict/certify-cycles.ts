// Verifies cycles and case splits: the shape of each cycle (certify-shape.ts), each edge by its
// rule (certify-edges.ts), and what the edges rest on, down to the history. Arguments nest: a
// version order may be refuted by a cycle under the opposite assumption, and a case assumes an
// order; prove-edges.ts goes through them. Main functions: certifyCycle, certifyOrders.

import type { Deadline } from '../base/deadline.ts'
import type { History } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { certifyCases } from './certify-cases.ts'
import { type Context, certifyEdge, certifyWrites } from './certify-edges.ts'
import { pathProblem } from './certify-shape.ts'
import { LEVEL_RULES } from './level-rules.ts'
import { EdgeProver, ProofScope } from './prove-edges.ts'
import { type Case, type Edge, INITIAL_TXN } from './verdict.ts'

export function certifyCycle(history: History, level: LevelId, edges: readonly Edge[]): string[] {
  const argument = new Argument(history, level)
  argument.cycle(edges, new Scope(null, INITIAL_TXN, INITIAL_TXN))
  return argument.problems
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
      cycleProblems(cycle, assumptions) {
        const argument = new Argument(history, level)
        const outer = new Scope(null, INITIAL_TXN, INITIAL_TXN)
        const scope = assumptions.reduce((at, { from, to }) => new Scope(at, from, to), outer)
        argument.cycle(cycle, scope)
        return argument.problems
      },
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

/** The orders assumed at some point of the argument, and what was proved there. */
class Scope extends ProofScope<Scope> {
  constructor(
    parent: Scope | null,
    private readonly from: number,
    private readonly to: number,
  ) {
    super(parent)
  }

  assumes(from: number, to: number): boolean {
    if (from === INITIAL_TXN) return false
    for (let at: Scope | null = this; at !== null; at = at.parent) {
      if (at.from === from && at.to === to) return true
    }
    return false
  }
}

class Argument extends EdgeProver<Scope> {
  constructor(
    private readonly history: History,
    private readonly level: LevelId,
  ) {
    super((edge, scope, need) => {
      const context: Context = {
        isAssumed: (from, to) => scope.assumes(from, to),
        need: (edges, from, to) =>
          need(edges, from === undefined ? scope : new Scope(scope, from, to!)),
      }
      return certifyEdge(history, level, edge, context)
    })
  }

  cycle(edges: readonly Edge[], scope: Scope): void {
    const problem = pathProblem(this.history, this.level, edges, null)
    if (problem !== null) this.problems.push(problem)
    this.prove(edges, scope)
  }
}
