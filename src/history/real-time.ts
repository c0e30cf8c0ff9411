// A history as levels with real time see it: whatever finished before a transaction started comes
// before it in session order too (after.ts), be it all of that, or only what shares a key with it
// (key-uses.ts). Of those only the ones are named that no other of them comes after: who started
// after the latest finish of anybody that started and finished in between. So a transaction names
// about as many as run at a time, for each of its keys if it goes by keys. Indeterminate
// transactions never finish. O(transactions · log, and what is named). Main function: withRealTime.

import { BudgetExceeded } from '../base/errors.ts'
import { AfterColumns, namedBy } from './after.ts'
import { COMMITTED, type History, type TimeScope } from './history.ts'
import { usersOfKeys } from './key-uses.ts'

/** Sessions times transactions: as many numbers say who comes after whom (session-reach.ts). */
const MOST_REACHED = 200_000_000

/**
 * The same history, numbers and all, with real time as part of session order. It has times. Throws
 * BudgetExceeded if nobody could work with that.
 */
export function withRealTime(history: History, scope: TimeScope): History {
  const { txnCount, sessionCount } = history
  if (sessionCount * txnCount > MOST_REACHED) {
    const size = `${txnCount} transactions in ${sessionCount} sessions`
    throw new BudgetExceeded(`real time among ${size} would take too much memory`)
  }
  const after = new AfterColumns()
  // Transactions that do not count pass on what they come after.
  for (let txn = 0; txn < txnCount; txn++) {
    for (const earlier of namedBy(history, txn)) after.add(txn, earlier)
  }
  const groups = scope === 'by-key' ? usersOfKeys(history) : [countingTxns(history)]
  for (const txns of groups) addInTime(history, txns, after)
  return { ...history, after: after.finish(txnCount), inTime: { scope, of: history } }
}

/** Names, for each of these transactions, those of them that finished right before it started. */
function addInTime(history: History, txns: Int32Array, after: AfterColumns): void {
  const { txnStatus, txnSession } = history
  const start = history.txnStartTime!
  const finish = history.txnFinishTime!
  const finished = txns.filter((txn) => txnStatus[txn] === COMMITTED)
  finished.sort((a, b) => finish[a]! - finish[b]!)
  // place -> the latest start among those that finished before it
  const latestStart = new Float64Array(finished.length + 1).fill(Number.NEGATIVE_INFINITY)
  for (let i = 0; i < finished.length; i++) {
    latestStart[i + 1] = Math.max(latestStart[i]!, start[finished[i]!]!)
  }
  let place = 0
  for (const txn of txns.toSorted((a, b) => start[a]! - start[b]!)) {
    while (place < finished.length && finish[finished[place]!]! < start[txn]!) place++
    // Whoever finished before the latest start among these comes before that one.
    for (let i = place - 1; i >= 0 && finish[finished[i]!]! >= latestStart[place]!; i--) {
      if (txnSession[finished[i]!] !== txnSession[txn]) after.add(txn, finished[i]!)
    }
  }
}

export function countingTxns({ txnCount, txnCounts }: History): Int32Array {
  return Int32Array.from({ length: txnCount }, (_, txn) => txn).filter(
    (txn) => txnCounts[txn] === 1,
  )
}

/** Whether one is known to have finished when the other one started. */
export function finishesBefore(history: History, earlier: number, later: number): boolean {
  const { txnStatus, txnStartTime, txnFinishTime } = history
  return txnStatus[earlier] === COMMITTED && txnFinishTime![earlier]! < txnStartTime![later]!
}
