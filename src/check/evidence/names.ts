// A violation of a strong level as an anomaly: shown with its strongest edges (strengthen.ts), by
// the first name that fits (verdict/anomaly-rules.ts). Main function: nameViolation.

import type { History } from '../../history/history.ts'
import type { LevelId } from '../../levels/levels.ts'
import { nameEvidence } from '../../verdict/anomaly-rules.ts'
import { splitTxns } from '../../verdict/starting-state.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { Argument } from './fold.ts'
import { strengthen } from './strengthen.ts'

export function nameViolation(
  history: History,
  reads: ReadCheck,
  level: LevelId,
  argument: Argument,
): Anomaly {
  const { edges, cases } = strengthen(history, reads, () => level !== 'pc', argument)
  const name = nameEvidence(history, edges, cases)
  return { name, count: 1, ...splitTxns(history, edges, cases), ops: [], edges, cases }
}
