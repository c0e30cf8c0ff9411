// Cheap theory propagation: before a variable is decided, test whether one side closes a cycle.
//
// Exact propagation would search the graph for every open literal at every step. Instead only the
// variable about to be decided is tried: an edge of either side that runs against the order may
// close a cycle, and a search of bounded size tells. If it does, the other side is forced, with
// the cycle as its reason. A cycle missed here is found when the edge is asserted.
// Main function: findClosing.

import type { AcyclicTheory } from './acyclic.ts'
import { NONE } from './trail.ts'

const SEARCH_LIMIT = 400 // nodes per search

/** A candidate of an open literal that would close a cycle now, as far as seen, or NONE. */
export function findClosing(theory: AcyclicTheory, literal: number): number {
  const { literalStart, literalEdge, slotOf, slotFrom, slotTo } = theory.edges
  const { position } = theory.order
  for (let i = literalStart[literal]!, end = literalStart[literal + 1]!; i < end; i++) {
    const candidate = literalEdge[i]!
    if (theory.waiting[candidate] !== 1) continue
    const slot = slotOf[candidate]!
    const from = slotFrom[slot]!
    const to = slotTo[slot]!
    if (position[from]! < position[to]!) continue
    if (theory.order.reaches(to, from, SEARCH_LIMIT)) return candidate
  }
  return NONE
}
