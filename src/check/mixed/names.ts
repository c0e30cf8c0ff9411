// A violation of mixed levels as an anomaly: shown with its strongest edges
// (evidence/strengthen.ts), by the first name that fits (verdict/anomaly-rules.ts). Main function:
// nameArgument.

import { nameEvidence } from '../../verdict/anomaly-rules.ts'
import { type Anomaly, findTxns } from '../../verdict/verdict.ts'
import type { Argument } from '../evidence/fold.ts'
import { strengthen } from '../evidence/strengthen.ts'
import { type MixedProblem, SER, SI } from '../problem/mixed-problem.ts'

export function nameArgument(problem: MixedProblem, argument: Argument): Anomaly {
  const { history, level, txnOf } = problem
  const ordersCommits = (txn: number) => {
    const its = level[txnOf.indexOf(txn)]
    return its === SI || its === SER
  }
  const { edges, cases } = strengthen(history, null, ordersCommits, argument)
  const name = nameEvidence(history, edges, cases)
  return { name, count: 1, txns: findTxns(edges, cases), earlier: [], ops: [], edges, cases }
}
