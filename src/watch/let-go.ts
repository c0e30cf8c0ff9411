// Chooses which transactions of a window are let go: those that came long enough ago, if they can
// come first in a commit order that the level allows. Main function: chooseSettled.

import { type History, NONE } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { certifyCommitOrder } from '../verdict/certify-order.ts'

export interface Judged {
  readonly history: History
  /** A commit order of all that take part, at that level. */
  readonly level: LevelId
  readonly order: Int32Array
}

/** With more than so many windows at hand, what came lately is let go as well. */
const MOST_WINDOWS = 4

/**
 * Transactions to let go, first to last.
 * @param oldCount how many came long enough ago
 */
export function chooseSettled({ history, level, order }: Judged, oldCount: number): Int32Array {
  const isOld = (txn: number) => txn < oldCount
  const old = order.filter(isOld)
  let prefix = 0
  while (prefix < order.length && isOld(order[prefix]!)) prefix++
  if (prefix === old.length) return old
  // What came lately may stand between them for no good reason.
  const apart = new Int32Array(order.length)
  apart.set(old)
  apart.set(
    order.filter((txn) => !isOld(txn)),
    old.length,
  )
  if (certifyCommitOrder(history, level, apart).length === 0) return old
  const windowCount = history.txnCount - oldCount
  const most = Math.max(prefix, history.txnCount - MOST_WINDOWS * windowCount)
  return order.slice(0, most)
}

/**
 * Those that take no part in any order and can go with the others: what came long ago, and what
 * stands before somebody of its session who goes. Initial transactions go at once.
 * @param goes txn -> 1 if it is let go
 * @param waits txn -> 1 if it takes no part only for now
 */
export function addBystanders(
  { txnCount, txnCounts, txnIsInitial, txnSession, sessionCount }: History,
  goes: Uint8Array,
  waits: Uint8Array | null,
  oldCount: number,
): Int32Array {
  const sessionGoes = new Uint8Array(sessionCount) // whether somebody later goes
  const bystanders: number[] = []
  for (let txn = txnCount - 1; txn >= 0; txn--) {
    const session = txnSession[txn]!
    if (goes[txn]) sessionGoes[session] = 1
    else if (!txnCounts[txn] && !waits?.[txn]) {
      if (txnIsInitial[txn] || txn < oldCount || sessionGoes[session]) bystanders.push(txn)
    }
  }
  for (const txn of bystanders) goes[txn] = 1
  return Int32Array.from(bystanders)
}

/** The order in which they came, for when nothing better is known. */
export function orderOfArrival({ txnCount, txnCounts }: History, oldCount: number): Int32Array {
  const order = new Int32Array(txnCount).fill(NONE)
  let count = 0
  for (let txn = 0; txn < Math.min(txnCount, oldCount); txn++) {
    if (txnCounts[txn]) order[count++] = txn
  }
  return order.slice(0, count)
}
