// Orders that prove levels as they are written down: of transactions that count, and at si with a
// snapshot for each. A transaction's snapshot is its own commit's, but where reads are stale it is
// taken just before the first commit that one of them skipped. Main functions: tellProof,
// weakerProof.

import { addTo } from '../../base/maps.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { CertificateKind, Proof } from '../../verdict/verdict.ts'
import type { SpilledLevel } from './levels.ts'
import type { StaleReads } from './stale-reads.ts'

/** Bytes that a transaction of an order takes while it is written down; twice that with snapshots. */
const BYTES_IN_ORDER = 16

export interface OrderedTxns {
  readonly txnCount: number
  readonly mostBytes: number
  doesCount(txn: number): boolean
}

/** @param stale at si: all stale reads of the order; null if they are not known. Null if it does not fit. */
export function tellProof(
  level: SpilledLevel,
  txns: OrderedTxns,
  order: CommitOrder,
  stale: StaleReads | null,
): Proof | null {
  const { txnCount, mostBytes } = txns
  const bytes = level === 'si' ? 2 * BYTES_IN_ORDER : BYTES_IN_ORDER
  if (txnCount * bytes > mostBytes) return null
  if (level === 'si') return stale?.isComplete ? tellSnapshots(txns, order, stale) : null
  const told = new Int32Array(txnCount)
  let count = 0
  for (let at = 0; at < txnCount; at++) {
    const txn = order.txnAt === null ? at : order.txnAt[at]!
    if (txns.doesCount(txn)) told[count++] = txn
  }
  return { kind: 'commit-order', order: told.subarray(0, count) }
}

function tellSnapshots(txns: OrderedTxns, { txnAt }: CommitOrder, stale: StaleReads): Proof {
  const firstSkipped = new Map<number, number>() // reader -> the first that it skipped
  for (let i = 0; i < stale.count; i++) {
    const reader = stale.reader.data[i]!
    const next = stale.next.data[i]!
    if (next < (firstSkipped.get(reader) ?? reader)) firstSkipped.set(reader, next)
  }
  const takenBefore = new Map<number, number[]>() // position -> whose snapshots come just before it
  for (const [reader, at] of firstSkipped) {
    addTo(takenBefore, at, reader)
  }
  const events = new Int32Array(2 * txns.txnCount)
  let count = 0
  for (let at = 0; at < txns.txnCount; at++) {
    const txn = txnAt === null ? at : txnAt[at]!
    if (!txns.doesCount(txn)) continue
    for (const reader of takenBefore.get(at) ?? []) {
      events[count++] = 2 * (txnAt === null ? reader : txnAt[reader]!)
    }
    if (!firstSkipped.has(at)) events[count++] = 2 * txn
    events[count++] = 2 * txn + 1
  }
  return { kind: 'snapshots', events: events.subarray(0, count) }
}

export function certificateKind(level: SpilledLevel): CertificateKind {
  return level === 'si' ? 'snapshots' : 'commit-order'
}

/** What proves si, for a weaker level: the order of the commits. */
export function weakerProof(level: SpilledLevel, proof: Proof | null): Proof | null {
  if (proof?.kind !== 'snapshots' || level === 'si') return proof
  const order = proof.events.filter((event) => event % 2 === 1)
  for (let i = 0; i < order.length; i++) order[i] = (order[i]! - 1) / 2
  return { kind: 'commit-order', order }
}
