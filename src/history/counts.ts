// Settles which transactions take part in every order. An indeterminate transaction whose write was
// read by one that counts did commit, so it counts too, and what it read counts in turn; one that
// nobody read is left out. This decides exactly whether some outcome satisfies a level.
//
// In SQL histories the reads of a transaction that its own program rolled back are judged too, if
// that is asked for: it has its place in its session and sees what its level lets it see, but
// nobody sees its writes (`withRolledBack`; docs/levels.md).

import { COMMITTED, type History, INDETERMINATE, listsOf, READ, READ_LIST } from './history.ts'

/** Fills `txnCounts`. */
export function settleCounts(history: History, rolledBack?: Uint8Array): void {
  const { txnCount, txnStatus, txnCounts, txnIsInitial } = history
  let indeterminate = false
  for (let txn = 0; txn < txnCount; txn++) {
    const counts = txnStatus[txn] === COMMITTED || rolledBack?.[txn] === 1
    txnCounts[txn] = counts && !txnIsInitial[txn] ? 1 : 0
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

/**
 * The history in which those count, too, that were rolled back on purpose. Whoever lists writers
 * must leave them out: they are ABORTED.
 */
export function withRolledBack(history: History): History {
  const rolledBack = history.sql?.txnRolledBack
  if (!rolledBack?.includes(1)) return history
  const judged = { ...history, txnCounts: history.txnCounts.slice() }
  settleCounts(judged, rolledBack)
  return judged
}

function observe(history: History, reader: number, pending: number[]): void {
  const { txnOpStart, opKind, readFrom, listStart, listFrom } = history
  for (let op = txnOpStart[reader]!; op < txnOpStart[reader + 1]!; op++) {
    if (opKind[op] === READ) countWriter(history, readFrom[op]!, pending)
    if (opKind[op]! < READ_LIST) continue
    for (const list of Array.from(listsOf(history, op))) {
      for (let i = listStart[list]!; i < listStart[list + 1]!; i++) {
        countWriter(history, listFrom[i]!, pending)
      }
    }
  }
}

function countWriter(history: History, write: number, pending: number[]): void {
  if (write < 0) return
  const writer = history.opTxn[write]!
  if (history.txnStatus[writer] !== INDETERMINATE || history.txnCounts[writer]) return
  history.txnCounts[writer] = 1
  pending.push(writer)
}
