// Chooses which transactions of a window are let go: those that came long enough ago, if they can
// come first in a commit order that the level allows. Main function: chooseSettled.

import { ABORTED, type History, INITIAL, NONE, READ, WRITE } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { certifyCommitOrder } from '../verdict/certify-order.ts'

export interface Judged {
  readonly history: History
  /** A commit order of all that take part, at that level. */
  readonly level: LevelId
  readonly order: Int32Array
}

/** With more than so many windows at hand, more is let go than can be without losing reads. */
const MOST_WINDOWS = 4

/**
 * Transactions to let go, first to last.
 * @param oldCount how many came long enough ago
 * @param waits txn -> 1 if it takes no part only for now
 */
export function chooseSettled(
  { history, level, order }: Judged,
  oldCount: number,
  waits: Uint8Array | null,
): Int32Array {
  const first = oldFirst({ history, level, order }, oldCount)
  const chosen = first.subarray(0, countUnread(history, first, waits))
  const windowCount = history.txnCount - oldCount
  const least = Math.min(order.length, history.txnCount - MOST_WINDOWS * windowCount)
  return chosen.length >= least ? chosen : order.slice(0, least)
}

/** As many of the old as can come first. */
function oldFirst({ history, level, order }: Judged, oldCount: number): Int32Array {
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
  return certifyCommitOrder(history, level, apart).length === 0 ? old : order.slice(0, prefix)
}

/**
 * How many of these can go without taking along what those that stay have read: a version goes when
 * the next one of its key stands in its place.
 */
function countUnread(history: History, chosen: Int32Array, waits: Uint8Array | null): number {
  const { txnCount, txnStatus, txnOpStart, opKind, opKey, readFrom, readTxn, keyCount } = history
  const position = new Int32Array(txnCount).fill(NONE)
  for (let i = 0; i < chosen.length; i++) position[chosen[i]!] = i
  const earliest = new Int32Array(keyCount).fill(txnCount) // key -> first version that is read
  const stay = (txn: number) => {
    if (txnStatus[txn] === ABORTED && !waits?.[txn]) return
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] !== READ || readFrom[op] === NONE) continue
      const at = readFrom[op] === INITIAL ? NONE : position[readTxn[op]!]!
      if (readFrom[op] !== INITIAL && at === NONE) continue // it stays as well
      if (at < earliest[opKey[op]!]!) earliest[opKey[op]!] = at
    }
  }
  for (let txn = 0; txn < txnCount; txn++) if (position[txn] === NONE) stay(txn)
  let count = chosen.length
  for (;;) {
    const next = firstReplacing(history, chosen, count, earliest)
    if (next === count) return count
    // Those that stay now have read something, too.
    for (let i = next; i < count; i++) stay(chosen[i]!)
    count = next
  }
}

/** The first of so many that replaces a version which is at or behind the earliest one read. */
function firstReplacing(
  { txnOpStart, opKind, opKey }: History,
  chosen: Int32Array,
  count: number,
  earliest: Int32Array,
): number {
  for (let i = 0; i < count; i++) {
    const txn = chosen[i]!
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] === WRITE && earliest[opKey[op]!]! < i) return i
    }
  }
  return count
}

/**
 * Those that take no part in any order and can go with the others: what came long ago, unless
 * somebody before it in its session stays, and what stands before somebody of its session who goes.
 * Initial transactions go at once.
 * @param goes txn -> 1 if it is let go
 * @param waits txn -> 1 if it takes no part only for now
 */
export function addBystanders(
  { txnCount, txnCounts, txnIsInitial, txnSession, sessionCount }: History,
  goes: Uint8Array,
  waits: Uint8Array | null,
  oldCount: number,
): Int32Array {
  const lastGone = new Int32Array(sessionCount).fill(NONE) // session -> the last one who goes
  for (let txn = 0; txn < txnCount; txn++) if (goes[txn]) lastGone[txnSession[txn]!] = txn
  const stays = new Uint8Array(sessionCount) // whether somebody earlier stays
  const bystanders: number[] = []
  for (let txn = 0; txn < txnCount; txn++) {
    const session = txnSession[txn]!
    if (goes[txn]) continue
    const isIdle = !txnCounts[txn] && !waits?.[txn]
    const isOver = txn < lastGone[session]! || (txn < oldCount && !stays[session])
    if (isIdle && (txnIsInitial[txn] || isOver)) bystanders.push(txn)
    else stays[session] = 1
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
