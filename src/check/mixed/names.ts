// A violation of mixed levels as an anomaly: shown with its strongest edges (strong/strengthen.ts),
// by the first name that fits (verdict/anomaly-rules.ts). Main function: nameArgument.

import { nameEvidence } from '../../verdict/anomaly-rules.ts'
import { type Anomaly, findTxns } from '../../verdict/verdict.ts'
import type { Argument } from '../evidence/fold.ts'
import { strengthen } from '../strong/strengthen.ts'
import { type MixedProblem, SER, SI } from './problem.ts'

export function nameArgument({ history, level }: MixedProblem, argument: Argument): Anomaly {
  const ordersCommits = (txn: number) => level[txn + 1] === SI || level[txn + 1] === SER
  const { edges, cases } = strengthen(history, null, ordersCommits, argument)
  const name = nameEvidence(history, edges, cases)
  return { name, count: 1, txns: findTxns(edges, cases), earlier: [], ops: [], edges, cases }
}
