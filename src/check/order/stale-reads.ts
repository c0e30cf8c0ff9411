// Reads that are stale in an order: not of the latest version when the transactions run one after
// another. For each, the transactions that wrote a newer version before the reader ran; only those
// can be ordered against the order by a level. Two replays: the first finds out whether there are
// any stale reads, and of which keys, the second follows the versions of just those keys.
// O(n + newer versions). Main function: findStaleReads.

import { IntColumn } from '../../base/grow.ts'
import { type History, INITIAL, NONE, READ, READ_LIST } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { BaseOrder } from './base-order.ts'

export interface StaleReads {
  readonly read: Int32Array // stale read -> op, by position of its transaction
  readonly newerStart: Int32Array // stale read -> first entry in `newer`; one more at the end
  readonly newer: Int32Array // transactions that wrote newer versions, latest first
  /** stale read -> 1 if `newer` is not complete: too many, or the reader is on a cycle. */
  readonly isOpen: Uint8Array
}

/** Beyond so many newer versions, one look at each session is cheaper than at each version. */
const MANY_VERSIONS = 64

export const NO_STALE_READS: StaleReads = {
  read: new Int32Array(0),
  newerStart: new Int32Array(1),
  newer: new Int32Array(0),
  isOpen: new Uint8Array(0),
}

/** A read inside a cycle, or from one, always counts as stale. */
export function findStaleReads(history: History, reads: ReadCheck, base: BaseOrder): StaleReads {
  const cyclic = base.component === null ? null : findCyclic(base)
  const stale = replay(history, reads, base, cyclic)
  return stale.length === 0 ? NO_STALE_READS : followVersions(history, reads, base, cyclic, stale)
}

function replay(
  history: History,
  reads: ReadCheck,
  { order }: BaseOrder,
  cyclic: Uint8Array | null,
): Int32Array {
  const { txnOpStart, opKind, opKey } = history
  const { opSource } = reads
  const latest = new Int32Array(history.keyCount).fill(INITIAL) // key -> txn that wrote it last
  const stale = new IntColumn(64)
  for (let p = 0; p < order.length; p++) {
    const txn = order[p]!
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const kind = opKind[op]!
      if (kind !== READ && kind !== READ_LIST) {
        latest[opKey[op]!] = txn
        continue
      }
      const source = opSource[op]!
      if (source === NONE) continue
      if (latest[opKey[op]!] !== source) stale.push(op)
      else if (cyclic !== null && (cyclic[txn] || cyclic[source])) stale.push(op)
    }
  }
  return stale.view()
}

function followVersions(
  history: History,
  reads: ReadCheck,
  { order }: BaseOrder,
  cyclic: Uint8Array | null,
  stale: Int32Array,
): StaleReads {
  const { txnOpStart, opKind, opKey, opTxn } = history
  const { opSource } = reads
  const wanted = new Uint8Array(history.keyCount) // key -> 1 if a stale read is of it
  for (const read of stale) wanted[opKey[read]!] = 1
  const latest = new Int32Array(history.keyCount).fill(INITIAL) // key -> its latest write
  const older = new Int32Array(history.opCount) // write -> the version it replaced
  const newer = new IntColumn(stale.length * 2)
  const newerStart = new Int32Array(stale.length + 1)
  const isOpen = new Uint8Array(stale.length)
  let next = 0
  for (let p = 0; p < order.length && next < stale.length; p++) {
    const txn = order[p]!
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]!
      if (wanted[key] === 0) continue
      const kind = opKind[op]!
      if (kind !== READ && kind !== READ_LIST) {
        older[op] = latest[key]!
        latest[key] = op
      } else if (op === stale[next]) {
        const source = opSource[op]!
        newerStart[next] = newer.length
        let write = latest[key]!
        while (write >= 0 && opTxn[write] !== source) {
          if (newer.length - newerStart[next]! > MANY_VERSIONS) break
          if (opTxn[write] !== txn) newer.push(opTxn[write]!)
          write = older[write]!
        }
        const complete = write < 0 ? source === INITIAL : opTxn[write] === source
        isOpen[next] = !complete || cyclic?.[txn] ? 1 : 0
        next++
      }
    }
  }
  newerStart[stale.length] = newer.length
  return { read: stale, newerStart, newer: newer.view(), isOpen }
}

/** txn -> 1 if its component has more members. */
function findCyclic(base: BaseOrder): Uint8Array {
  const cyclic = new Uint8Array(base.position.length)
  for (let p = 0; p < base.order.length; p = base.groupEnd![p]!) {
    if (base.groupEnd![p]! === p + 1) continue
    for (let q = p; q < base.groupEnd![p]!; q++) cyclic[base.order[q]!] = 1
  }
  return cyclic
}
