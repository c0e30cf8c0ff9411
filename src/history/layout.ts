// Lays a history out: operations arrive in whatever order they were met, and come to stand together
// by transaction, and transactions by session; and where it is asked for, operations by key. Main
// functions: groupOps, layOutSessions, groupByKey.

import type { ByteColumn, IntColumn } from '../base/grow.ts'
import type { History } from './history.ts'

/** Operations as they arrived. */
interface ArrivedOps {
  readonly opTxn: IntColumn
  readonly opKind: ByteColumn
  readonly opKey: IntColumn
  readonly opValue: IntColumn
}

/** Brings the operations of each transaction together, keeping their order of arrival. */
export function groupOps(arrived: ArrivedOps, txnCount: number) {
  const opTxn = arrived.opTxn.view()
  const opCount = opTxn.length
  const txnOpStart = new Int32Array(txnCount + 1)
  let inOrder = true
  let last = 0
  for (let i = 0; i < opCount; i++) {
    const txn = opTxn[i]!
    txnOpStart[txn + 1]!++
    if (txn < last) inOrder = false
    last = txn
  }
  for (let txn = 0; txn < txnCount; txn++) txnOpStart[txn + 1]! += txnOpStart[txn]!
  const opKind = arrived.opKind.view()
  const opKey = arrived.opKey.view()
  const opValue = arrived.opValue.view()
  if (inOrder) return { txnOpStart, opTxn, opKind, opKey, opValue, arrivals: null }

  const next = txnOpStart.slice()
  const arrivals = new Int32Array(opCount) // op -> arrival
  const out = {
    txnOpStart,
    opTxn: new Int32Array(opCount),
    opKind: new Uint8Array(opCount),
    opKey: new Int32Array(opCount),
    opValue: new Int32Array(opCount),
    arrivals,
  }
  for (let i = 0; i < opCount; i++) {
    const txn = opTxn[i]!
    const op = next[txn]!++
    arrivals[op] = i
    out.opTxn[op] = txn
    out.opKind[op] = opKind[i]!
    out.opKey[op] = opKey[i]!
    out.opValue[op] = opValue[i]!
  }
  return out
}

/** The transactions of each session, in order. */
export function layOutSessions(txnSession: Int32Array, sessionCount: number) {
  const sessionTxnStart = new Int32Array(sessionCount + 1)
  // By index: `of` makes an object for each step until the loop is compiled.
  for (let txn = 0; txn < txnSession.length; txn++) sessionTxnStart[txnSession[txn]! + 1]!++
  for (let s = 0; s < sessionCount; s++) sessionTxnStart[s + 1]! += sessionTxnStart[s]!
  const next = sessionTxnStart.slice()
  const sessionTxns = new Int32Array(txnSession.length)
  const txnIndex = new Int32Array(txnSession.length)
  for (let txn = 0; txn < txnSession.length; txn++) {
    const session = txnSession[txn]!
    const slot = next[session]!++
    sessionTxns[slot] = txn
    txnIndex[txn] = slot - sessionTxnStart[session]!
  }
  return { sessionTxnStart, sessionTxns, txnIndex }
}

/** Brings the operations on each key together, in their order. */
export function groupByKey({ opKey, opCount, keyCount }: History) {
  const start = new Int32Array(keyCount + 1) // key -> first slot in `byKey`
  for (let op = 0; op < opCount; op++) start[opKey[op]! + 1]!++
  for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!
  const next = start.slice()
  const byKey = new Int32Array(opCount) // slot -> op, key by key
  for (let op = 0; op < opCount; op++) byKey[next[opKey[op]!]!++] = op
  return { byKey, start }
}
