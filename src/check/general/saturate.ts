// Infers, until nothing new follows, what one side of every open choice contradicts: the order of
// versions (version-order.ts), and for readers below pc and rows passed over, conflicts.ts. Rounds
// of both, with reachability brought up to date between them: one refresh of the graph each. Main
// function: saturate.

import type { Deadline } from '../../base/deadline.ts'
import type { Conflicts } from './conflicts.ts'
import type { KnownEdges } from './known-edges.ts'
import { inferVersionOrder } from './version-order.ts'

/** False if what is known contradicts itself, that is, if the levels are violated. */
export function saturate(
  known: KnownEdges,
  conflicts: Conflicts | null,
  deadline: Deadline,
): boolean {
  const { graph } = known
  while (true) {
    known.roundStart.push(graph.edgeCount)
    if (!graph.refresh(deadline)) return false
    if (!graph.hasClosure) return true // nothing to infer from: the solver has to find out
    const before = graph.edgeCount
    inferVersionOrder(known, deadline)
    if (conflicts !== null && !conflicts.infer(deadline)) return false
    if (graph.edgeCount === before && !conflicts?.hasChanged) return true
  }
}
