// Who writes each key, the initial transaction first, then in the order of the nodes; of several
// writes of one transaction only the last; and in which order, as far as reads of lists show it.
// O(operations). Main functions: listWriters, findPlaces.

import { ABORTED, APPEND, type History, INITIAL, NONE } from '../../history/history.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import { OUT, UNSEEN } from '../problem/mixed-problem.ts'
import type { VersionReads } from '../reads/version-reads.ts'

export interface Writers {
  readonly start: Int32Array // key -> its first writer; one more entry at the end
  readonly node: Int32Array // writer -> node
  readonly op: Int32Array // writer -> its last write of the key, INITIAL for the initial one
}

/** @param state node -> OUT, IN, MAYBE; those that are OUT, or aborted, write nothing */
export function listWriters(history: History, state: Uint8Array): Writers {
  const { txnCount, keyCount, txnOpStart, txnStatus, opKey } = history
  const isLast = new Uint8Array(history.opCount) // write op -> 1 if its transaction's last of a key
  const seenBy = new Int32Array(keyCount).fill(NONE) // key -> transaction seen to write it
  const start = new Int32Array(keyCount + 1)
  for (let key = 0; key < keyCount; key++) start[key + 1] = 1
  for (let txn = 0; txn < txnCount; txn++) {
    if (state[txn + 1] === OUT || txnStatus[txn] === ABORTED) continue
    for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
      const key = opKey[op]!
      if (!isWrite(history, op) || seenBy[key] === txn) continue
      seenBy[key] = txn
      isLast[op] = 1
      start[key + 1]!++
    }
  }
  for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!
  const next = start.slice()
  const node = new Int32Array(start[keyCount]!)
  const last = new Int32Array(start[keyCount]!)
  for (let key = 0; key < keyCount; key++) last[next[key]!++] = INITIAL
  for (let op = 0; op < history.opCount; op++) {
    if (!isLast[op]) continue
    const slot = next[opKey[op]!]!++
    node[slot] = history.opTxn[op]! + 1
    last[slot] = op
  }
  return { start, node, op: last }
}

/** Writer -> place in what reads show of its list, UNSEEN for an append of a list, else NONE. */
export function findPlaces(
  { opKind, opCount }: History,
  { op }: Writers,
  { order, tail }: VersionReads,
): Int32Array {
  const place = new Int32Array(opCount).fill(NONE) // append -> place
  for (let slot = 0; slot < order.length; slot++) place[order[slot]!] = slot
  for (const append of tail) place[append] = UNSEEN
  return op.map((write) => (write >= 0 && opKind[write] === APPEND ? place[write]! : NONE))
}
