// What a history is made of, in numbers.

import { ABORTED, COMMITTED, type History, INDETERMINATE } from '../history/history.ts'
import { toldOps } from '../history/told-ops.ts'
import type { HistoryCounts } from './verdict-file.ts'

export function countHistory(history: History): HistoryCounts {
  const byStatus = [0, 0, 0]
  const { txnStatus } = history
  for (let txn = 0; txn < txnStatus.length; txn++) byStatus[txnStatus[txn]!]!++
  const told = toldOps(history)
  return {
    sessions: history.sessionCount,
    transactions: history.txnCount,
    committed: byStatus[COMMITTED]!,
    aborted: byStatus[ABORTED]!,
    indeterminate: byStatus[INDETERMINATE]!,
    operations: told.opCount,
    keys: told.keyCount,
  }
}
