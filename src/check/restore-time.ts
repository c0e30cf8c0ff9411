// Evidence that was found with real time as part of session order (history/real-time.ts), told of
// the history as it was recorded: steps that are no session order there are steps in real time.
// Main function: restoreTime.

import { comesBefore } from '../history/after.ts'
import type { History } from '../history/history.ts'
import { misnomer, nameEvidence } from '../verdict/anomaly-rules.ts'
import { type Anomaly, type Edge, findEdges } from '../verdict/verdict.ts'

export function restoreTime(recorded: History, anomalies: readonly Anomaly[]): Anomaly[] {
  return anomalies.map((anomaly) => {
    const { edges, cases } = anomaly
    const told = new Map<Edge, Edge>()
    const all = findEdges(edges, cases)
    for (const edge of all) told.set(edge, { ...edge, kind: kindOf(recorded, edge) })
    const list = (some: readonly Edge[]) => some.map((edge) => told.get(edge)!)
    // Only when all are there can they refer to one another.
    for (const edge of all) told.get(edge)!.premises = list(edge.premises)
    const restored = {
      ...anomaly,
      edges: list(edges),
      cases: cases.map(({ assumptions, cycle }) => ({
        assumptions: list(assumptions),
        cycle: list(cycle),
      })),
    }
    if (edges.length === 0 && cases.length === 0) return restored
    // What was session order may have given the cycle a name that does not fit real time.
    const fits = misnomer(recorded, anomaly.name, restored.edges, restored.cases) === null
    return fits
      ? restored
      : { ...restored, name: nameEvidence(recorded, restored.edges, restored.cases) }
  })
}

function kindOf(recorded: History, { kind, from, to }: Edge): Edge['kind'] {
  return kind === 'SO' && from >= 0 && !comesBefore(recorded, from, to) ? 'RT' : kind
}
