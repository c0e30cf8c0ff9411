// The orders of versions that are known: of lists what the longest read shows (list-reads.ts), of
// registers the versions that the store gave them (history/versions.ts). A register that only one
// transaction writes needs no version to be in order. Main function: findKnownVersions.

import { APPEND, type History, NONE, WRITE } from '../../history/history.ts'
import { type ListReads, linkVersions } from './list-reads.ts'

export interface VersionReads {
  /** read -> version it saw, of lists besides its own appends; INITIAL, NONE. */
  readonly readFrom: Int32Array
  readonly orderStart: Int32Array // key -> first slot in `order`
  readonly order: Int32Array // slot -> write op, in version order
  readonly orderRead: Int32Array // key -> the list read that shows it, NONE of registers
  readonly tailStart: Int32Array // key -> first slot in `tail`
  readonly tail: Int32Array // slot -> append op that no sound read shows, of a txn that counts
  /** write op -> a transaction that the version order puts right before it, or NONE. */
  readonly writeAfter: Int32Array
  /** How many versions come after one of a transaction named later. */
  readonly lateCount: number
  /** Whether the order of every key is known, but for appends that nobody saw. */
  readonly isComplete: boolean
}

/** Null if nothing is known but from reads of registers. */
export function findKnownVersions(history: History, lists: ListReads | null): VersionReads | null {
  const given = history.versions
  if (given === null) {
    const isComplete = history.opKind.every((kind) => kind >= APPEND)
    return lists && { ...lists, lateCount: countLate(history, lists.writeAfter), isComplete }
  }
  const { keyCount, opCount } = history
  const alone = findOnlyWriters(history)
  const orderStart = new Int32Array(keyCount + 1)
  const order: Int32Array = new Int32Array(opCount)
  let length = 0
  let isComplete = true
  for (let key = 0; key < keyCount; key++) {
    orderStart[key] = length
    const [from, end] = [given.orderStart[key]!, given.orderStart[key + 1]!]
    for (let slot = from; slot < end; slot++) order[length++] = given.order[slot]!
    for (let slot = lists?.orderStart[key] ?? 0; slot < (lists?.orderStart[key + 1] ?? 0); slot++) {
      order[length++] = lists!.order[slot]!
    }
    if (from < end || alone[key] === NONE) continue
    if (alone[key] === SEVERAL) isComplete = false
    else order[length++] = alone[key]!
  }
  orderStart[keyCount] = length
  const versions = {
    readFrom: lists
      ? history.readFrom.map((write, op) => joined(lists, write, op))
      : history.readFrom,
    orderStart,
    order: order.subarray(0, length),
    orderRead: lists?.orderRead ?? new Int32Array(keyCount).fill(NONE),
    tailStart: lists?.tailStart ?? new Int32Array(keyCount + 1),
    tail: lists?.tail ?? new Int32Array(0),
    isComplete,
  }
  const writeAfter = linkVersions(history, versions, new Set())
  return { ...versions, writeAfter, lateCount: countLate(history, writeAfter) }
}

function countLate({ opTxn }: History, writeAfter: Int32Array): number {
  let count = 0
  for (let op = 0; op < writeAfter.length; op++) if (writeAfter[op]! > opTxn[op]!) count++
  return count
}

function joined({ readFrom }: ListReads, write: number, op: number): number {
  return readFrom[op] === NONE ? write : readFrom[op]!
}

const SEVERAL = -2

/** key -> last write of a register by the only transaction that counts and writes it, SEVERAL, NONE. */
function findOnlyWriters({ keyCount, opCount, opKind, opKey, opTxn, txnCounts }: History) {
  const only = new Int32Array(keyCount).fill(NONE)
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== WRITE || !txnCounts[opTxn[op]!]) continue
    const known = only[opKey[op]!]!
    if (known === SEVERAL) continue
    only[opKey[op]!] = known === NONE || opTxn[known] === opTxn[op] ? op : SEVERAL
  }
  return only
}
