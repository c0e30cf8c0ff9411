// What orders of small histories have to contain, from the definitions alone.

import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { type History, INITIAL, NONE, WRITE } from '../../../src/history/history.ts'

/** A shape of drafts without anything unusual. */
export const PLAIN = {
  after: 0,
  indeterminate: 0,
  aborted: 0,
  thinAir: 0,
  wild: 0,
  lead: 0,
  initial: 0,
}

export type Pair = [number, number]

/** Session order and reads-from, from the definitions. */
export function causes(history: History, opSource: Int32Array): Pair[] {
  const { txnSession, txnCount, opCount, opTxn } = history
  const pairs: Pair[] = []
  for (let a = 0; a < txnCount; a++) {
    for (let b = a + 1; b < txnCount; b++) if (txnSession[a] === txnSession[b]) pairs.push([a, b])
  }
  for (let op = 0; op < opCount; op++)
    if (opSource[op]! >= 0) pairs.push([opSource[op]!, opTxn[op]!])
  return pairs
}

/** Whether an order satisfies the axiom of si, from the definitions; it may be no order at all. */
export function isSnapshotOrder(history: History, order: Int32Array): boolean {
  const { txnCount, opCount, opTxn, opKind, opKey } = history
  const { opSource, offendingOp } = checkReads(history)
  if (offendingOp.length > 0) return false
  const at = (txn: number) => (txn === INITIAL ? -1 : order.indexOf(txn))
  const pairs = causes(history, opSource)
  if (pairs.some(([a, b]) => at(a) > at(b))) return false
  const writes = (txn: number, key: number) =>
    opKey.some((each, op) => each === key && opTxn[op] === txn && opKind[op] === WRITE)
  const share = (a: number, b: number) => opKey.some((key) => writes(a, key) && writes(b, key))
  for (let read = 0; read < opCount; read++) {
    if (opSource[read] === NONE) continue
    const reader = opTxn[read]!
    for (let t2 = 0; t2 < txnCount; t2++) {
      if (t2 === reader || t2 === opSource[read] || !writes(t2, opKey[read]!)) continue
      if (at(t2) < at(opSource[read]!)) continue
      for (let t4 = 0; t4 < txnCount; t4++) {
        if (t4 === reader || at(t4) > at(reader) || at(t2) > at(t4)) continue
        const isSeen = pairs.some(([a, b]) => a === t4 && b === reader)
        if (isSeen || share(t4, reader)) return false
      }
    }
  }
  return true
}
