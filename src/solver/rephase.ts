// When to start over, and from where. An order of the nodes decides which side of a variable is
// tried, and all that it settles is decided so at once; every reversed edge bends it. After some
// conflicts little may be left of an order that was nearly right. So every few dozen conflicts the
// search goes back to the order it was given, bent only to what is certain by now, and later in
// most cases to the one with which most variables had a value before a conflict, which climbs step
// by step to a solution where the given order is far from one. What was learned stays.
//
// Rephasing to original and to best, after CaDiCaL (Biere and others, SAT Competition 2020), with
// orders in place of phases. Cost of a restart: the edges present, sorted. Main class: Rephaser.

import type { Deadline } from '../base/deadline.ts'
import type { AcyclicTheory } from './acyclic.ts'

const INTERVAL = 30 // conflicts between two restarts
const INTERVAL_IN_TURN = 200 // the same while variables are decided in turn
const GIVEN_FIRST = 16 // so often in the beginning, it goes back to the order given
const GIVEN_EVERY = 4 // afterwards once in so many times

export class Rephaser {
  private best: Int32Array | null // node -> place in the order that led furthest
  private bestSize = 0 // variables that had a value then
  private count = 0 // restarts
  private conflicts = 0 // since the last one

  constructor(
    private readonly theory: AcyclicTheory,
    private readonly given: Int32Array | null, // node -> place in the order wished for
  ) {
    this.best = given
  }

  /** To be told how many variables had a value when a conflict came up. */
  onConflict(assigned: number): void {
    this.conflicts++
    if (assigned <= this.bestSize) return
    this.bestSize = assigned
    this.best = this.theory.order.position.slice()
  }

  isDue(isInTurn: boolean): boolean {
    return this.conflicts >= (isInTurn ? INTERVAL_IN_TURN : INTERVAL)
  }

  /** Changes the order; only what is certain may have a value. */
  rephase(deadline: Deadline): void {
    this.count++
    this.conflicts = 0
    const toGiven = this.count <= GIVEN_FIRST || this.count % GIVEN_EVERY === 0
    this.theory.reorder(toGiven ? this.given : this.best, deadline)
  }
}
