// What the general engine found, as a solution of a problem with a level per transaction: a commit
// order, the initial transaction first, and a writer for every conflict. Main function: asSolution.

import { NONE } from '../../history/history.ts'
import type { Solution } from '../general/engine.ts'
import type { Problem } from '../general/problem.ts'
import type { MixedSolution } from '../problem/mixed-problem.ts'

/** The order with the writers chosen; NONE for readers that take no part. */
export function asSolution({ pairs, txnCount }: Problem, found: Solution): MixedSolution {
  const { fixedCount, reader } = pairs!
  const takesPart = new Uint8Array(txnCount)
  for (const txn of found.order) takesPart[txn] = 1
  const choice = found.source!.slice(fixedCount)
  for (let open = 0; open < choice.length; open++) {
    if (!takesPart[reader[fixedCount + open]!]) choice[open] = NONE
  }
  return { order: Int32Array.from([0, ...found.order]), choice }
}
