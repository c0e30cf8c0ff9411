// Verifies linearizability by replaying the operations in the order given: each transaction is a
// read of one key, or a read and a write of it, finds the key's latest version, and comes after
// nothing on its key that started only when it had finished. Orders of several keys need not agree,
// because linearizability is local (Herlihy and Wing, Theorem 1). One pass. Main function:
// certifyLinearOrder.

import {
  COMMITTED,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_ROWS,
  WRITE,
} from '../history/history.ts'

export function certifyLinearOrder(history: History, order: Int32Array): string[] {
  const { txnCounts, txnCount, txnOpStart, txnStatus, txnStartTime, txnFinishTime } = history
  const { opKey, readFrom } = history
  const latest = new Int32Array(history.keyCount).fill(INITIAL) // key -> write op, or INITIAL
  const latestStart = new Float64Array(history.keyCount).fill(Number.NEGATIVE_INFINITY)
  const seen = new Uint8Array(txnCount)
  if (!txnStartTime || !txnFinishTime) return order.length === 0 ? [] : ['there are no times']
  for (const txn of order) {
    if (!(txn >= 0 && txn < txnCount && txnCounts[txn])) return [`${txn} does not count`]
    if (seen[txn]) return [`transaction ${txn} stands in the order twice`]
    seen[txn] = 1
    const read = txnOpStart[txn]!
    const length = txnOpStart[txn + 1]! - read
    const key = opKey[read]!
    if (!isLight(history, txn)) return [`transaction ${txn} is not a lightweight operation`]
    if (readFrom[read] !== latest[key]) return [`read ${read} is not of the latest version`]
    if (length === 2) latest[key] = read + 1
    const start = txnStartTime[txn]!
    const finish = txnStatus[txn] === COMMITTED ? txnFinishTime[txn]! : Number.POSITIVE_INFINITY
    if (Number.isNaN(start) || Number.isNaN(finish)) return [`transaction ${txn} has no times`]
    if (finish < latestStart[key]!) return [`${txn} comes after one that started later`]
    if (start > latestStart[key]!) latestStart[key] = start
  }
  for (let txn = 0; txn < txnCount; txn++) {
    if (txnCounts[txn] && !seen[txn]) return [`transaction ${txn} is missing from the order`]
  }
  return []
}

/** A read of one key, or a read and a write of it. */
export function isLight({ txnOpStart, opKind, opKey }: History, txn: number): boolean {
  const read = txnOpStart[txn]!
  const length = txnOpStart[txn + 1]! - read
  if (length === 1 && opKind[read] === READ_ROWS) return true
  if (opKind[read] !== READ || length > 2 || length < 1) return false
  return length === 1 || (opKind[read + 1] === WRITE && opKey[read + 1] === opKey[read])
}

/** A transaction that counts but is no lightweight operation, or NONE. */
export function findHeavyTxn(history: History): number {
  for (let txn = 0; txn < history.txnCount; txn++) {
    if (history.txnCounts[txn] && !isLight(history, txn)) return txn
  }
  return NONE
}
