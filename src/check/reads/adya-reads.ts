// Reads as Adya's levels from PL-2 on see them. What a transaction does to itself is no matter of
// theirs, so its own writes are taken out of what it read, and the rest is judged: part of what
// another transaction wrote is an intermediate read (G1b), all of it is a dependency.
//
//   s1: w(x,9) r(x,1)      s2: w(x,1) w(x,2)      -> IntermediateRead, besides NotMyOwnWrite
//
// The order of versions stays what sound reads of lists tell. O(n), and nothing to do where no read
// contradicts its own transaction. Main function: withoutOwnWrites.

import { IntColumn } from '../../base/grow.ts'
import { APPEND, type History, INITIAL, NONE, READ, WRITE } from '../../history/history.ts'
import { misreportsVersion } from '../../history/versions.ts'
import { INTERNAL } from '../../levels/anomalies.ts'
import { OFFENCES, type ReadCheck } from './read-consistency.ts'

export function withoutOwnWrites(history: History, reads: ReadCheck): ReadCheck {
  const isInternal = OFFENCES.map((name) => INTERNAL.has(name))
  if (!reads.offendingKind.some((kind) => isInternal[kind])) return reads
  const opSource = reads.opSource.slice()
  const versions = reads.versions && {
    ...reads.versions,
    readFrom: reads.versions.readFrom.slice(),
  }
  const offendingOp = new IntColumn(16)
  const offendingKind = new IntColumn(16)
  const next = findNextWrite(history)
  const continues = new Uint8Array(history.opCount) // write op -> 1 if it is not its transaction's first
  for (const write of next) if (write !== NONE) continues[write] = 1
  let { foreignReadCount, lateReadCount } = reads
  for (let i = 0; i < reads.offendingOp.length; i++) {
    const op = reads.offendingOp[i]!
    const version = isInternal[reads.offendingKind[i]!] ? foreignVersion(history, op) : null
    if (version === NONE) continue
    if (version === null || (version >= 0 && isTorn(history, op, version, next, continues))) {
      offendingOp.push(op)
      const kind = version === null ? reads.offendingKind[i]! : OFFENCES.indexOf('IntermediateRead')
      offendingKind.push(kind)
      continue
    }
    if (history.opKind[op] === READ && misreportsVersion(history, op)) {
      offendingOp.push(op)
      offendingKind.push(OFFENCES.indexOf('WrongVersion'))
      continue
    }
    opSource[op] = version === INITIAL ? INITIAL : history.opTxn[version]!
    if (versions && history.opKind[op] !== READ) versions.readFrom[op] = version
    foreignReadCount++
    if (opSource[op] > history.opTxn[op]!) lateReadCount++
  }
  return {
    ...reads,
    opSource,
    offendingOp: offendingOp.view(),
    offendingKind: offendingKind.view(),
    foreignReadCount,
    lateReadCount,
    versions,
  }
}

/** The last write of another transaction that the read shows, INITIAL, NONE if it shows only its own. */
function foreignVersion(history: History, read: number): number {
  const { opKind, opTxn } = history
  const isOwn = (write: number) => write >= 0 && opTxn[write] === opTxn[read]
  if (opKind[read] === READ) return isOwn(history.readFrom[read]!) ? NONE : history.readFrom[read]!
  return foreignElements(history, read).at(-1) ?? INITIAL
}

function foreignElements(history: History, read: number): number[] {
  const { listStart, listFrom, opValue, opTxn } = history
  const list = opValue[read]!
  const shown = Array.from(listFrom.subarray(listStart[list]!, listStart[list + 1]!))
  return shown.filter((append) => opTxn[append] !== opTxn[read])
}

/** Whether the read shows only part of what some other transaction wrote to the key. */
function isTorn(
  history: History,
  read: number,
  version: number,
  next: Int32Array,
  continues: Uint8Array,
): boolean {
  if (history.opKind[read] === READ) return next[version] !== NONE
  const shown = foreignElements(history, read)
  let due: number = NONE // what the transaction of the last element appended next
  for (const append of shown) {
    if (due === NONE ? continues[append] === 1 : due !== append) return true
    due = next[append]!
  }
  return due !== NONE
}

/** write op -> the next write of its key by its own transaction, or NONE. */
function findNextWrite({ opKind, opKey, opTxn, opCount, keyCount }: History): Int32Array {
  const next = new Int32Array(opCount).fill(NONE)
  const last = new Int32Array(keyCount).fill(NONE) // key -> the write seen last
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
    const before = last[opKey[op]!]!
    if (before !== NONE && opTxn[before] === opTxn[op]) next[before] = op
    last[opKey[op]!] = op
  }
  return next
}
