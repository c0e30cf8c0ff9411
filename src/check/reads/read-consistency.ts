// Read Consistency, part of every level: each read of a transaction that counts must have seen the
// last write of a transaction that counts, or its own latest write. One pass over the operations
// names every offending read by the first rule it breaks (definitions: ThinAirRead, AbortedRead,
// FutureRead, NotMyLastWrite, NotMyOwnWrite, IntermediateRead) and leaves the others as `opSource`,
// the form all deeper checks work on. The same pass collects what cut isolation forbids: a second
// read of a key from another transaction. O(n), two stamps per key. Main function: checkReads.

import { IntColumn } from '../../base/grow.ts'
import {
  ABORTED,
  APPEND,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_LIST,
  WRITE,
} from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import { checkListReads, type ListReads } from './list-reads.ts'

/** Names of offending reads, by code. */
export const OFFENCES = [
  'ThinAirRead',
  'AbortedRead',
  'FutureRead',
  'NotMyLastWrite',
  'NotMyOwnWrite',
  'IntermediateRead',
  'DuplicateElements',
  'IncompatibleOrder',
] as const satisfies readonly AnomalyName[]

const OWN = -2 // a sound read of the transaction's own write
const THIN_AIR = 0
const ABORTED_READ = 1
const FUTURE = 2
const NOT_MY_LAST = 3
const NOT_MY_OWN = 4
const INTERMEDIATE = 5

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
  readonly lists: ListReads | null
}

export function checkReads(history: History): ReadCheck {
  const opSource = new Int32Array(history.opCount).fill(NONE)
  const offendingOp = new IntColumn(16)
  const offendingKind = new IntColumn(16)
  const lists = history.listStart.length > 1 ? checkListReads(history) : null
  if (lists) {
    for (let i = 0; i < lists.offendingOp.length; i++) {
      offendingOp.push(lists.offendingOp[i]!)
      offendingKind.push(OFFENCES.indexOf(lists.offence[i]!))
    }
  }
  const scan = new ReadScan(history, opSource, offendingOp, offendingKind, lists)
  for (let txn = 0; txn < history.txnCount; txn++) {
    if (history.txnCounts[txn]) scan.visit(txn)
  }
  return {
    opSource,
    offendingOp: offendingOp.view(),
    offendingKind: offendingKind.view(),
    unrepeatable: scan.unrepeatable.view(),
    foreignReadCount: scan.foreignReadCount,
    lateReadCount: scan.lateReadCount,
    lists,
  }
}

class ReadScan {
  readonly unrepeatable = new IntColumn(16)
  foreignReadCount = 0
  lateReadCount = 0
  private readonly ownTxn: Int32Array // key -> txn that last wrote it in this scan
  private readonly ownOp: Int32Array // key -> that write
  private readonly readTxn: Int32Array // key -> txn that last read it from elsewhere
  private readonly readOp: Int32Array // key -> its first read of it
  private readonly readSource: Int32Array // key -> what its first read saw
  private readonly otherOp: Int32Array // key -> its first read of it that disagrees, or NONE
  private readonly replaced: Uint8Array | null // write op -> 1 if its own transaction overwrote it

  constructor(
    private readonly history: History,
    private readonly opSource: Int32Array,
    private readonly offendingOp: IntColumn,
    private readonly offendingKind: IntColumn,
    private readonly lists: ListReads | null,
  ) {
    this.ownTxn = new Int32Array(history.keyCount).fill(NONE)
    this.ownOp = new Int32Array(history.keyCount)
    this.readTxn = new Int32Array(history.keyCount).fill(NONE)
    this.readOp = new Int32Array(history.keyCount)
    this.readSource = new Int32Array(history.keyCount)
    this.otherOp = new Int32Array(history.keyCount)
    this.replaced = findReplaced(history)
  }

  visit(txn: number): void {
    const { txnOpStart, opKind, opKey, readFrom } = this.history
    const { ownTxn, ownOp } = this
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const kind = opKind[op]!
      const key = opKey[op]!
      if (kind === WRITE || kind === APPEND) {
        ownTxn[key] = txn
        ownOp[key] = op
      } else if (kind === READ) {
        const write = readFrom[op]!
        const offence = this.judge(txn, op, key, write)
        if (offence === NONE) this.accept(txn, op, key, write)
        else if (offence === OWN) this.compareOwn(txn, op, key)
        else {
          this.offendingOp.push(op)
          this.offendingKind.push(offence)
          const readOwn = this.readTxn[key] === txn && this.readSource[key] === txn
          if (offence === NOT_MY_OWN && readOwn) this.compare(txn, op, key, NONE)
        }
      } else if (kind === READ_LIST) {
        const write = this.lists!.readFrom[op]!
        if (write !== NONE) this.accept(txn, op, key, write)
      }
    }
  }

  /**
   * The first rule the read breaks, NONE if it is a sound read from elsewhere, OWN if of its own.
   */
  private judge(txn: number, op: number, key: number, write: number): number {
    const wroteBefore = this.ownTxn[key] === txn
    if (write < 0) {
      if (write === NONE) return THIN_AIR
      return wroteBefore ? NOT_MY_OWN : NONE
    }
    const writer = this.history.opTxn[write]!
    if (writer === txn) {
      if (write > op) return FUTURE
      return this.ownOp[key] === write ? OWN : NOT_MY_LAST
    }
    if (this.history.txnStatus[writer] === ABORTED) return ABORTED_READ
    if (wroteBefore) return NOT_MY_OWN
    return this.replaced?.[write] ? INTERMEDIATE : NONE
  }

  private accept(txn: number, op: number, key: number, write: number): void {
    const source = write === INITIAL ? INITIAL : this.history.opTxn[write]!
    this.opSource[op] = source
    this.foreignReadCount++
    if (source > txn) this.lateReadCount++
    this.compare(txn, op, key, source)
  }

  /**
   * Reading one's own write after somebody else's version is no contradiction; reading somebody
   * else's after one's own is, besides being NotMyOwnWrite.
   */
  private compareOwn(txn: number, op: number, key: number): void {
    this.readTxn[key] = txn
    this.readOp[key] = op
    this.readSource[key] = txn
    this.otherOp[key] = NONE
  }

  /** Notes a read that disagrees with an earlier one of the same key and transaction. */
  private compare(txn: number, op: number, key: number, source: number): void {
    if (this.readTxn[key] !== txn) {
      this.readTxn[key] = txn
      this.readOp[key] = op
      this.otherOp[key] = NONE
      this.readSource[key] = source
      return
    }
    if (this.readSource[key] !== source) {
      this.unrepeatable.push(this.readOp[key]!)
      this.unrepeatable.push(op)
      if (this.otherOp[key] === NONE) this.otherOp[key] = op
    } else if (this.otherOp[key] !== NONE) {
      this.unrepeatable.push(this.otherOp[key]!)
      this.unrepeatable.push(op)
    }
  }
}

/** Marks register writes that their own transaction overwrote; null if there is none. */
function findReplaced(history: History): Uint8Array | null {
  const { opKind, opKey, opTxn, opCount, keyCount } = history
  const lastTxn = new Int32Array(keyCount).fill(NONE)
  const lastOp = new Int32Array(keyCount)
  let replaced: Uint8Array | null = null
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== WRITE) continue
    const key = opKey[op]!
    const txn = opTxn[op]!
    if (lastTxn[key] === txn) {
      replaced ??= new Uint8Array(opCount)
      replaced[lastOp[key]!] = 1
    }
    lastTxn[key] = txn
    lastOp[key] = op
  }
  return replaced
}
