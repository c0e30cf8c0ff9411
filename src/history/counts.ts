// Settles which transactions take part in every order. An indeterminate transaction whose write was
// read by one that counts did commit, so it counts too, and what it read counts in turn; one that
// nobody read is left out. This decides exactly whether some outcome satisfies a level.

import { COMMITTED, type History, INDETERMINATE, READ, READ_LIST } from './history.ts'

/** Fills `txnCounts`. */
export function settleCounts(history: History): void {
  const { txnCount, txnStatus, txnCounts, txnIsInitial } = history
  let indeterminate = false
  for (let txn = 0; txn < txnCount; txn++) {
    txnCounts[txn] = txnStatus[txn] === COMMITTED && !txnIsInitial[txn] ? 1 : 0
    if (txnStatus[txn] === INDETERMINATE) indeterminate = true
  }
  if (!indeterminate) return
  const pending: number[] = []
  for (let txn = 0; txn < txnCount; txn++) {
    if (!txnCounts[txn]) continue
    pending.push(txn)
    while (pending.length > 0) observe(history, pending.pop()!, pending)
  }
}

function observe(history: History, reader: number, pending: number[]): void {
  const { txnOpStart, opKind, opValue, readFrom, listStart, listFrom } = history
  for (let op = txnOpStart[reader]!; op < txnOpStart[reader + 1]!; op++) {
    if (opKind[op] === READ) {
      if (readFrom[op]! >= 0) countWriter(history, readFrom[op]!, pending)
    } else if (opKind[op] === READ_LIST) {
      const list = opValue[op]!
      for (let i = listStart[list]!; i < listStart[list + 1]!; i++) {
        if (listFrom[i]! >= 0) countWriter(history, listFrom[i]!, pending)
      }
    }
  }
}

function countWriter(history: History, write: number, pending: number[]): void {
  const writer = history.opTxn[write]!
  if (history.txnStatus[writer] !== INDETERMINATE || history.txnCounts[writer]) return
  history.txnCounts[writer] = 1
  pending.push(writer)
}
