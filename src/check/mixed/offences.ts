// What single statements did that no level allows, as anomalies: examples of each name with
// the number of rows they stand for.

import type { Deadline } from '../../base/deadline.ts'
import { addTo } from '../../base/maps.ts'
import { isOfList, NONE } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import { listExamples } from '../examples.ts'
import type { MixedOffence, MixedProblem } from '../problem/mixed-problem.ts'
import { describeOffence } from '../reads/offences.ts'

/** @param limit how many examples of each name there may be */
export function describeMixedOffences(
  problem: MixedProblem,
  limit: number,
  deadline: Deadline,
): Anomaly[] {
  const byName = new Map<AnomalyName, MixedOffence[]>()
  for (const offence of problem.offences) addTo(byName, offence.name, offence)
  return [...byName.values()].flatMap((found) =>
    listExamples(found, limit, deadline, (offence) => describe(problem, offence)),
  )
}

function describe(problem: MixedProblem, offence: MixedOffence): Anomaly {
  const { name, txn, event, key, op, write } = offence
  const { history, reads } = problem
  if (op !== NONE && isOfList(history, op)) return describeOffence(history, reads, op, name)
  const ops = [op, write].filter((each) => each >= 0)
  const writer = write >= 0 ? history.opTxn[write]! : txn
  const txns = [...new Set(name === 'LostCommit' ? [writer, txn] : [txn, writer])]
  const anomaly = { name, count: 1, txns, earlier: [], ops, edges: [], cases: [] }
  return op === NONE ? { ...anomaly, absence: { event, key } } : anomaly
}
