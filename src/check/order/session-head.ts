// Running sessions side by side, as all guessed orders do: where each of them stands.

import { type History, NONE } from '../../history/history.ts'

/**
 * The session's next transaction that counts, or NONE; moves its head past those that do not.
 * @param head session -> slot of its next transaction
 */
export function nextTxn(history: History, head: Int32Array, session: number): number {
  const { sessionTxns, sessionTxnStart, txnCounts } = history
  const end = sessionTxnStart[session + 1]!
  let slot = head[session]!
  while (slot < end && !txnCounts[sessionTxns[slot]!]) slot++
  head[session] = slot
  return slot < end ? sessionTxns[slot]! : NONE
}
