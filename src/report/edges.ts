// The edges of an argument as the verdict's JSON has them.

import type { AnomalyJson, EdgeJson } from './verdict-json.ts'

/** Every edge of the argument, down to its last reason. */
export function findNamedEdges(anomaly: AnomalyJson): EdgeJson[] {
  const edges: EdgeJson[] = [...anomaly.edges]
  const cases = [...anomaly.cases]
  for (const branch of cases) {
    edges.push(branch.assumption, ...branch.cycle)
    cases.push(...branch.cases)
  }
  for (const edge of edges) edges.push(...edge.premises)
  return edges
}
