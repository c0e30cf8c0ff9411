// Resolves every read to the write it saw, and refuses histories in which a key is given one value
// twice. Values are usually unique over the whole history, not only per key: then one array indexed
// by value answers every read. Where that fails (values unique per key only, or sparse integers),
// operations are grouped by key and joined key by key through a small table that stays in cache.

import { InputError } from '../base/errors.ts'
import { APPEND, type History, INITIAL, NONE, READ, READ_LIST, WRITE } from './history.ts'
import { INTERNED } from './values.ts'

/** Returns `readFrom`; fills `listFrom` and `txnIsInitial` of the draft. */
export function resolveReads(history: History): Int32Array {
  const initial = history.initial === undefined ? NONE : history.values.of(history.initial)
  markInitial(history, initial)
  const readFrom = new Int32Array(history.opCount).fill(NONE)
  if (!resolveByValue(history, initial, readFrom)) resolveByKey(history, initial, readFrom)
  if (history.listStart.length > 1) checkKeyTypes(history)
  return readFrom
}

/** Finds the transactions that only write initial values; any other write of one is a duplicate. */
function markInitial(history: History, initial: number): void {
  if (initial === NONE) return
  const { opKind, opValue, opTxn, opCount, txnIsInitial } = history
  for (let op = 0; op < opCount; op++) {
    if (opValue[op] !== initial || opKind[op] !== WRITE) continue
    const txn = opTxn[op]!
    if (txnIsInitial[txn]) continue
    if (!writesOnlyInitial(history, txn, initial)) throw duplicateOfInitial(history, op)
    txnIsInitial[txn] = 1
  }
}

function writesOnlyInitial(history: History, txn: number, initial: number): boolean {
  if (history.txnStatus[txn] !== 0) return false
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    if (history.opKind[op] !== WRITE || history.opValue[op] !== initial) return false
  }
  return true
}

/**
 * One table over all values. Returns false if some value is written to two keys or is too sparse.
 */
function resolveByValue(history: History, initial: number, readFrom: Int32Array): boolean {
  const { opKind, opKey, opValue, opCount, listValue, listFrom, txnIsInitial, opTxn } = history
  let maxSmall = -1
  for (let op = 0; op < opCount; op++) {
    const kind = opKind[op]!
    if (kind !== WRITE && kind !== APPEND) continue
    const value = opValue[op]!
    if (value < INTERNED && value > maxSmall) maxSmall = value
  }
  if (maxSmall > 16 * opCount + 65536) return false

  const bySmall = new Int32Array(maxSmall + 1).fill(NONE) // small value -> op that wrote it
  const byInterned = new Int32Array(history.values.interned.size).fill(NONE) // symbol -> op
  for (let op = 0; op < opCount; op++) {
    const kind = opKind[op]!
    if (kind !== WRITE && kind !== APPEND) continue
    const value = opValue[op]!
    if (value === initial && kind === WRITE && txnIsInitial[opTxn[op]!]) continue
    const table = value < INTERNED ? bySmall : byInterned
    const at = value < INTERNED ? value : value - INTERNED
    const first = table[at]!
    if (first !== NONE) {
      if (opKey[first] === opKey[op]) throw duplicateValue(history, first, op)
      return false
    }
    table[at] = op
  }

  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== READ) continue
    const value = opValue[op]!
    if (value === initial) {
      readFrom[op] = INITIAL
    } else if (value < INTERNED) {
      if (value > maxSmall) continue
      const writer = bySmall[value]!
      if (writer !== NONE && opKey[writer] === opKey[op]) readFrom[op] = writer
    } else {
      const writer = byInterned[value - INTERNED]!
      if (writer !== NONE && opKey[writer] === opKey[op]) readFrom[op] = writer
    }
  }
  if (listValue.length > 0 || history.listStart.length > 1) {
    forEachElement(history, (element, key) => {
      const value = listValue[element]!
      let writer = NONE
      if (value >= INTERNED) writer = byInterned[value - INTERNED]!
      else if (value <= maxSmall) writer = bySmall[value]!
      listFrom[element] = writer !== NONE && opKey[writer] === key ? writer : NONE
    })
  }
  return true
}

/** Groups writes by key, then looks every read up in the table of its key. */
function resolveByKey(history: History, initial: number, readFrom: Int32Array): void {
  const { opKind, opKey, opValue, opCount, keyCount, txnIsInitial, opTxn } = history
  const table = new KeyTable(history)
  const start = new Int32Array(keyCount + 1) // key -> first slot in `byKey`
  for (let op = 0; op < opCount; op++) start[opKey[op]! + 1]!++
  for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!
  const next = start.slice()
  const byKey = new Int32Array(opCount) // slot -> op, key by key
  for (let op = 0; op < opCount; op++) byKey[next[opKey[op]!]!++] = op

  for (let key = 0; key < keyCount; key++) {
    const from = start[key]!
    const to = start[key + 1]!
    table.reset(to - from)
    for (let slot = from; slot < to; slot++) {
      const op = byKey[slot]!
      const kind = opKind[op]!
      if (kind === APPEND || (kind === WRITE && !txnIsInitial[opTxn[op]!])) table.add(op)
    }
    for (let slot = from; slot < to; slot++) {
      const op = byKey[slot]!
      if (opKind[op] === READ) {
        readFrom[op] = opValue[op] === initial ? INITIAL : table.find(opValue[op]!)
      } else if (opKind[op] === READ_LIST) {
        const list = opValue[op]!
        for (let i = history.listStart[list]!; i < history.listStart[list + 1]!; i++) {
          history.listFrom[i] = table.find(history.listValue[i]!)
        }
      }
    }
  }
}

/** Open addressing from value to write op for one key at a time; sized once for the largest. */
class KeyTable {
  private slots = new Int32Array(64).fill(NONE)
  private readonly used: number[] = []
  private mask = 63
  private readonly history: History

  constructor(history: History) {
    this.history = history
  }

  reset(opCount: number): void {
    for (const at of this.used) this.slots[at] = NONE
    this.used.length = 0
    let size = 64
    while (size < opCount * 2) size *= 2
    if (size > this.slots.length) this.slots = new Int32Array(size).fill(NONE)
    this.mask = size - 1
  }

  add(op: number): void {
    const { opValue } = this.history
    const value = opValue[op]!
    let at = slotOf(value) & this.mask
    for (;;) {
      const other = this.slots[at]!
      if (other === NONE) break
      if (opValue[other] === value) throw duplicateValue(this.history, other, op)
      at = (at + 1) & this.mask
    }
    this.slots[at] = op
    this.used.push(at)
  }

  find(value: number): number {
    const { opValue } = this.history
    let at = slotOf(value) & this.mask
    for (;;) {
      const op = this.slots[at]!
      if (op === NONE || opValue[op] === value) return op
      at = (at + 1) & this.mask
    }
  }
}

function slotOf(value: number): number {
  const h = Math.imul(value, 0x9e3779b1)
  return h ^ (h >>> 15)
}

function forEachElement(history: History, visit: (element: number, key: number) => void): void {
  const { opKind, opKey, opValue, opCount, listStart } = history
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== READ_LIST) continue
    const list = opValue[op]!
    const key = opKey[op]!
    for (let i = listStart[list]!; i < listStart[list + 1]!; i++) visit(i, key)
  }
}

/** A key is a register or a list, never both. */
function checkKeyTypes(history: History): void {
  const firstUse = new Int32Array(history.keyCount).fill(NONE) // key -> op that used it first
  const { opKind, opKey, opCount } = history
  for (let op = 0; op < opCount; op++) {
    const key = opKey[op]!
    const first = firstUse[key]!
    if (first === NONE) firstUse[key] = op
    else if (opKind[first]! >= APPEND !== opKind[op]! >= APPEND) {
      throw new InputError(
        'mixed-key',
        `key ${show(history.keyName(key))} is used both as a register and as a list`,
        history.placeOf(op),
        'give registers and lists different keys',
      )
    }
  }
}

function duplicateValue(history: History, first: number, second: number): InputError {
  // Operations are numbered by transaction: tell the two apart by their place in the input.
  const a = history.placeOf(first)
  const b = history.placeOf(second)
  const swap = a && b && (a.line > b.line || (a.line === b.line && a.column > b.column))
  const [earlier, later] = swap ? [second, first] : [first, second]
  const place = history.placeOf(earlier)
  const [by, and] = [earlier, later].map((op) => history.txnName(history.opTxn[op]!))
  const where = place ? ` (first at line ${place.line})` : `, by ${by} and by ${and}`
  const value = show(history.valueOf(later))
  const key = show(history.keyName(history.opKey[later]!))
  return new InputError(
    'duplicate-value',
    `value ${value} of key ${key} is written twice${where}`,
    history.placeOf(later),
    'every write of a key must write a value of its own, or reads cannot be told apart',
  )
}

function duplicateOfInitial(history: History, op: number): InputError {
  const value = show(history.valueOf(op))
  const key = show(history.keyName(history.opKey[op]!))
  return new InputError(
    'duplicate-value',
    `value ${value} of key ${key} is written twice (it is the initial value, which every key has first)`,
    history.placeOf(op),
    'only a transaction that writes nothing but initial values may write one',
  )
}

function show(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}
