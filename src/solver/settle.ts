// Variables that need no decision, because the current order already settles them.
//
// An open variable that occurs in no clause of the problem and in no conditional edge matters only
// through its edges. If all edges of one of its sides agree with the order, that side can join any
// time at no cost. So such a variable is put aside, unassigned; it is looked at again when nothing
// else is left to decide, and decided only if the order has changed against it. When all that are
// aside are settled, the order is a solution: all edges present agree with it. Problems of
// thousands of pairs then take a few hundred decisions. Learned clauses need no look: they follow
// from the problem, and the solution found is one of the problem. Main class: Settler.

import type { AcyclicTheory } from './acyclic.ts'
import type { Decider } from './decide.ts'
import type { Trail } from './trail.ts'
import { NONE } from './trail.ts'

export class Settler {
  visits = 0 // variables looked at so far, a measure of work
  private readonly trail: Trail
  private readonly decider: Decider
  private readonly theory: AcyclicTheory
  private readonly bound: Int8Array // variable -> 1 when it must be decided
  private readonly aside: Int32Array // variables put aside
  private readonly isAside: Uint8Array // variable -> whether it is in that list
  private asideCount = 0

  constructor(trail: Trail, decider: Decider, theory: AcyclicTheory, bound: Int8Array) {
    this.trail = trail
    this.decider = decider
    this.theory = theory
    this.bound = bound
    this.aside = new Int32Array(trail.variableCount)
    this.isAside = new Uint8Array(trail.variableCount)
  }

  /** The most active variable that needs a decision, or NONE when the order settles the rest. */
  pick(): number {
    const { trail, decider } = this
    do {
      for (let v = decider.peek(trail); v !== NONE; v = decider.peek(trail)) {
        if (this.settledLiteral(v) === NONE) return v
        decider.removeTop()
        if (this.isAside[v] === 1) continue
        this.isAside[v] = 1
        this.aside[this.asideCount++] = v
      }
    } while (this.wake())
    return NONE
  }

  /** The side of an open variable that the order settles, or NONE. */
  settledLiteral(variable: number): number {
    this.visits++
    if (this.bound[variable] === 1) return NONE
    if (this.theory.agrees(2 * variable)) return 2 * variable
    return this.theory.agrees(2 * variable + 1) ? 2 * variable + 1 : NONE
  }

  /** Brings back those variables put aside that are not settled any more; whether there are any. */
  private wake(): boolean {
    const { trail, decider, aside, isAside } = this
    let kept = 0
    for (let i = 0; i < this.asideCount; i++) {
      const v = aside[i]!
      if (trail.value[2 * v] !== 0 || this.settledLiteral(v) !== NONE) {
        aside[kept++] = v
        continue
      }
      isAside[v] = 0
      decider.restore(v)
    }
    const woken = this.asideCount - kept
    this.asideCount = kept
    return woken > 0
  }
}
