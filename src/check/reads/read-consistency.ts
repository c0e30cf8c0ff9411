// Read Consistency, part of every level: each read of a transaction that counts must have seen the
// last write of a transaction that counts, or its own latest write. One pass over the operations
// names every offending read by the first rule it breaks (docs/levels.md: ThinAirRead, AbortedRead,
// FutureRead, NotMyLastWrite, NotMyOwnWrite, IntermediateRead; DuplicateRow and VanishedRow, where
// a read did not return one row; LostCommit, where an audit misses a commit; WrongVersion, where a
// read reports another version than what it saw has) and leaves the others as `opSource`, the form
// all deeper checks work on. The same pass collects what cut isolation forbids: a second read of a
// key from another transaction. What a transaction did to a key before matters only to transactions
// that use a key twice; others go through `visitPlain`, which keeps nothing. O(n). Main function:
// checkReads.

import { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import {
  ABORTED,
  APPEND,
  type History,
  INITIAL,
  listsOf,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  WRITE,
} from '../../history/history.ts'
import { misreportsVersion } from '../../history/versions.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import { checkListReads, type ListReads } from './list-reads.ts'
import { LostCommits } from './lost-commits.ts'
import { findKnownVersions, type VersionReads } from './version-reads.ts'

/** Names of offending reads, by code: what tells the most comes first. */
export const OFFENCES = [
  'LostCommit',
  'DuplicateRow',
  'VanishedRow',
  'ThinAirRead',
  'AbortedRead',
  'FutureRead',
  'NotMyLastWrite',
  'NotMyOwnWrite',
  'IntermediateRead',
  'DuplicateElements',
  'IncompatibleOrder',
  'WrongVersion',
] as const satisfies readonly AnomalyName[]

const OWN = -2 // a sound read of the transaction's own write
const LOST_COMMIT = OFFENCES.indexOf('LostCommit')
const DUPLICATE_ROW = OFFENCES.indexOf('DuplicateRow')
const VANISHED_ROW = OFFENCES.indexOf('VanishedRow')
const THIN_AIR = OFFENCES.indexOf('ThinAirRead')
const ABORTED_READ = OFFENCES.indexOf('AbortedRead')
const FUTURE = OFFENCES.indexOf('FutureRead')
const NOT_MY_LAST = OFFENCES.indexOf('NotMyLastWrite')
const NOT_MY_OWN = OFFENCES.indexOf('NotMyOwnWrite')
const INTERMEDIATE = OFFENCES.indexOf('IntermediateRead')
const WRONG_VERSION = OFFENCES.indexOf('WrongVersion')

export interface ReadCheck {
  /**
   * op -> transaction that a sound read of another transaction's write saw, INITIAL for the initial
   * state; NONE for writes, reads of own writes, offending reads, and transactions left out.
   */
  readonly opSource: Int32Array
  readonly offendingOp: Int32Array // offence -> read op
  readonly offendingKind: Int32Array // offence -> index into OFFENCES
  readonly unrepeatable: Int32Array // pairs: the first read of a key, a later one from elsewhere
  /** Sound reads of other transactions' writes, and how many of them are from one named later. */
  readonly foreignReadCount: number
  readonly lateReadCount: number
  /** Orders of versions that are known; null if there are none but from reads of registers. */
  readonly versions: VersionReads | null
  /** What audits showed to be lost, and for reads of theirs, which write; null without audits. */
  readonly lost: LostCommits | null
  readonly lostWrite: ReadonlyMap<number, number> // read op -> write of the commit that is gone
}

export function checkReads(history: History, deadline: Deadline = Deadline.none()): ReadCheck {
  const opSource = new Int32Array(history.opCount)
  const offendingOp = new IntColumn(16)
  const offendingKind = new IntColumn(16)
  const lists = history.listStart.length > 1 ? checkListReads(history, deadline) : null
  lists?.offendingOp.forEach((op, i) => {
    offendingOp.push(op)
    offendingKind.push(OFFENCES.indexOf(lists.offence[i]!))
  })
  const repeats = findRepeats(history)
  const scan = new ReadScan(history, repeats, opSource, offendingOp, offendingKind, lists)
  for (let txn = 0; txn < history.txnCount; txn++) {
    deadline.step()
    const isPlain = !(repeats[txn] || lists || history.rows)
    if (isPlain && history.txnCounts[txn]) {
      scan.visitPlain(txn)
      continue
    }
    opSource.fill(NONE, history.txnOpStart[txn]!, history.txnOpStart[txn + 1]!)
    if (history.txnCounts[txn]) scan.visit(txn)
  }
  const lost = LostCommits.of(history, opSource)
  const lostWrite = lost ? scan.visitAudits(lost) : new Map()
  return {
    opSource,
    offendingOp: offendingOp.view(),
    offendingKind: offendingKind.view(),
    unrepeatable: scan.unrepeatable.view(),
    foreignReadCount: scan.foreignReadCount,
    lateReadCount: scan.lateReadCount,
    versions: findKnownVersions(history, lists),
    lost,
    lostWrite,
  }
}

// What a scan keeps of each key lies side by side, one cache line for whatever an operation asks.
const KEY_STRIDE = 8
const OWN_TXN = 0 // transaction that last wrote the key in this scan
const OWN_OP = 1 // that write
const READ_TXN = 2 // transaction that last read the key
const READ_OP = 3 // its first read of it
const READ_SOURCE = 4 // what that read saw
const OTHER_OP = 5 // its first read of it that disagrees, or NONE

class ReadScan {
  readonly unrepeatable = new IntColumn(16)
  foreignReadCount = 0
  lateReadCount = 0
  private readonly keys: Int32Array // key · KEY_STRIDE -> OWN_TXN …
  private readonly replaced: Uint8Array | null // write op -> 1 if its own transaction overwrote it
  private readonly anyAborted: boolean
  private readonly hasVersions: boolean

  constructor(
    private readonly history: History,
    private readonly repeats: Uint8Array, // txn -> 1 if it uses a key twice
    private readonly opSource: Int32Array,
    private readonly offendingOp: IntColumn,
    private readonly offendingKind: IntColumn,
    private readonly lists: ListReads | null,
  ) {
    this.keys = new Int32Array(history.keyCount * KEY_STRIDE).fill(NONE)
    this.replaced = findReplaced(history, repeats)
    this.anyAborted = history.txnStatus.includes(ABORTED)
    this.hasVersions = history.versions !== null
  }

  /** A transaction that counts, without list operations, that uses no key twice. */
  visitPlain(txn: number): void {
    const { txnOpStart, opKind, readFrom, readTxn, txnStatus } = this.history
    const { opSource, anyAborted, replaced, repeats } = this
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      opSource[op] = NONE
      if (opKind[op] !== READ) continue
      const writer = readTxn[op]!
      let offence: number = NONE
      if (writer < 0) {
        if (readFrom[op] === NONE) offence = THIN_AIR
      } else if (anyAborted && txnStatus[writer] === ABORTED) offence = ABORTED_READ
      // Only who uses a key twice overwrites itself, and few do: the write lies afar.
      else if (replaced !== null && repeats[writer] === 1 && replaced[readFrom[op]!] === 1) {
        offence = INTERMEDIATE
      }
      if (offence === NONE && this.hasVersions && misreportsVersion(this.history, op)) {
        offence = WRONG_VERSION
      }
      if (offence !== NONE) {
        this.offendingOp.push(op)
        this.offendingKind.push(offence)
        continue
      }
      opSource[op] = writer
      this.foreignReadCount++
      if (writer > txn) this.lateReadCount++
    }
  }

  visit(txn: number): void {
    const { txnOpStart, opKind, opKey, readFrom, readTxn } = this.history
    const { keys } = this
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const kind = opKind[op]!
      const at = opKey[op]! * KEY_STRIDE
      if (kind === WRITE || kind === APPEND) {
        keys[at + OWN_TXN] = txn
        keys[at + OWN_OP] = op
      } else if (kind === READ) {
        const offence = this.judge(txn, op, at, readFrom[op]!, readTxn[op]!)
        if (offence === NONE) this.accept(txn, op, at, readTxn[op]!)
        else if (offence === OWN) this.note(txn, op, at, txn)
        else this.offend(txn, op, at, offence)
      } else if (kind === READ_LIST) {
        const write = this.lists!.readFrom[op]!
        if (write !== NONE) {
          this.accept(txn, op, at, write === INITIAL ? INITIAL : this.history.opTxn[write]!)
        }
      } else if (kind === READ_ROWS) {
        const isNone = listsOf(this.history, op).length === 0
        this.offendingOp.push(op)
        this.offendingKind.push(isNone ? VANISHED_ROW : DUPLICATE_ROW)
      }
    }
  }

  /** Leaves out reads of audits that show a commit to be lost: read -> a write of that commit. */
  visitAudits(lost: LostCommits): Map<number, number> {
    const { txnCount, txnCounts, txnAudit, txnOpStart } = this.history
    const found = new Map<number, number>()
    for (let txn = 0; txn < txnCount; txn++) {
      if (!txnAudit![txn] || !txnCounts[txn]) continue
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const source = this.opSource[op]!
        if (source === NONE) continue
        const write = this.findLost(lost, txn, op)
        if (write === NONE) continue
        found.set(op, write)
        this.offendingOp.push(op)
        this.offendingKind.push(LOST_COMMIT)
        this.opSource[op] = NONE
        this.foreignReadCount--
        if (source > txn) this.lateReadCount--
      }
    }
    return found
  }

  private findLost(lost: LostCommits, txn: number, op: number): number {
    const { opKind, opKey, opValue, readFrom, listStart, listFrom } = this.history
    if (opKind[op] === READ) return lost.find(txn, opKey[op]!, readFrom[op]!)
    const list = opValue[op]!
    const shown = new Set(listFrom.subarray(listStart[list]!, listStart[list + 1]!))
    return lost.findAppend(txn, opKey[op]!, shown)
  }

  /** The first rule the read breaks, NONE if it is sound and from elsewhere, OWN if of its own. */
  private judge(txn: number, op: number, at: number, write: number, writer: number): number {
    const wroteBefore = this.keys[at + OWN_TXN] === txn
    if (write < 0) {
      if (write === NONE) return THIN_AIR
      return wroteBefore ? NOT_MY_OWN : this.judgeVersion(op)
    }
    if (writer === txn) {
      if (write > op) return FUTURE
      return this.keys[at + OWN_OP] === write ? OWN : NOT_MY_LAST
    }
    if (this.anyAborted && this.history.txnStatus[writer] === ABORTED) return ABORTED_READ
    if (wroteBefore) return NOT_MY_OWN
    return this.replaced?.[write] ? INTERMEDIATE : this.judgeVersion(op)
  }

  /** Of a read that is sound otherwise. */
  private judgeVersion(op: number): number {
    return this.hasVersions && misreportsVersion(this.history, op) ? WRONG_VERSION : NONE
  }

  private accept(txn: number, op: number, at: number, source: number): void {
    this.opSource[op] = source
    this.foreignReadCount++
    if (source > txn) this.lateReadCount++
    this.compare(txn, op, at, source)
  }

  private offend(txn: number, op: number, at: number, offence: number): void {
    this.offendingOp.push(op)
    this.offendingKind.push(offence)
    const readOwn = this.keys[at + READ_TXN] === txn && this.keys[at + READ_SOURCE] === txn
    if (offence === NOT_MY_OWN && readOwn) this.compare(txn, op, at, NONE)
  }

  /**
   * The read with which later ones are compared. One of its own write is no contradiction after
   * somebody else's version; somebody else's after one's own is, besides being NotMyOwnWrite.
   */
  private note(txn: number, op: number, at: number, source: number): void {
    const { keys } = this
    keys[at + READ_TXN] = txn
    keys[at + READ_OP] = op
    keys[at + READ_SOURCE] = source
    keys[at + OTHER_OP] = NONE
  }

  /** Notes a read that disagrees with an earlier one of the same key and transaction. */
  private compare(txn: number, op: number, at: number, source: number): void {
    const { keys } = this
    if (keys[at + READ_TXN] !== txn) this.note(txn, op, at, source)
    else if (keys[at + READ_SOURCE] !== source) {
      this.unrepeatable.push(keys[at + READ_OP]!)
      this.unrepeatable.push(op)
      if (keys[at + OTHER_OP] === NONE) keys[at + OTHER_OP] = op
    } else if (keys[at + OTHER_OP] !== NONE) {
      this.unrepeatable.push(keys[at + OTHER_OP]!)
      this.unrepeatable.push(op)
    }
  }
}

/** txn -> 1 if it uses a key twice. */
function findRepeats(history: History): Uint8Array {
  const { opKey, txnOpStart, txnCount, keyCount } = history
  const repeats = new Uint8Array(txnCount)
  const usedBy = new Int32Array(keyCount).fill(NONE) // key -> transaction that used it last
  for (let txn = 0; txn < txnCount; txn++) {
    const end = txnOpStart[txn + 1]!
    let repeated = 0
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const key = opKey[op]!
      if (usedBy[key] === txn) repeated = 1
      usedBy[key] = txn
    }
    repeats[txn] = repeated
  }
  return repeats
}

/** Marks register writes that their own transaction overwrote; null if there is none. */
function findReplaced(history: History, repeats: Uint8Array): Uint8Array | null {
  const { opKind, opKey, txnOpStart, txnCount, opCount, keyCount } = history
  if (!repeats.includes(1)) return null
  const lastTxn = new Int32Array(keyCount).fill(NONE)
  const lastOp = new Int32Array(keyCount)
  let replaced: Uint8Array | null = null
  for (let txn = 0; txn < txnCount; txn++) {
    if (repeats[txn] === 0) continue
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] !== WRITE) continue
      const key = opKey[op]!
      if (lastTxn[key] === txn) {
        replaced ??= new Uint8Array(opCount)
        replaced[lastOp[key]!] = 1
      }
      lastTxn[key] = txn
      lastOp[key] = op
    }
  }
  return replaced
}
