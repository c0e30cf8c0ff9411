// Cuts a violating set of transactions down to a core from which none can be left out. The engine
// decides each smaller set; since leaving out transactions never breaks a satisfied history,
// whatever still violates the levels proves the whole violates them. First the engine's own
// suspects are taken again and again, then runs of transactions are left out
// (evidence/minimise.ts). When the deadline passes, or so many transactions have been decided again
// that it would take longer than finding the violation did, what is left so far is a valid if
// larger core. Main function: shrinkCore.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { minimise } from '../evidence/minimise.ts'
import { decide, refuteByKnown, type Violation } from './engine.ts'
import type { Problem } from './problem.ts'
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

/**
 * The part of a problem that is about some transactions of the history only; `within` is a part
 * that has them all, null the whole.
 */
export type PartOf = (
  txns: readonly number[],
  within: Problem | null,
  deadline: Deadline,
) => Problem

/**
 * Where rows are passed over, a contradiction that follows without choice is kept one that does:
 * fewer transactions might do, but would take cases upon cases to argue about.
 *
 * @param found a violation of the whole
 * @param last after which not even the first suspects are looked for
 */
export function shrinkCore(
  partOf: PartOf,
  found: Violation,
  deadline: Deadline,
  last: Deadline,
): readonly number[] {
  const { problem } = found.known
  const suspects = findSuspects(found, last).map(({ txns }) => toTxns(problem, txns))
  const isKnown = problem.pairs !== null && found.contradiction === null
  const attempt = new Attempt(partOf, isKnown, problem.pairs !== null, deadline)
  let best: readonly number[] | null = null
  for (const txns of suspects) {
    if (best && (best.length <= SMALL || attempt.isSpent())) break
    if (best && txns.length > PATIENCE * best.length + 20) continue
    const core = attempt.shrink(txns, problem.pairs === null)
    if (core !== null && (best === null || core.length < best.length)) best = core
  }
  return best ?? attempt.shrink(allTxns(problem), true)!
}

/** The search for a core of one violation, and what has been tried. */
class Attempt {
  private txns = 0
  private tries = 0
  private within: Problem | null = null // has all that is tried

  constructor(
    private readonly partOf: PartOf,
    private readonly isKnown: boolean,
    private readonly isGuess: boolean, // whether suspects may turn out to be innocent
    private readonly deadline: Deadline,
  ) {}

  isSpent(): boolean {
    return this.txns > MAX_TRIED_TXNS && this.tries > MIN_TRIES
  }

  /** Null if the suspects turn out to be innocent, unless they are known not to be. */
  shrink(suspects: readonly number[], areGuilty: boolean): readonly number[] | null {
    this.within = null
    const narrowed = this.narrow(suspects, areGuilty)
    const tryKeeping = (rest: readonly number[]) => {
      const fewer = rest.length > 0 ? this.suspectsIn(rest) : null
      if (fewer === null || fewer.length >= rest.length) return fewer && rest
      return !this.isGuess || this.suspectsIn(fewer) !== null ? fewer : rest
    }
    return narrowed && minimise(narrowed, tryKeeping, { isSpent: () => this.isSpent() })
  }

  /** Replaces the set by the engine's suspects in it for as long as that makes it smaller. */
  private narrow(suspects: readonly number[], areGuilty: boolean): readonly number[] | null {
    let core = areGuilty ? suspects : null
    let tried = suspects
    try {
      while (true) {
        const fewer = this.suspectsIn(tried)
        if (fewer === null) return core
        core = tried
        if (fewer.length >= tried.length) return core
        tried = fewer
        if (!this.isGuess) core = fewer
      }
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      return core
    }
  }

  /** The fewest suspects in the part, null if it satisfies the levels. */
  private suspectsIn(txns: readonly number[]): number[] | null {
    this.deadline.check()
    this.txns += txns.length
    this.tries++
    const problem = this.partOf(txns, this.within, this.deadline)
    this.within ??= problem
    const decision = this.isKnown
      ? refuteByKnown(problem, this.deadline)
      : decide(problem, this.deadline)
    if (decision === null || decision.satisfied) return null
    const sets = findSuspects(decision, this.deadline)
    const fewest = sets.reduce((a, b) => (b.txns.size < a.txns.size ? b : a))
    return toTxns(problem, fewest.txns)
  }
}

/** Transactions as those of the history, ascending. */
function toTxns(problem: Problem, locals: Iterable<number>): number[] {
  return [...locals].map((t) => problem.txnOf[t]!).sort((a, b) => a - b)
}

function allTxns({ txnOf }: Problem): number[] {
  return [...txnOf].filter((txn) => txn >= 0).sort((a, b) => a - b)
}
