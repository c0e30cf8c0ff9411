// The edges of an argument as the verdict file has them.

import { addAll } from '../base/grow.ts'
import type { AnomalyJson, EdgeJson } from './verdict-file.ts'

/** Every edge of the argument, down to its last reason. */
export function findNamedEdges(anomaly: AnomalyJson): EdgeJson[] {
  const edges: EdgeJson[] = [...anomaly.edges]
  for (const { assumptions, cycle } of anomaly.cases) {
    for (const edge of assumptions) edges.push(edge)
    for (const edge of cycle) edges.push(edge)
  }
  for (const edge of edges) addAll(edges, edge.premises)
  return edges
}
