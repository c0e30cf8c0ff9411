// Variables that need no decision, because the current order already settles them.
//
// An open variable that occurs in no clause of the problem and in no conditional edge matters only
// through its edges. If all edges of one of its sides agree with the order, that side can join any
// time at no cost. So such a variable is put aside, unassigned; it is looked at again when nothing
// else is left to decide, and decided only if the order has changed against it. When all that are
// aside are settled, the order is a solution: all edges present agree with it. Problems of
// thousands of pairs then take a few hundred decisions. Learned clauses need no look: they follow
// from the problem, and the solution found is one of the problem. Main class: Settler.

import type { Deadline } from '../base/deadline.ts'
import type { AcyclicTheory } from './acyclic.ts'
import type { Decider } from './decide.ts'
import type { Trail } from './trail.ts'
import { NONE } from './trail.ts'

const CHUNK = 1024 // variables looked at before those woken are decided

export class Settler {
  visits = 0 // variables looked at so far, a measure of work
  private readonly trail: Trail
  private readonly decider: Decider
  private readonly theory: AcyclicTheory
  private readonly bound: Int8Array // variable -> 1 when it must be decided
  private readonly aside: Int32Array // variables put aside
  private readonly isAside: Uint8Array // variable -> whether it is in that list
  private asideCount = 0
  private cursor = 0 // where to look next in that list
  private clean = 0 // how many in a row were found settled since the order last changed
  private lastChanges = 0 // changes of the order seen

  constructor(trail: Trail, decider: Decider, theory: AcyclicTheory, bound: Int8Array) {
    this.trail = trail
    this.decider = decider
    this.theory = theory
    this.bound = bound
    this.aside = new Int32Array(trail.variableCount)
    this.isAside = new Uint8Array(trail.variableCount)
  }

  /** Forgets which variables were found settled: new clauses may bind some of them. */
  startOver(): void {
    this.clean = 0
  }

  /** The most active variable that needs a decision, or NONE when the order settles the rest. */
  pick(deadline: Deadline): number {
    const { trail, decider } = this
    do {
      for (let v = decider.peek(trail); v !== NONE; v = decider.peek(trail)) {
        deadline.step()
        if (this.settledLiteral(v) === NONE) return v
        decider.removeTop()
        if (this.isAside[v] === 1) continue
        this.isAside[v] = 1
        this.aside[this.asideCount++] = v
      }
    } while (this.wake(deadline))
    return NONE
  }

  /** The side of an open variable that the order settles, or NONE. */
  settledLiteral(variable: number): number {
    this.visits++
    if (this.bound[variable] === 1) return NONE
    if (this.theory.agrees(2 * variable)) return 2 * variable
    return this.theory.agrees(2 * variable + 1) ? 2 * variable + 1 : NONE
  }

  /**
   * Looks through what was put aside and brings back what is not settled any more, some at a time;
   * false when all is settled: a whole round passed without a change of the order.
   */
  private wake(deadline: Deadline): boolean {
    const { trail, decider, theory, aside, isAside } = this
    let woken = 0
    if (this.lastChanges !== theory.order.changes) {
      this.lastChanges = theory.order.changes
      this.clean = 0
    }
    for (let looked = 1; this.clean < this.asideCount; looked++) {
      deadline.step()
      if (this.cursor >= this.asideCount) this.cursor = 0
      const v = aside[this.cursor]!
      if (trail.value[2 * v] !== 0 || this.settledLiteral(v) !== NONE) {
        this.cursor++
        this.clean++
      } else {
        aside[this.cursor] = aside[--this.asideCount]!
        isAside[v] = 0
        decider.restore(v)
        this.clean = 0
        woken++
      }
      if (looked % CHUNK === 0 && woken > 0) break
    }
    return woken > 0
  }
}
