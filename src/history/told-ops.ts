// Operations of a history as they were told, for counting them: range reads and operations of
// counters and sets are one each (spans.ts), and shares of a counter, elements of a set are no
// keys. Main function: toldOps.

import { type History, NONE, READ, WRITE } from './history.ts'
import { RANGE } from './spans.ts'

export interface ToldOps {
  readonly opCount: number
  readonly keyCount: number
  readonly opKind: Uint8Array
  readonly opKey: Int32Array // NONE: many keys, of a range read
  readonly txnOpStart: Int32Array
}

export function toldOps(history: History): ToldOps {
  const { spans, opCount, txnCount, txnOpStart } = history
  if (spans === null) return history
  const opKind = new Uint8Array(opCount)
  const opKey = new Int32Array(opCount)
  const starts = new Int32Array(txnCount + 1)
  const shares = new Set<number>() // and elements of sets
  let count = 0
  for (let txn = 0; txn < txnCount; txn++) {
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++, count++) {
      const span = spans.opSpan[op]!
      opKind[count] = history.opKind[op]!
      opKey[count] = history.opKey[op]!
      if (span === NONE) continue
      const isWrite = history.opKind[op] === WRITE
      opKind[count] = isWrite ? WRITE : READ
      opKey[count] = spans.key[span]!
      const last = op + spans.size[span]! - 1
      for (; spans.kind[span] !== RANGE && op <= last; op++) {
        if (history.opKey[op] !== spans.key[span]) shares.add(history.opKey[op]!)
      }
      op = last
    }
    starts[txn + 1] = count
  }
  return {
    opCount: count,
    keyCount: history.keyCount - shares.size,
    opKind: opKind.subarray(0, count),
    opKey: opKey.subarray(0, count),
    txnOpStart: starts,
  }
}
