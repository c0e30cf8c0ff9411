// What single statements did that no level allows, as anomalies: by default one example of each
// name with the number of rows it touches, on request every one.

import { NONE } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import type { MixedOffence, MixedProblem } from './problem.ts'

export function describeMixedOffences(problem: MixedProblem, listAll: boolean): Anomaly[] {
  const known = new Map<AnomalyName, Anomaly>()
  const all: Anomaly[] = []
  for (const offence of problem.offences) {
    const first = known.get(offence.name)
    if (first && !listAll) {
      first.count++
      continue
    }
    const anomaly = describe(problem, offence)
    known.set(offence.name, anomaly)
    all.push(anomaly)
  }
  return all
}

function describe(problem: MixedProblem, offence: MixedOffence): Anomaly {
  const { name, txn, event, key, op, write } = offence
  const ops = [op, write].filter((each) => each >= 0)
  const writer = write >= 0 ? problem.history.opTxn[write]! : txn
  const anomaly: Anomaly = {
    name,
    count: 1,
    txns: writer === txn ? [txn] : [txn, writer],
    earlier: [],
    ops,
    edges: [],
    cases: [],
  }
  if (op === NONE) anomaly.absence = { event, key }
  return anomaly
}
