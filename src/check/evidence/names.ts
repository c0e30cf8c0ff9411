// A violation of a strong level, or of a level per transaction, as an anomaly: shown with its
// strongest edges (strengthen.ts), by the first name that fits (verdict/anomaly-rules.ts). Main
// function: nameViolation.

import type { History } from '../../history/history.ts'
import { nameEvidence } from '../../verdict/anomaly-rules.ts'
import { splitTxns } from '../../verdict/starting-state.ts'
import { type Anomaly, findTxns } from '../../verdict/verdict.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { Argument } from './fold.ts'
import { strengthen } from './strengthen.ts'

/**
 * @param reads null: each transaction has its own level
 * @param ordersCommits see strengthen
 */
export function nameViolation(
  history: History,
  reads: Pick<ReadCheck, 'versions'> | null,
  ordersCommits: (txn: number) => boolean,
  argument: Argument,
): Anomaly {
  const { edges, cases } = strengthen(history, reads, ordersCommits, argument)
  const name = nameEvidence(history, edges, cases)
  const txns =
    reads === null
      ? { txns: findTxns(edges, cases), earlier: [] }
      : splitTxns(history, edges, cases)
  return { name, count: 1, ...txns, ops: [], edges, cases }
}
