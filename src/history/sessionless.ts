// A history as levels without session order see it: every transaction is a session of its own. All
// numbers stay as they are, so that evidence about one speaks of the other. O(transactions). Main
// function: withoutSessionOrder.

import type { History } from './history.ts'

export function withoutSessionOrder(history: History): History {
  const { txnCount, txnSession } = history
  const self = Int32Array.from({ length: txnCount + 1 }, (_, txn) => txn)
  return {
    ...history,
    sessionCount: txnCount,
    sessionTxnStart: self,
    sessionTxns: self.subarray(0, txnCount),
    txnSession: self.subarray(0, txnCount),
    txnIndex: new Int32Array(txnCount),
    after: null,
    sessionName: (txn) => history.sessionName(txnSession[txn]!),
    sessionLabel: (txn) => history.sessionLabel(txnSession[txn]!),
  }
}

const FEW_PER_OP = 8 // numbers that an operation may cost without a thought: as many as it has

/**
 * True if sessions are so many and so short that a number for each of them and each transaction
 * would not fit into memory, or would be much more than the history itself.
 */
export function hasManySessions({ sessionCount, txnCount, opCount }: History): boolean {
  return sessionCount * 16 > txnCount && sessionCount * txnCount > FEW_PER_OP * opCount
}
