// Cuts a violating set of transactions down to a core from which none can be left out. The engine
// decides each smaller set; since leaving out transactions never breaks a satisfied history,
// whatever still violates the level proves the whole violates it. First the engine's own suspects
// are taken again and again, then runs of transactions are left out (evidence/minimise.ts). When
// the deadline passes, or so many transactions have been decided again that it would take longer
// than finding the violation did, what is left so far is a valid if larger core. Main function:
// shrinkCore.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { minimise } from '../evidence/minimise.ts'
import type { Problem, ProblemBuilder } from '../problem/register-problem.ts'
import type { LevelShape } from '../problem/shape.ts'
import { decide } from './engine.ts'
import { findSuspects } from './suspects.ts'

/** Cores up to this size are not worth another try. */
const SMALL = 3
/** Further sets of suspects are only looked at if they are not much larger. */
const PATIENCE = 4
/**
 * Transactions of all smaller sets that are tried: a circle of n from which none can be left out
 * takes n² of them to prove that, and deciding a set may take the square of its size.
 */
const MAX_TRIED_TXNS = 30_000
/** A violation is worth a few tries, however large it is. */
const MIN_TRIES = 8

/** @param suspects sets of transactions whose sub-histories violate the level, at least one */
export function shrinkCore(
  builder: ProblemBuilder,
  shape: LevelShape,
  suspects: readonly (readonly number[])[],
  deadline: Deadline,
): readonly number[] {
  const attempt = new Attempt(builder, shape, deadline)
  let best = attempt.shrink(suspects[0]!)
  for (const txns of suspects.slice(1)) {
    if (best.length <= SMALL || attempt.isSpent()) break
    if (txns.length > PATIENCE * best.length + 20) continue
    const core = attempt.shrink(txns)
    if (core.length < best.length) best = core
  }
  return best
}

/** The search for a core of one violation, and what has been tried. */
class Attempt {
  private txns = 0
  private tries = 0

  constructor(
    private readonly builder: ProblemBuilder,
    private readonly shape: LevelShape,
    private readonly deadline: Deadline,
  ) {}

  isSpent(): boolean {
    return this.txns > MAX_TRIED_TXNS && this.tries > MIN_TRIES
  }

  shrink(suspects: readonly number[]): readonly number[] {
    const tryKeeping = (rest: readonly number[]) => {
      const fewer = rest.length > 0 ? this.suspectsIn(rest) : null
      return fewer !== null && fewer.length >= rest.length ? rest : fewer
    }
    return minimise(this.narrow(suspects), tryKeeping, { isSpent: () => this.isSpent() })
  }

  /** Replaces the set by the engine's suspects in it for as long as that makes it smaller. */
  private narrow(suspects: readonly number[]): readonly number[] {
    let core = suspects
    try {
      while (true) {
        const fewer = this.suspectsIn(core)
        if (fewer === null || fewer.length >= core.length) return core
        core = fewer
      }
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      return core
    }
  }

  /** The fewest suspects in the sub-history, null if it satisfies the level. */
  private suspectsIn(txns: readonly number[]): number[] | null {
    this.deadline.check()
    this.txns += txns.length
    this.tries++
    const problem = this.builder.build(txns, this.deadline)
    const decision = decide(problem, this.shape, this.deadline)
    if (decision.satisfied) return null
    const sets = findSuspects(decision, this.deadline)
    const fewest = sets.reduce((a, b) => (b.size < a.size ? b : a))
    return toTxns(problem, fewest)
  }
}

/** Local transactions as transactions of the history, ascending. */
export function toTxns(problem: Problem, locals: Iterable<number>): number[] {
  return [...locals].map((t) => problem.txnOf[t]!).sort((a, b) => a - b)
}
