// An order of the transactions that respects session order, reads-from and known version order, as
// close to a serial order as can be had cheaply, and the reads that are stale in it: reads of a
// version that is not the latest at that point. Whoever has no stale read is serializable, hence
// satisfies every weaker level; for the others only stale reads need a closer look, because any
// order that a level forces concerns a read and a newer version of what it read.
//
// The order of the input is taken if causality allows it, mended where only a few reads are in its
// way (components.ts), and given up for a merge of the sessions where it says nothing. Where so ∪
// wr ∪ ww is cyclic, strongly connected components stand side by side. Main function:
// buildBaseOrder.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { type History, INITIAL, NONE, READ, READ_LIST } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { orderComponents } from './components.ts'
import { mergeSessions } from './merge-sessions.ts'

export interface BaseOrder {
  order: Int32Array // position -> txn, only transactions that count
  position: Int32Array // txn -> position, NONE if it does not count
  /** txn -> component, last the initial one's; null if each is a single transaction. */
  component: Int32Array | null
  /** position -> end of the component that starts there; null as above. */
  groupEnd: Int32Array | null
  staleReads: Int32Array // read ops, by position of their transaction
}

/** Up to this share of reads from transactions named later, the input's order is worth mending. */
const MENDABLE_SHARE = 0.1

export function buildBaseOrder(history: History, reads: ReadCheck, deadline: Deadline): BaseOrder {
  const base = chooseOrder(history, reads, deadline)
  base.staleReads = findStaleReads(history, reads, base)
  return base
}

function chooseOrder(history: History, reads: ReadCheck, deadline: Deadline): BaseOrder {
  const input = inputOrder(history)
  const ordered = reads.lateReadCount === 0 && reads.lists === null
  if (ordered) return withPositions(history, input)
  if (reads.lateReadCount > MENDABLE_SHARE * reads.foreignReadCount) {
    const merged = mergeSessions(history, reads)
    if (merged.length === input.length) return withPositions(history, merged)
  }
  return orderComponents(history, reads, input, [], deadline)
}

function inputOrder(history: History): Int32Array {
  const order = new Int32Array(history.txnCount)
  let length = 0
  for (let txn = 0; txn < history.txnCount; txn++) if (history.txnCounts[txn]) order[length++] = txn
  return order.subarray(0, length)
}

function withPositions(history: History, order: Int32Array): BaseOrder {
  const position = new Int32Array(history.txnCount).fill(NONE)
  for (let p = 0; p < order.length; p++) position[order[p]!] = p
  return { order, position, component: null, groupEnd: null, staleReads: new Int32Array(0) }
}

/** Replays the order; a read inside a cycle, or from one, always counts as stale. */
export function findStaleReads(history: History, reads: ReadCheck, base: BaseOrder): Int32Array {
  const { txnOpStart, opKind, opKey } = history
  const { opSource } = reads
  const latest = new Int32Array(history.keyCount).fill(INITIAL) // key -> txn that wrote it last
  const stale = new IntColumn(64)
  const { order, component } = base
  const cyclic = component === null ? null : findCyclic(base)
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

/** txn -> 1 if its component has more members. */
function findCyclic(base: BaseOrder): Uint8Array {
  const cyclic = new Uint8Array(base.position.length)
  for (let p = 0; p < base.order.length; p = base.groupEnd![p]!) {
    if (base.groupEnd![p]! === p + 1) continue
    for (let q = p; q < base.groupEnd![p]!; q++) cyclic[base.order[q]!] = 1
  }
  return cyclic
}
