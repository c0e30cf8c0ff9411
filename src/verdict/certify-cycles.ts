// Verifies cycles and case splits: the shape of each cycle (certify-shape.ts), each edge by its
// rule (certify-edges.ts), and what the edges rest on, down to the history. Arguments nest: a
// version order may be refuted by a cycle under the opposite assumption, and a case assumes an
// order; prove-edges.ts goes through them. Main functions: certifyCycle, certifyCases.

import type { History } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { type Context, certifyEdge, certifyWrites } from './certify-edges.ts'
import { pathProblem } from './certify-shape.ts'
import { LEVEL_RULES } from './level-rules.ts'
import { EdgeProver, ProofScope } from './prove-edges.ts'
import { type Case, type Edge, INITIAL_TXN } from './verdict.ts'

const MAX_PROBLEMS = 5

export function certifyCycle(history: History, level: LevelId, edges: readonly Edge[]): string[] {
  const argument = new Argument(history, level)
  argument.cycle(edges, new Scope(null, INITIAL_TXN, INITIAL_TXN))
  return argument.problems
}

/**
 * Every leaf is a cycle under the orders assumed on the way to it; both orders are tried each time.
 */
export function certifyCases(history: History, level: LevelId, cases: readonly Case[]): string[] {
  if (!LEVEL_RULES[level].argued) return [`${level} has no case splits`]
  const argument = new Argument(history, level)
  const pending = [{ cases, scope: new Scope(null, INITIAL_TXN, INITIAL_TXN) }]
  while (pending.length > 0 && argument.problems.length < MAX_PROBLEMS) {
    const { cases, scope } = pending.pop()!
    const problem = splitProblem(history, cases, scope)
    if (problem !== null) {
      argument.problems.push(problem)
      continue
    }
    for (const { assumption, cycle, cases: further } of cases) {
      const inside = new Scope(scope, assumption.from, assumption.to)
      if (cycle.length > 0 && further.length > 0) argument.problems.push('a case ends twice')
      else if (further.length > 0) pending.push({ cases: further, scope: inside })
      else argument.cycle(cycle, inside)
    }
  }
  return argument.problems
}

/** Two cases, one for each order of two transactions that write a common key. */
function splitProblem(history: History, cases: readonly Case[], scope: Scope): string | null {
  const [first, second] = cases
  if (cases.length !== 2) return 'a split has two cases'
  const [a, b] = [first!.assumption, second!.assumption]
  if (a.from !== b.to || a.to !== b.from) return 'the two cases are not opposites'
  for (const edge of [a, b]) {
    if (edge.kind !== 'WW' || !edge.assumed) return 'a case assumes a version order'
    if (edge.from === INITIAL_TXN || edge.to === INITIAL_TXN) return 'the initial state comes first'
    if (!history.txnCounts[edge.from] || !history.txnCounts[edge.to]) return 'its ends do not count'
    if (edge.premises.length > 0 || edge.refutes) return 'an assumption has no reasons'
    const problem = edge.ops.length === 2 ? certifyWrites(history, edge) : 'it names two writes'
    if (problem !== null) return problem
  }
  // A pair that is settled already would let the split go on for ever.
  if (scope.assumes(a.from, a.to) || scope.assumes(b.from, b.to)) return 'a pair is split twice'
  return null
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
