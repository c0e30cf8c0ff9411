// How much of a run was concurrent: a history in which nothing was satisfies everything, and says
// little about the database. Main function: measureConcurrency.

import type { History } from '../history/history.ts'
import { isWrite } from '../verdict/certify-reads.ts'

export interface Concurrency {
  /** Transactions that began while another one was in progress. */
  readonly overlapping: number
  /** Those of them that used a key which the other one used too, one of the two to write. */
  readonly conflicting: number
}

/** Goes through the transactions as they began; audits left out. O(n log n). */
export function measureConcurrency(history: History): Concurrency {
  const { txnStartTime, txnFinishTime, txnAudit, txnCount, txnOpStart, opKey } = history
  if (!txnStartTime) return { overlapping: 0, conflicting: 0 }
  const order = Array.from({ length: txnCount }, (_, txn) => txn).filter((txn) => !txnAudit?.[txn])
  order.sort((a, b) => txnStartTime[a]! - txnStartTime[b]!)
  const usedUntil = new Float64Array(history.keyCount).fill(Number.NEGATIVE_INFINITY) // key -> when
  const writtenUntil = usedUntil.slice()
  let busyUntil = Number.NEGATIVE_INFINITY
  let overlapping = 0
  let conflicting = 0
  for (const txn of order) {
    const start = txnStartTime[txn]!
    const finish = txnFinishTime?.[txn] ?? Number.NaN
    const end = Number.isNaN(finish) ? Number.POSITIVE_INFINITY : finish
    if (busyUntil > start) overlapping++
    busyUntil = Math.max(busyUntil, end)
    let conflicts = false
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      conflicts ||= (isWrite(history, op) ? usedUntil : writtenUntil)[opKey[op]!]! > start
    }
    if (conflicts) conflicting++
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const key = opKey[op]!
      usedUntil[key] = Math.max(usedUntil[key]!, end)
      if (isWrite(history, op)) writtenUntil[key] = Math.max(writtenUntil[key]!, end)
    }
  }
  return { overlapping, conflicting }
}

/** Why a verdict says little; null if it does not. */
export function tellLack({ overlapping, conflicting }: Concurrency): string | null {
  if (overlapping === 0) return 'nothing was concurrent'
  return conflicting === 0 ? 'nothing that was concurrent touched the same key' : null
}
