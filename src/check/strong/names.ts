// Names a violation of a strong level: its cycle by the shared classifier, a case split by what its
// leaves have in common. Main function: nameViolation.

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

/** The name that all leaves share, else the class that covers all of them. */
function nameCases(history: History, cases: readonly Case[]): AnomalyName {
  const pending = [...cases]
  const names = new Set<AnomalyName>()
  for (const { cycle, cases: further } of pending) {
    if (cycle.length > 0) names.add(classifyCycle(history, cycle))
    pending.push(...further)
  }
  return coveringName(names)
}
