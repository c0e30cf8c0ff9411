// Which indeterminate transactions count: those that one which counts read from, found bucket by
// bucket (history/counts.ts). Main function: settleSpilledCounts.

import { addTo } from '../../base/maps.ts'
import { COMMITTED, INDETERMINATE, READ } from '../../history/history.ts'
import { loadBucket } from '../../spill/bucket.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'

/** Indeterminate transaction that counts -> one that read from it and counts. */
export type Observers = ReadonlyMap<number, number>

/** Fills `txnCounts`. */
export function settleSpilledCounts(
  spilled: SpilledHistory,
  onBucket: (bucket: number) => void,
): Observers {
  const { txnStatus, txnCounts, txnCount, sizes } = spilled
  const observers = new Map<number, number>()
  if (!txnStatus.data.subarray(0, txnCount).includes(INDETERMINATE)) return observers
  const readFromBy = new Map<number, number[]>() // indeterminate -> indeterminate it read from
  for (let bucket = 0; bucket < sizes.buckets; bucket++) {
    onBucket(bucket)
    const { history, txns } = loadBucket(spilled, bucket)
    for (let op = 0; op < history.opCount; op++) {
      const writer = history.readTxn[op]!
      if (history.opKind[op] !== READ || writer < 0) continue
      if (history.txnStatus[writer] !== INDETERMINATE) continue
      const [by, from] = [txns[history.opTxn[op]!]!, txns[writer]!]
      if (txnStatus.data[by] === COMMITTED) observers.set(from, by)
      else if (txnStatus.data[by] === INDETERMINATE) {
        addTo(readFromBy, by, from)
      }
    }
  }
  // A map that grows while it is gone through: who is observed observes in turn.
  for (const txn of observers.keys()) {
    txnCounts[txn] = 1
    for (const from of readFromBy.get(txn) ?? []) if (!observers.has(from)) observers.set(from, txn)
  }
  return observers
}
