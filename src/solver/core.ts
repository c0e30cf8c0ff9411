// Why a problem has no solution: a small set of clauses and cycles that cannot all be avoided.
//
// Starts from the premises of the refutation. They contradict each other as plain clauses, so a
// solver without a graph shrinks them: first by solving again what the last refutation used, for as
// long as that helps, then by leaving out one at a time (deletion-based minimal unsatisfiable
// subset; Marques-Silva 2010). Each cycle left is found again as a shortest one through the edges
// of its literals. Stops shrinking, never wrongly, when the deadline passes; throws only when a
// second, later one does. refutation.ts arranges it as an argument. Main function: findCore.

import { Deadline } from '../base/deadline.ts'
import { BudgetExceeded } from '../base/errors.ts'
import { addTo } from '../base/maps.ts'
import { type CycleEdge, CycleSearch } from './cycle-of.ts'
import type { Premise } from './proof.ts'
import { AcyclicSolver } from './solver.ts'

const MAX_DELETIONS = 2000 // premises beyond this number are not tried one by one

/** A clause of the problem. */
export interface CoreClause {
  readonly kind: 'clause'
  readonly literals: readonly number[]
}

/** A cycle that is there when all of `literals` are true. */
export interface CoreCycle {
  readonly kind: 'cycle'
  readonly literals: readonly number[]
  readonly edges: readonly CycleEdge[]
}

export interface Core {
  readonly reasons: readonly (CoreClause | CoreCycle)[]
}

/** After solver.solve() returned 'unsat'. */
export function findCore(
  solver: AcyclicSolver,
  deadline: Deadline = Deadline.none(),
  last: Deadline = Deadline.none(),
): Core {
  const search = new CycleSearch(solver.edges, 2 * solver.variableCount)
  let premises = solver.premises()
  let reasons: (CoreClause | CoreCycle)[]
  // A shortest cycle may need fewer literals than its lemma, and then others may be superfluous.
  while (true) {
    premises = shrink(premises, deadline)
    reasons = premises.map((premise) => explain(premise, search, last))
    if (reasons.every((reason, i) => reason.literals.length === premises[i]!.literals.length)) break
    premises = reasons.map((reason) => {
      return { kind: reason.kind, literals: Int32Array.from(clauseOf(reason)) }
    })
  }
  return { reasons }
}

/** A reason as a clause: one of its literals is true. */
export function clauseOf(reason: CoreClause | CoreCycle): readonly number[] {
  return reason.kind === 'clause' ? reason.literals : negate(reason.literals)
}

function explain(
  premise: Premise,
  search: CycleSearch,
  deadline: Deadline,
): CoreClause | CoreCycle {
  const literals = [...premise.literals]
  if (premise.kind === 'clause') return { kind: 'clause', literals }
  return { kind: 'cycle', ...search.find(negate(literals), deadline) }
}

function negate(literals: readonly number[]): number[] {
  return literals.map((literal) => literal ^ 1)
}

function shrink(premises: Premise[], deadline: Deadline): Premise[] {
  let kept = premises
  try {
    // Solving again from the premises alone mostly needs fewer of them.
    while (true) {
      const fewer = contradiction(kept, deadline)
      if (fewer === null || fewer.length >= kept.length) break
      kept = fewer
    }
    if (kept.length > MAX_DELETIONS) return kept
    // Long premises go first: short ones explain better.
    kept = kept.toSorted((a, b) => b.literals.length - a.literals.length)
    for (const premise of kept) {
      if (!kept.includes(premise)) continue
      const rest = kept.filter((other) => other !== premise)
      const fewer = contradiction(rest, deadline)
      if (fewer !== null) kept = kept.filter((other) => fewer.includes(other))
    }
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
  }
  return kept
}

/** Those of the premises that contradict each other, or null when all can hold together. */
function contradiction(premises: readonly Premise[], deadline: Deadline): Premise[] | null {
  const solver = new AcyclicSolver(0)
  const variables = new Map<number, number>() // variable -> its number in the small solver
  const index = new ClauseIndex()
  for (const premise of premises) {
    const clause = Array.from(premise.literals, (literal) => {
      if (!variables.has(literal >> 1)) variables.set(literal >> 1, solver.newVariable())
      return 2 * variables.get(literal >> 1)! + (literal & 1)
    })
    index.add(clause, premise)
    solver.addClause(clause)
  }
  if (solver.solve(deadline) === 'sat') return null
  const used = new Set(solver.premises().map(({ literals }) => index.find(literals)))
  return premises.filter((premise) => used.has(premise))
}

/** Finds premises by the clauses that the small solver has in their place, whatever their order. */
class ClauseIndex {
  private readonly bySum = new Map<number, { clause: Int32Array; premise: Premise }[]>()

  add(literals: ArrayLike<number>, premise: Premise): void {
    const clause = Int32Array.from(literals).sort()
    addTo(this.bySum, sumOf(clause), { clause, premise })
  }

  find(literals: ArrayLike<number>): Premise | undefined {
    const wanted = Int32Array.from(literals).sort()
    const isSame = ({ clause }: { clause: Int32Array }) =>
      clause.length === wanted.length && clause.every((literal, i) => literal === wanted[i])
    return this.bySum.get(sumOf(wanted))?.findLast(isSame)?.premise
  }
}

/** A number that few clauses share. */
function sumOf(clause: Int32Array): number {
  return clause.reduce((sum, literal) => Math.imul(sum ^ literal, 0x85ebca6b) + 1, clause.length)
}
