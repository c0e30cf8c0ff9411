// A history as levels with real time see it: whatever finished before a transaction started comes
// before it in session order too (after.ts). Of those only the ones are named that no other of them
// comes after: who started after the latest finish of anybody that started and finished in between.
// So a transaction names about as many as run at a time. Indeterminate transactions never finish.
// O(transactions · log, and what is named). Main function: withRealTime.

import { AfterColumns, namedBy } from './after.ts'
import { COMMITTED, type History } from './history.ts'

/** The same history, numbers and all, with real time as part of session order. It has times. */
export function withRealTime(history: History): History {
  const { txnCount, txnCounts, txnStatus, txnSession } = history
  const start = history.txnStartTime!
  const finish = history.txnFinishTime!
  const counting = Array.from({ length: txnCount }, (_, txn) => txn).filter(
    (txn) => txnCounts[txn] === 1,
  )
  const finished = counting.filter((txn) => txnStatus[txn] === COMMITTED)
  finished.sort((a, b) => finish[a]! - finish[b]!)
  // place -> the latest start among those that finished before it
  const latestStart = new Float64Array(finished.length + 1).fill(Number.NEGATIVE_INFINITY)
  for (let i = 0; i < finished.length; i++) {
    latestStart[i + 1] = Math.max(latestStart[i]!, start[finished[i]!]!)
  }
  const after = new AfterColumns()
  // Transactions that do not count pass on what they come after.
  for (let txn = 0; txn < txnCount; txn++) {
    for (const earlier of namedBy(history, txn)) after.add(txn, earlier)
  }
  let place = 0
  for (const txn of counting.toSorted((a, b) => start[a]! - start[b]!)) {
    while (place < finished.length && finish[finished[place]!]! < start[txn]!) place++
    // Whoever finished before the latest start among these comes before that one.
    for (let i = place - 1; i >= 0 && finish[finished[i]!]! >= latestStart[place]!; i--) {
      if (txnSession[finished[i]!] !== txnSession[txn]) after.add(txn, finished[i]!)
    }
  }
  return { ...history, after: after.finish(txnCount) }
}
