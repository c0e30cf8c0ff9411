// Cuts a violating set of transactions down to a core from which none can be left out. The engine
// decides each smaller set; since leaving out transactions never breaks a satisfied history,
// whatever still violates the level proves the whole violates it. First the engine's own suspects
// are taken again and again, then runs of transactions are left out, long ones first (Zeller's
// ddmin). When the deadline passes, or so many transactions have been decided again that it would
// take longer than finding the violation did, what is left so far is a valid if larger core. Main
// function: shrinkCore.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { decide } from './engine.ts'
import type { Problem, ProblemBuilder } from './problem.ts'
import type { LevelShape } from './shape.ts'
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

/** What has been tried for one violation. */
interface Effort {
  txns: number
  tries: number
}

function isSpent({ txns, tries }: Effort): boolean {
  return txns > MAX_TRIED_TXNS && tries > MIN_TRIES
}

/** @param suspects sets of transactions whose sub-histories violate the level, at least one */
export function shrinkCore(
  builder: ProblemBuilder,
  shape: LevelShape,
  suspects: readonly (readonly number[])[],
  deadline: Deadline,
): number[] {
  const effort = { txns: 0, tries: 0 }
  let best = shrinkSet(builder, shape, suspects[0]!, effort, deadline)
  for (const txns of suspects.slice(1)) {
    if (best.length <= SMALL || isSpent(effort)) break
    if (txns.length > PATIENCE * best.length + 20) continue
    const core = shrinkSet(builder, shape, txns, effort, deadline)
    if (core.length < best.length) best = core
  }
  return best
}

function shrinkSet(
  builder: ProblemBuilder,
  shape: LevelShape,
  suspects: readonly number[],
  effort: Effort,
  deadline: Deadline,
): number[] {
  const shrinker = new Shrinker(builder, shape, effort, deadline, suspects)
  try {
    shrinker.narrow()
    shrinker.leaveOut()
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
  }
  return shrinker.core
}

class Shrinker {
  core: number[]

  constructor(
    private readonly builder: ProblemBuilder,
    private readonly shape: LevelShape,
    private readonly effort: Effort,
    private readonly deadline: Deadline,
    suspects: readonly number[],
  ) {
    this.core = [...suspects]
  }

  /** Replaces the core by the engine's suspects in it for as long as that makes it smaller. */
  narrow(): void {
    while (true) {
      const fewer = this.suspectsIn(this.core)
      if (fewer === null || fewer.length >= this.core.length) return
      this.core = fewer
    }
  }

  /** Leaves out runs of transactions while what remains violates the level. */
  leaveOut(): void {
    let size = this.core.length >> 1
    while (size >= 1) {
      let removed = false
      for (let start = 0; start < this.core.length; ) {
        if (isSpent(this.effort)) return
        const rest = [...this.core.slice(0, start), ...this.core.slice(start + size)]
        const fewer = rest.length > 0 ? this.suspectsIn(rest) : null
        if (fewer === null) {
          start += size
          continue
        }
        this.core = fewer.length < rest.length ? fewer : rest
        removed = true
      }
      if (size > 1) size = Math.min(size >> 1, this.core.length >> 1) || 1
      else if (!removed) break
    }
  }

  /** The fewest suspects in the sub-history, null if it satisfies the level. */
  private suspectsIn(txns: readonly number[]): number[] | null {
    this.deadline.check()
    this.effort.txns += txns.length
    this.effort.tries++
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
