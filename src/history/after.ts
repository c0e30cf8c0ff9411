// Session order beyond sessions: a transaction may name others that it comes after, so that session
// order is any partial order (Biswas and Enea, Definition 2.2): the transitive closure of the
// sessions and of what is named. Transactions that do not count pass it on. Main functions:
// orderBySessions, comesBefore.

import { InputError } from '../base/errors.ts'
import { IntColumn } from '../base/grow.ts'
import { type AfterEdges, type History, NONE } from './history.ts'

/** Collects what transactions name while a history is built. */
export class AfterColumns {
  private readonly later = new IntColumn(16)
  private readonly earlier = new IntColumn(16)

  add(later: number, earlier: number): void {
    this.later.push(later)
    this.earlier.push(earlier)
  }

  finish(txnCount: number): AfterEdges | null {
    const count = this.later.length
    if (count === 0) return null
    const start = new Int32Array(txnCount + 1)
    for (let i = 0; i < count; i++) start[this.later.data[i]! + 1]!++
    for (let txn = 0; txn < txnCount; txn++) start[txn + 1]! += start[txn]!
    const next = start.slice()
    const txn = new Int32Array(count)
    for (let i = 0; i < count; i++) txn[next[this.later.data[i]!]!++] = this.earlier.data[i]!
    return { start, txn }
  }
}

/** The transactions that one names. */
export function namedBy({ after }: History, txn: number): number[] {
  return after === null ? [] : [...after.txn.subarray(after.start[txn], after.start[txn + 1])]
}

/** Those that come right before one in session order: whom it names, and the last of its session. */
export function rightBefore(history: History, txn: number): number[] {
  const { txnIndex, txnSession, sessionTxns, sessionTxnStart } = history
  const before = namedBy(history, txn)
  const slot = sessionTxnStart[txnSession[txn]!]! + txnIndex[txn]! - 1
  if (txnIndex[txn]! > 0) before.push(sessionTxns[slot]!)
  return before
}

/** All transactions in an order that keeps session order. Throws InputError if there is none. */
export function orderBySessions(history: History): Int32Array {
  const { txnCount, txnIndex, txnSession, sessionTxns, sessionTxnStart, after } = history
  const waitsFor = new Int32Array(txnCount) // txn -> predecessors that are not in the order yet
  const followers = new IntColumn(16) // entry -> txn that waits, beside the one it waits for
  const next = new IntColumn(16) // entry -> the next one of the same predecessor
  const first = new Int32Array(txnCount).fill(NONE) // txn -> its first entry
  for (let txn = 0; txn < txnCount; txn++) {
    waitsFor[txn] = txnIndex[txn]! > 0 ? 1 : 0
    for (let i = after?.start[txn] ?? 0; i < (after?.start[txn + 1] ?? 0); i++) {
      const earlier = after!.txn[i]!
      waitsFor[txn]!++
      next.push(first[earlier]!)
      first[earlier] = followers.length
      followers.push(txn)
    }
  }
  const order = new Int32Array(txnCount)
  let length = 0
  const release = (txn: number) => {
    if (--waitsFor[txn]! === 0) order[length++] = txn
  }
  for (let txn = 0; txn < txnCount; txn++) if (waitsFor[txn] === 0) order[length++] = txn
  for (let done = 0; done < length; done++) {
    const txn = order[done]!
    const session = txnSession[txn]!
    const slot = sessionTxnStart[session]! + txnIndex[txn]! + 1
    if (slot < sessionTxnStart[session + 1]!) release(sessionTxns[slot]!)
    for (let i = first[txn]!; i !== NONE; i = next.data[i]!) release(followers.data[i]!)
  }
  if (length < txnCount) throw circular(history, waitsFor)
  return order
}

/** Names a circle of transactions that come after one another. */
function circular(history: History, waitsFor: Int32Array): InputError {
  const { after, txnIndex, txnSession, sessionTxns, sessionTxnStart } = history
  // Whoever still waits, waits for one that does: going back leads into a circle.
  const back = (txn: number): number => {
    for (let i = after!.start[txn]!; i < after!.start[txn + 1]!; i++) {
      if (waitsFor[after!.txn[i]!]! > 0) return after!.txn[i]!
    }
    return sessionTxns[sessionTxnStart[txnSession[txn]!]! + txnIndex[txn]! - 1]!
  }
  let txn = waitsFor.findIndex((count) => count > 0)
  for (let i = 0; i < history.txnCount; i++) txn = back(txn)
  const circle = [txn]
  for (let at = back(txn); at !== txn; at = back(at)) circle.push(at)
  const names = [...circle, txn].map((each) => history.txnName(each))
  const shown = names.length > 8 ? [...names.slice(0, 7), '…', names.at(-1)!] : names
  const op = history.txnOpStart[txn]!
  return new InputError(
    'circular-order',
    `transactions come after one another in a circle: ${shown.join(' after ')}`,
    op < history.txnOpStart[txn + 1]! ? history.placeOf(op) : null,
    'a transaction comes after those of its session that stand before it, and those it names',
  )
}

/** Whether `earlier` precedes `later` in session order. */
export function comesBefore(history: History, earlier: number, later: number): boolean {
  const { after, txnSession, txnIndex, sessionCount, sessionTxns, sessionTxnStart } = history
  const isBeside = txnSession[earlier] === txnSession[later]
  if (after === null || isBeside) return isBeside && txnIndex[earlier]! < txnIndex[later]!
  const reach = new Int32Array(sessionCount) // session -> how many of its transactions are reached
  const pending = [later]
  for (let txn = pending.pop(); txn !== undefined; txn = pending.pop()) {
    // Session order leads from here to all before it in its session, and to those that they name.
    const session = txnSession[txn]!
    const from = reach[session]!
    if (from > txnIndex[txn]!) continue
    reach[session] = txnIndex[txn]! + 1
    for (let index = from; index <= txnIndex[txn]!; index++) {
      const at = sessionTxns[sessionTxnStart[session]! + index]!
      for (let i = after.start[at]!; i < after.start[at + 1]!; i++) pending.push(after.txn[i]!)
    }
  }
  return reach[txnSession[earlier]!]! > txnIndex[earlier]!
}
