// Names a violation of a strong level: its cycle by the shared classifier, an argument by cases by
// what its cycles have in common. Main function: nameViolation.

import type { History } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import { classifyCycle, coveringName } from '../../verdict/classify.ts'
import { splitTxns } from '../../verdict/starting-state.ts'
import type { Anomaly, Case } from '../../verdict/verdict.ts'
import type { Explanation } from './explain.ts'

export function nameViolation(history: History, { edges, cases }: Explanation): Anomaly {
  const name = cases.length === 0 ? classifyCycle(history, edges) : nameCases(history, cases)
  return { name, count: 1, ...splitTxns(history, edges, cases), ops: [], edges, cases }
}

/** The name that all cycles share, else the class that covers all of them. */
function nameCases(history: History, cases: readonly Case[]): AnomalyName {
  const cycles = cases.map(({ cycle }) => cycle).filter((cycle) => cycle.length > 0)
  return coveringName(new Set(cycles.map((cycle) => classifyCycle(history, cycle))))
}
