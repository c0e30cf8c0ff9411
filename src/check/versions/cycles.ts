// The cycles of a dependency graph as anomalies: on request a shortest one of each strongly
// connected component, by default the shortest one of each name, with the number of those found.
// Main function: findCycles.

import type { Deadline } from '../../base/deadline.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import type { Dependencies } from './dependency-graph.ts'
import { type EdgeCycle, findShortCycles } from './short-cycles.ts'

/** How many cycles are worked out to show one of each name. */
const EXAMPLES = 64

export function findCycles(
  graph: Dependencies,
  limit: number,
  deadline: Deadline,
  describe: (cycle: EdgeCycle) => Anomaly,
): Anomaly[] {
  const tries = limit === 1 ? EXAMPLES : limit
  const all = findShortCycles(graph, tries, deadline).cycles.map(describe)
  if (limit > 1) return all
  const byName = new Map<string, Anomaly>()
  for (const anomaly of all) {
    const known = byName.get(anomaly.name)
    if (!known) byName.set(anomaly.name, anomaly)
    else {
      const smaller = anomaly.edges.length < known.edges.length ? anomaly : known
      smaller.count = known.count + 1
      byName.set(anomaly.name, smaller)
    }
  }
  return [...byName.values()]
}
