// The assignment: which literals are true, since when and why.
//
// Literals are numbered 2 * variable (true) and 2 * variable + 1 (false), so `literal ^ 1` negates.
// The trail lists the true literals in the order of their assignment; each decision opens a level,
// and undoing a level pops its part of the trail. Level 0 holds what follows from the problem
// alone and is never undone. Two heads run along the trail: `propagated` for clauses (propagate.ts)
// and one for edges, kept by the solver. Main class: Trail.

import { enlarged } from '../base/grow.ts'

/** No clause, no node, no variable. */
export const NONE = -1

export class Trail {
  variableCount = 0
  value = new Int8Array(32) // literal -> 1 true, -1 false, 0 open
  level = new Int32Array(16) // variable -> level at which it was assigned
  reason = new Int32Array(16) // variable -> clause that forced it, NONE for a decision
  literals = new Int32Array(16) // position on the trail -> literal
  size = 0
  propagated = 0 // trail positions already seen by clause propagation
  levelCount = 0 // current decision level
  private levelStart = new Int32Array(16) // level - 1 -> size of the trail when it was opened

  newVariable(): number {
    const variable = this.variableCount++
    if (this.variableCount > this.level.length) {
      const capacity = 2 * this.level.length
      this.value = enlarged(this.value, 2 * capacity)
      this.level = enlarged(this.level, capacity)
      this.reason = enlarged(this.reason, capacity)
      this.literals = enlarged(this.literals, capacity)
      this.levelStart = enlarged(this.levelStart, capacity)
    }
    this.reason[variable] = NONE
    return variable
  }

  /** Makes an open literal true at the current level. */
  assign(literal: number, reason: number): void {
    const variable = literal >> 1
    this.value[literal] = 1
    this.value[literal ^ 1] = -1
    this.level[variable] = this.levelCount
    this.reason[variable] = reason
    this.literals[this.size++] = literal
  }

  openLevel(): void {
    this.levelStart[this.levelCount++] = this.size
  }

  /** Trail size at which `level` (at least 1) was opened; its decision stands there. */
  startOf(level: number): number {
    return this.levelStart[level - 1]!
  }

  /** Forgets every assignment above `level`. */
  undoTo(level: number): void {
    if (level >= this.levelCount) return
    const keep = this.levelStart[level]!
    const { value, literals } = this
    for (let i = this.size - 1; i >= keep; i--) {
      const literal = literals[i]!
      value[literal] = 0
      value[literal ^ 1] = 0
    }
    this.size = keep
    if (this.propagated > keep) this.propagated = keep
    this.levelCount = level
  }
}
