// Whether an order at hand leaves nothing to search for: it is serial but for reads that are told
// already. Whoever looks for further kinds of anomalies after some were found asks this first: the
// answer takes no time where each fault is one of single reads, and a search takes its full course
// to find nothing. Main function: isSerialRest.

import type { History } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { findUnrepeated } from '../reads/unrepeated.ts'
import type { BaseOrder } from './stale-reads.ts'

/**
 * True if ser and all that it implies hold of what is left without the reads that offend (which no
 * order knows), those that were not repeated, and whatever is blamed.
 * @param blamed transactions to do without
 */
export function isSerialRest(
  history: History,
  reads: ReadCheck,
  { component, stale }: BaseOrder,
  blamed: ReadonlySet<number>,
): boolean {
  if (component !== null) return false
  const { opTxn, opKey } = history
  const isUnrepeated = findUnrepeated(history, reads)
  return stale.read.every((read) => {
    const txn = opTxn[read]!
    return blamed.has(txn) || isUnrepeated(txn, opKey[read]!)
  })
}
