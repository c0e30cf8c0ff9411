// Evidence that was found with real time as part of session order (history/real-time.ts), told of
// the history as it was recorded: steps that are no session order there are steps in real time.
// What no clock says of the two, or of two that share no key where only those count that do, is
// told by the steps that it is made of. Main function: restoreTime.

import { assert } from '../base/errors.ts'
import { comesBefore, rightBefore } from '../history/after.ts'
import type { History } from '../history/history.ts'
import { shareKey } from '../history/key-uses.ts'
import { finishesBefore } from '../history/real-time.ts'
import { misnomer, nameEvidence } from '../verdict/anomaly-rules.ts'
import { splitTxns } from '../verdict/starting-state.ts'
import { type Anomaly, type Edge, findEdges } from '../verdict/verdict.ts'

/**
 * @param timed the history with real time in its session order
 * @param isClocked whether only what the clock says of the two counts as a step in real time, as at
 *   levels with a rule for it; at others so does what follows from several such steps
 */
export function restoreTime(
  timed: History,
  isClocked: boolean,
  anomalies: readonly Anomaly[],
): Anomaly[] {
  const recorded = timed.inTime!.of
  return anomalies.map((anomaly) => {
    const { edges, cases } = anomaly
    const told = new Map<Edge, Edge[]>()
    const all = [...findEdges(edges, cases)]
    for (const edge of all) told.set(edge, restore(timed, isClocked, edge))
    const list = (some: readonly Edge[]) => some.flatMap((edge) => told.get(edge)!)
    // Only when all are there can they refer to one another.
    for (const edge of all) {
      if (edge.premises.length > 0) told.get(edge)![0]!.premises = list(edge.premises)
    }
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
    const name = fits ? anomaly.name : nameEvidence(recorded, restored.edges, restored.cases)
    // Steps in between may be of transactions that were not named so far.
    const isLonger = all.some((edge) => told.get(edge)!.length > 1)
    const txns = isLonger ? splitTxns(recorded, restored.edges, restored.cases) : {}
    return { ...restored, name, ...txns }
  })
}

function restore(timed: History, isClocked: boolean, edge: Edge): Edge[] {
  const { of: recorded, scope } = timed.inTime!
  const { kind, from, to } = edge
  if (kind !== 'SO' || from < 0 || comesBefore(recorded, from, to)) return [{ ...edge }]
  const isSeen = scope === 'all' || shareKey(recorded, from, to)
  if (!isClocked || (isSeen && finishesBefore(recorded, from, to))) return [{ ...edge, kind: 'RT' }]
  return stepsBetween(timed, from, to).map(([first, second]) => {
    const isOrder = comesBefore(recorded, first, second)
    return { ...edge, kind: isOrder ? 'SO' : 'RT', from: first, to: second, premises: [] }
  })
}

/** A shortest chain of steps, each within a session or named, from one to the other. */
function stepsBetween(timed: History, from: number, to: number): [number, number][] {
  const next = new Map<number, number>([[to, to]])
  for (const at of next.keys()) {
    if (at === from) break
    for (const before of rightBefore(timed, at)) if (!next.has(before)) next.set(before, at)
  }
  assert(next.has(from), 'what comes before is connected by steps')
  const steps: [number, number][] = []
  for (let at = from; at !== to; ) {
    let end = next.get(at)!
    // A way through a session is one step, and who does not count is passed over.
    const isBeside = (txn: number) => timed.txnSession[txn] === timed.txnSession[at]
    const isPassed = () => !timed.txnCounts[end] || (isBeside(end) && isBeside(next.get(end)!))
    while (end !== to && isPassed()) end = next.get(end)!
    steps.push([at, end])
    at = end
  }
  return steps
}
