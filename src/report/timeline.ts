// How a recorded run went over time: transactions that ended, and how long they took, in equal
// parts of the run. Times are the recorder's, in microseconds. One pass to count, one to place;
// O(n log n) for the percentiles. Main function: buildTimeline.

import { ABORTED, COMMITTED, type History, INDETERMINATE } from '../history/history.ts'
import type { TimelineJson } from '../verdict/verdict-file.ts'

const PARTS = 60

/** Null if the history has no times, or no time passes in it. */
export function buildTimeline(history: History): TimelineJson | null {
  const { txnCount, txnStatus, txnStartTime, txnFinishTime } = history
  if (!txnStartTime || !txnFinishTime || txnCount === 0) return null
  let first = Number.POSITIVE_INFINITY
  let last = Number.NEGATIVE_INFINITY
  for (let txn = 0; txn < txnCount; txn++) {
    if (txnStartTime[txn]! < first) first = txnStartTime[txn]!
    if (txnFinishTime[txn]! > last) last = txnFinishTime[txn]!
  }
  if (!(last > first)) return null
  const widthUs = Math.ceil((last - first) / PARTS)
  const parts = Math.max(1, Math.ceil((last - first) / widthUs))
  const counts = [COMMITTED, ABORTED, INDETERMINATE].map(() => new Array<number>(parts).fill(0))
  const partOf = new Int32Array(txnCount) // txn -> part of the run in which it ended
  const sizes = new Int32Array(parts + 1) // part -> committed transactions in those before it
  for (let txn = 0; txn < txnCount; txn++) {
    const finish = txnFinishTime[txn]!
    // Without an end, a transaction counts where it began.
    const time = Number.isNaN(finish) ? txnStartTime[txn]! : finish
    const part = Math.min(parts - 1, Math.max(0, Math.floor((time - first) / widthUs)))
    partOf[txn] = part
    counts[txnStatus[txn]!]![part]!++
    if (txnStatus[txn] === COMMITTED) sizes[part + 1]!++
  }
  for (let part = 0; part < parts; part++) sizes[part + 1]! += sizes[part]!
  const latencies = new Float64Array(sizes[parts]!) // of committed transactions, part by part
  const next = sizes.slice()
  for (let txn = 0; txn < txnCount; txn++) {
    if (txnStatus[txn] !== COMMITTED) continue
    latencies[next[partOf[txn]!]!++] = txnFinishTime[txn]! - txnStartTime[txn]!
  }
  const percentiles = (share: number) =>
    Array.from({ length: parts }, (_, part) => {
      const mine = latencies.subarray(sizes[part]!, sizes[part + 1]!)
      return mine.length === 0 ? null : mine[Math.floor((mine.length - 1) * share)]!
    })
  for (let part = 0; part < parts; part++) latencies.subarray(sizes[part]!, sizes[part + 1]!).sort()
  return {
    partUs: widthUs,
    committed: counts[COMMITTED]!,
    aborted: counts[ABORTED]!,
    indeterminate: counts[INDETERMINATE]!,
    medianUs: percentiles(0.5),
    p99Us: percentiles(0.99),
  }
}
