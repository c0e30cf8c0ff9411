// Cuts a violating set of transactions down to a core from which none can be left out. The engine
// decides each smaller set; since leaving out transactions never breaks a satisfied history,
// whatever still violates the level proves the whole violates it. First the engine's own suspects
// are taken again and again, then runs of transactions are left out, long ones first (Zeller's
// ddmin). When the deadline passes, what is left so far is a valid if larger core. Main function:
// shrinkCore.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { decide } from './engine.ts'
import type { Problem, ProblemBuilder } from './problem.ts'
import type { LevelShape } from './shape.ts'
import { findSuspects } from './suspects.ts'

/** @param suspects transactions of the history whose sub-history violates the level */
export function shrinkCore(
  builder: ProblemBuilder,
  shape: LevelShape,
  suspects: readonly number[],
  deadline: Deadline,
): number[] {
  const shrinker = new Shrinker(builder, shape, deadline)
  let core = suspects.toSorted((a, b) => a - b)
  try {
    core = shrinker.narrow(core)
    core = shrinker.leaveOut(core)
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    core = shrinker.best ?? core
  }
  return core
}

class Shrinker {
  best: number[] | null = null

  constructor(
    private readonly builder: ProblemBuilder,
    private readonly shape: LevelShape,
    private readonly deadline: Deadline,
  ) {}

  /** Replaces a set by the engine's suspects in it for as long as that makes it smaller. */
  narrow(txns: number[]): number[] {
    let core = txns
    while (true) {
      const fewer = this.suspectsIn(core)
      if (fewer === null || fewer.length >= core.length) return core
      core = fewer
      this.best = core
    }
  }

  /** Leaves out runs of transactions while what remains violates the level. */
  leaveOut(txns: number[]): number[] {
    let core = txns
    let size = core.length >> 1
    while (size >= 1) {
      let removed = false
      for (let start = 0; start < core.length; ) {
        const rest = [...core.slice(0, start), ...core.slice(start + size)]
        const fewer = rest.length > 0 ? this.suspectsIn(rest) : null
        if (fewer === null) {
          start += size
          continue
        }
        core = fewer.length < rest.length ? fewer : rest
        this.best = core
        removed = true
      }
      if (size > 1) size = Math.min(size >> 1, core.length >> 1) || 1
      else if (!removed) break
    }
    return core
  }

  /** Suspects in the sub-history, null if it satisfies the level. */
  private suspectsIn(txns: readonly number[]): number[] | null {
    this.deadline.check()
    const problem = this.builder.build(txns)
    const decision = decide(problem, this.shape, this.deadline)
    return decision.satisfied ? null : toTxns(problem, findSuspects(decision, this.deadline))
  }
}

/** Local transactions as transactions of the history, ascending. */
export function toTxns(problem: Problem, locals: Iterable<number>): number[] {
  return [...locals].map((t) => problem.txnOf[t]!).sort((a, b) => a - b)
}
