// Resolves reads of registers where the input tells operations about as they happened: then nearly
// every read saw what was last written to its key, and all that is looked at is the newest version
// of each key, which stays in the cache where a table of all values would not. That values are
// unique over the whole history, one bit a value tells. The few reads of other versions are looked
// up together afterwards, in one pass over the writes of their keys. Main function:
// resolveByNewest.

import { IntColumn } from '../base/grow.ts'
import { type History, INITIAL, NONE, READ, WRITE } from './history.ts'
import { INTERNED } from './values.ts'
import type { Seen } from './writers.ts'

/** Of a key, in one cache line. */
const STRIDE = 4
const OP = 0 // the newest write, plus 1; 0 if there is none
const VALUE = 1
const TXN = 2

/** More reads of older versions than one operation in so many, and there are better ways. */
const OPS_PER_OLDER_READ = 8
const MANY_OLDER_READS = 1024 // from here on

/**
 * False, with what was found so far to be forgotten, if many reads are of older versions, if values
 * are written twice or are too sparse, or if there are lists.
 */
export function resolveByNewest(history: History, initial: number, found: Seen): boolean {
  const { opKind, opKey, opValue, opTxn, opCount, txnIsInitial } = history
  const { readFrom, readTxn } = found
  const values = new ValueBits(history)
  const newest = new Int32Array(history.keyCount * STRIDE)
  const older = new IntColumn(64)
  for (let op = 0; op < opCount; op++) {
    const kind = opKind[op]!
    const value = opValue[op]!
    const at = opKey[op]! * STRIDE
    let write: number = NONE
    let txn: number = NONE
    if (kind === READ) {
      if (value === initial) {
        write = INITIAL
        txn = INITIAL
      } else if (newest[at + VALUE] === value && newest[at + OP] !== 0) {
        write = newest[at + OP]! - 1
        txn = newest[at + TXN]!
      } else {
        older.push(op)
        if (older.length * OPS_PER_OLDER_READ > op + MANY_OLDER_READS) return false
      }
    } else if (kind !== WRITE) return false
    else if (value !== initial || !txnIsInitial[opTxn[op]!]) {
      if (!values.add(value)) return false
      newest[at + OP] = op + 1
      newest[at + VALUE] = value
      newest[at + TXN] = opTxn[op]!
    }
    readFrom[op] = write
    readTxn[op] = txn
  }
  if (older.length > 0) resolveOlder(history, older.view(), found)
  return true
}

/** Reads of versions that were not the newest when they came; no value is written twice. */
function resolveOlder(history: History, older: Int32Array, { readFrom, readTxn }: Seen): void {
  const { opKind, opKey, opValue, opTxn, opCount, keyCount } = history
  const wanted = new ValueBits(history)
  const isAsked = new Uint8Array(keyCount) // few keys: bytes that stay in the cache
  for (const read of older) {
    wanted.add(opValue[read]!)
    isAsked[opKey[read]!] = 1
  }
  const writes = new Map<number, number>() // value -> who wrote it
  for (let op = 0; op < opCount; op++) {
    if (isAsked[opKey[op]!] === 0 || opKind[op] !== WRITE) continue
    if (wanted.has(opValue[op]!)) writes.set(opValue[op]!, op)
  }
  for (const read of older) {
    const write = writes.get(opValue[read]!)
    if (write === undefined || opKey[write] !== opKey[read]) continue
    readFrom[read] = write
    readTxn[read] = opTxn[write]!
  }
}

/** A set of values: small integers as far as there are operations, and all that are interned. */
class ValueBits {
  private readonly smallCount: number
  private readonly bits: Int32Array

  constructor({ opCount, values }: History) {
    this.smallCount = opCount + 65536
    this.bits = new Int32Array((this.smallCount + values.interned.size + 31) >>> 5)
  }

  /** False if it is there, or too large to be. */
  add(value: number): boolean {
    const place = this.placeOf(value)
    if (place === NONE) return false
    const bit = 1 << (place & 31)
    if ((this.bits[place >>> 5]! & bit) !== 0) return false
    this.bits[place >>> 5]! |= bit
    return true
  }

  has(value: number): boolean {
    const place = this.placeOf(value)
    return place !== NONE && ((this.bits[place >>> 5]! >>> (place & 31)) & 1) === 1
  }

  private placeOf(value: number): number {
    if (value >= INTERNED) return value - INTERNED + this.smallCount
    return value < this.smallCount ? value : NONE
  }
}
