// Parts of a history that can be decided one by one. In the communication graph sessions are
// nodes, joined when both access a key that somebody writes. By Biswas & Enea, Theorem 5.2, a
// history satisfies pc, si or ser iff each of its biconnected components does, the initial
// transaction being part of each. Real time reaches across sessions that share nothing, so for
// sser only connected components are sound (as for linearizability, Herlihy and Wing's locality).
// The orders of the parts merge into one of the whole. Cost O(operations + sessions · parts each
// is in). Main functions: findParts, mergeOrders, mergeByStart.

import { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { addTo } from '../../base/maps.ts'
import { findBlocks } from '../../graph/biconnected.ts'
import { buildCsr } from '../../graph/csr.ts'
import { PairIndex } from '../../graph/pair-index.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import { type History, NONE } from '../../history/history.ts'
import { isWrite } from '../../verdict/certify-reads.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

/** The sessions of each part; one may be in several unless only connected parts are wanted. */
export function findParts(
  history: History,
  reads: ReadCheck,
  biconnected: boolean,
  deadline: Deadline = Deadline.none(),
): Int32Array[] {
  const pairs = joinSessions(history, reads, deadline)
  const from = new Int32Array(pairs.count)
  const to = new Int32Array(pairs.count)
  for (let e = 0; e < pairs.count; e++) {
    from[e] = pairs.firstOf(e)
    to[e] = pairs.secondOf(e)
  }
  deadline.check()
  const blocks = findBlocks(history.sessionCount, from, to)
  return biconnected ? blocks : uniteBlocks(history.sessionCount, blocks)
}

/**
 * Edges of the communication graph. Sessions that share a key are all joined to each other; a ring
 * through them has the same biconnected components and is as long as the key is popular.
 */
function joinSessions(history: History, reads: ReadCheck, deadline: Deadline): PairIndex {
  const { sessionCount, keyCount } = history
  const pairs = new PairIndex(sessionCount)
  const isAccess = isShared(history, reads)
  const first = new Int32Array(keyCount).fill(NONE) // key -> first session that accesses it
  const last = new Int32Array(keyCount).fill(NONE) // key -> latest session that accesses it
  for (const txn of history.sessionTxns) {
    if (!history.txnCounts[txn]) continue
    const session = history.txnSession[txn]!
    deadline.step(4)
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      const key = history.opKey[op]!
      if (last[key] === session || !isAccess(op)) continue
      if (first[key] === NONE) first[key] = session
      else pairs.add(last[key]!, session)
      last[key] = session
    }
  }
  for (let key = 0; key < keyCount; key++) {
    if (first[key] !== last[key] && pairs.find(first[key]!, last[key]!) === NONE) {
      pairs.add(first[key]!, last[key]!)
    }
  }
  return pairs
}

/** Whether an operation joins its session to others: a sound one on a key that somebody writes. */
export function isShared(history: History, reads: ReadCheck): (op: number) => boolean {
  const { txnCounts, opTxn, opKey } = history
  const isWritten = findWrittenKeys(history)
  return (op) =>
    isWritten[opKey[op]!] === 1 &&
    (isWrite(history, op) ? txnCounts[opTxn[op]!] === 1 : reads.opSource[op] !== NONE)
}

function findWrittenKeys(history: History): Uint8Array {
  const isWritten = new Uint8Array(history.keyCount)
  for (let op = 0; op < history.opCount; op++) {
    if (isWrite(history, op) && history.txnCounts[history.opTxn[op]!]) {
      isWritten[history.opKey[op]!] = 1
    }
  }
  return isWritten
}

/** Connected components: blocks that share a session, together. */
function uniteBlocks(sessionCount: number, blocks: readonly Int32Array[]): Int32Array[] {
  const leader = new Int32Array(sessionCount)
  for (let s = 0; s < sessionCount; s++) leader[s] = s
  const find = (session: number) => {
    let at = session
    while (leader[at] !== at) at = leader[at] = leader[leader[at]!]!
    return at
  }
  for (const block of blocks) for (const session of block) leader[find(session)] = find(block[0]!)
  const members = new Map<number, number[]>()
  for (let s = 0; s < sessionCount; s++) addTo(members, find(s), s)
  return [...members.values()].map((sessions) => Int32Array.from(sessions))
}

/** Transactions of some sessions that count. */
export function txnsOf(history: History, sessions: Int32Array): Int32Array {
  const txns = new IntColumn(64)
  const { sessionTxns, sessionTxnStart, txnCounts } = history
  for (const session of sessions) {
    for (let slot = sessionTxnStart[session]!; slot < sessionTxnStart[session + 1]!; slot++) {
      if (txnCounts[sessionTxns[slot]!]) txns.push(sessionTxns[slot]!)
    }
  }
  return txns.view()
}

/** One order that contains those of all biconnected parts; events are numbers below `bound`. */
export function mergeOrders(orders: readonly Int32Array[], bound: number): Int32Array {
  if (orders.length === 1) return orders[0]!
  const from = new IntColumn(64)
  const to = new IntColumn(64)
  const isUsed = new Uint8Array(bound)
  for (const order of orders) {
    for (let i = 0; i < order.length; i++) {
      isUsed[order[i]!] = 1
      if (i === 0) continue
      from.push(order[i - 1]!)
      to.push(order[i]!)
    }
  }
  const merged = findTopologicalOrder(buildCsr(bound, from.data, to.data, from.length))
  assert(merged !== null, 'orders of biconnected components have no cycle between them')
  return merged.filter((event) => isUsed[event] === 1)
}

/**
 * One order in real time from those of connected parts: always the transaction that started first.
 * Nothing that finished before that start can be left, for it would stand behind a transaction of
 * its part that started earlier still.
 */
export function mergeByStart(history: History, orders: readonly Int32Array[]): Int32Array {
  if (orders.length === 1) return orders[0]!
  const start = history.txnStartTime!
  // Within a part, what stands later may not overtake: it takes the latest start so far.
  const events: { txn: number; time: number; part: number; place: number }[] = []
  orders.forEach((order, part) => {
    let time = Number.NEGATIVE_INFINITY
    order.forEach((txn, place) => {
      time = Math.max(time, start[txn]!)
      events.push({ txn, time, part, place })
    })
  })
  events.sort((a, b) => a.time - b.time || a.part - b.part || a.place - b.place)
  return Int32Array.from(events.map((event) => event.txn))
}
