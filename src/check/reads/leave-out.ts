// A history without some transactions, to find what others are to blame for: they do not count,
// nobody reads from them, and versions are in order without theirs. Main function: leaveOut.

import { type History, NONE } from '../../history/history.ts'
import { linkVersions } from './list-reads.ts'
import type { ReadCheck } from './read-consistency.ts'

export function leaveOut(
  history: History,
  reads: ReadCheck,
  leftOut: ReadonlySet<number>,
): { history: History; reads: ReadCheck } {
  const txnCounts = history.txnCounts.slice()
  for (const txn of leftOut) txnCounts[txn] = 0
  const opSource = reads.opSource.map((source, op) =>
    leftOut.has(source) || leftOut.has(history.opTxn[op]!) ? NONE : source,
  )
  const versions = reads.versions && {
    ...reads.versions,
    writeAfter: linkVersions(history, reads.versions, leftOut),
  }
  return { history: { ...history, txnCounts }, reads: { ...reads, opSource, versions } }
}
