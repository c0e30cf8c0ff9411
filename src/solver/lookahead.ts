// Cheap theory propagation: before a variable is decided, test whether one side closes a cycle.
//
// Exact propagation would search the graph for every open literal at every step. Instead only the
// variable about to be decided is tried: an edge of either side that runs against the order may
// close a cycle, and a search of bounded size tells. If it does, the other side is forced, with
// the cycle as its reason. A cycle missed here is found when the edge is asserted.
// Main class: Lookahead.

import type { AcyclicTheory } from './acyclic.ts'
import type { EdgeStore } from './edges.ts'
import { NONE } from './trail.ts'

const SEARCH_LIMIT = 400 // nodes per search

export class Lookahead {
  private readonly store: EdgeStore
  private readonly theory: AcyclicTheory

  constructor(store: EdgeStore, theory: AcyclicTheory) {
    this.store = store
    this.theory = theory
  }

  /** A candidate of the literal that would close a cycle now, as far as seen, or NONE. */
  findClosing(literal: number): number {
    const { theory, store } = this
    const { literalStart, literalEdge } = theory.edges
    const { position } = theory.order
    for (let i = literalStart[literal]!, end = literalStart[literal + 1]!; i < end; i++) {
      const candidate = literalEdge[i]!
      if (theory.waiting[candidate] !== 1) continue
      const from = store.candidateFrom[candidate]!
      const to = store.candidateTo[candidate]!
      if (position[from]! < position[to]!) continue
      if (theory.order.reaches(to, from, SEARCH_LIMIT)) return candidate
    }
    return NONE
  }
}
