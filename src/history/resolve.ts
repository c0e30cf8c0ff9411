// Resolves every read to the write it saw, and refuses histories in which a key is given one value
// twice. Where the input tells operations as they happened, a read mostly saw what was last written
// to its key (resolve-newest.ts). Values are usually unique over the whole history, not only per
// key: then one array indexed by value answers every read. Where that fails (values unique per key
// only, or sparse integers), operations are grouped by key and joined key by key through a small
// table that stays in cache.

import { InputError } from '../base/errors.ts'
import {
  APPEND,
  type History,
  INITIAL,
  isOfList,
  listsOf,
  NONE,
  type PossibleWriters,
  READ,
  READ_LIST,
  READ_ROWS,
  WRITE,
  writeMask,
} from './history.ts'
import { DUPLICATES_HINT, markInitial, showValue } from './initial.ts'
import { groupByKey } from './layout.ts'
import { INSERT, type LightOps } from './light.ts'
import { addOpenReads, type OpenReads } from './open-reads.ts'
import { resolveByNewest } from './resolve-newest.ts'
import { INTERNED } from './values.ts'
import { resolveDuplicates, type Seen } from './writers.ts'

export interface Resolved extends Seen {
  /** Who else it may have been; null if no read has a choice. */
  writers: PossibleWriters | null
}

/**
 * Also fills `listFrom` and `txnIsInitial` of the draft.
 * @param allowsDuplicates whether a register may be given one value twice
 * @param open reads that do not tell whom they saw
 */
export function resolveReads(
  history: History,
  allowsDuplicates: boolean,
  open: OpenReads | null = null,
): Resolved {
  const initial = history.initial === undefined ? NONE : history.values.of(history.initial)
  // Rows of SQL tables are versions, which have names of their own.
  const duplicates = allowsDuplicates && history.sql === null
  markInitial(history, initial, duplicates)
  const found: Resolved = {
    readFrom: new Int32Array(history.opCount),
    readTxn: new Int32Array(history.opCount),
    writers: null,
  }
  if (duplicates) {
    const refuse = (first: number, second: number) => duplicateValue(history, first, second)
    found.writers = resolveDuplicates(history, initial, found, refuse)
  } else {
    const isResolved =
      resolveByNewest(history, initial, found) || resolveByValue(history, initial, found)
    if (!isResolved) resolveByKey(history, initial, found)
  }
  if (history.listStart.length > 1 || history.opKind.includes(APPEND)) checkKeyTypes(history)
  if (history.initial === undefined && history.light) findAbsent(history, history.light, found)
  if (history.rows !== null) resolveInitialRows(history, initial)
  if (open) found.writers = addOpenReads(history, open, found, initial, found.writers)
  return found
}

/** Rows of registers in their initial state: nobody wrote them. */
function resolveInitialRows(history: History, initial: number): void {
  const { opKind, opCount, listStart, listValue, listFrom } = history
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== READ_ROWS || isOfList(history, op)) continue
    for (const list of Array.from(listsOf(history, op))) {
      const at = listStart[list]!
      if (listValue[at] === initial) listFrom[at] = INITIAL
    }
  }
}

/**
 * An insert that succeeded found nothing, and so did a compare-and-set that replaced null which
 * nobody wrote: they saw the initial state, also where no value stands for it.
 */
function findAbsent(history: History, light: LightOps, found: Resolved): void {
  for (let op = 0; op < history.opCount; op++) {
    const which = light.opLight[op]!
    if (which === NONE || light.failed[which]) continue
    const isNothing = found.readFrom[op] === NONE && history.valueOf(op) === null
    if (light.kind[which] !== INSERT && !isNothing) continue
    found.readFrom[op] = INITIAL
    found.readTxn[op] = INITIAL
  }
}

/** By one table over all values. False if some value is written to two keys or is too sparse. */
function resolveByValue(history: History, initial: number, found: Resolved): boolean {
  const small = findSmall(history)
  if (small.count > history.opCount + 65536) return false
  const writers = new ValueWriters(history, initial, small)
  const chosen = new Int32Array(CHUNK_OPS)
  let isUnique = true
  forEachStretch(history, (from, to) => {
    for (let at = from; at < to && isUnique; at += CHUNK_OPS) {
      isUnique = writers.fillIn(chosen, at, Math.min(at + CHUNK_OPS, to)) === NONE
    }
  })
  if (!isUnique) {
    writers.refuseSecond()
    return false
  }
  forEachStretch(history, (from, to) => writers.lookUp(found, from, to))
  writers.resolveElements()
  return true
}

/** Who wrote each value. */
class ValueWriters {
  private readonly table: Int32Array // place of a value -> the op that wrote it, plus 1, or 0

  constructor(
    private readonly history: History,
    private readonly initial: number,
    private readonly small: SmallValues,
  ) {
    this.table = new Int32Array(small.count + history.values.interned.size)
  }

  /** Throws if the first value that is written twice in the order of the input is so to one key. */
  refuseSecond(): void {
    const { opKey, opValue, opCount } = this.history
    this.table.fill(0)
    const second = this.fillIn(new Int32Array(opCount), 0, opCount)
    const first = this.table[placeOf(opValue[second]!, this.small)]! - 1
    if (opKey[first] === opKey[second]) throw duplicateValue(this.history, first, second)
  }

  /** Takes the writes among these operations: NONE, or the first whose value is there. */
  fillIn(writes: Int32Array, from: number, to: number): number {
    const { opKind, opValue, txnIsInitial, opTxn } = this.history
    const { initial, table, small } = this
    let count = 0
    for (let op = from; op < to; op++) {
      writes[count] = op
      count -= writeMask(opKind[op]!)
    }
    for (let i = 0; i < count; i++) {
      const op = writes[i]!
      const value = opValue[op]!
      if (value === initial && opKind[op] === WRITE && txnIsInitial[opTxn[op]!]) continue
      const at = placeOf(value, small)
      if (table[at] !== 0) return op
      table[at] = op + 1
    }
    return NONE
  }

  lookUp({ readFrom, readTxn }: Resolved, from: number, to: number): void {
    const { opKind, opKey, opValue, opTxn } = this.history
    const { initial, table } = this
    const { from: least, count: smallCount } = this.small
    for (let op = from; op < to; op++) {
      let write: number = NONE
      let txn: number = NONE
      const value = opValue[op]!
      if (opKind[op] === READ) {
        if (value === initial) {
          write = INITIAL
          txn = INITIAL
        } else if ((value - least) >>> 0 < smallCount || value >= INTERNED) {
          const at = value < INTERNED ? value - least : value - INTERNED + smallCount
          const writer = table[at]! - 1
          if (writer >= 0 && opKey[writer] === opKey[op]) {
            write = writer
            txn = opTxn[writer]!
          }
        }
      }
      readFrom[op] = write
      readTxn[op] = txn
    }
  }

  resolveElements(): void {
    const { opKind, opKey, opCount, listStart } = this.history
    if (listStart.length <= 1) return
    for (let op = 0; op < opCount; op++) {
      if (opKind[op]! < READ_LIST) continue
      for (const list of Array.from(listsOf(this.history, op))) this.resolveList(opKey[op]!, list)
    }
  }

  private resolveList(key: number, list: number): void {
    const { listStart, listValue, listFrom, opKey } = this.history
    const { from, count } = this.small
    for (let i = listStart[list]!; i < listStart[list + 1]!; i++) {
      const value = listValue[i]!
      listFrom[i] = NONE
      if (value < INTERNED && (value - from) >>> 0 >= count) continue
      const writer = this.table[placeOf(value, this.small)]! - 1
      if (writer >= 0 && opKey[writer] === key) listFrom[i] = writer
    }
  }
}

/** Where in the table the value stands. */
function placeOf(value: number, { from, count }: SmallValues): number {
  return value < INTERNED ? value - from : value - INTERNED + count
}

/** Small integers that are written lie between these: the first entries of the table. */
interface SmallValues {
  readonly from: number
  readonly count: number
}

/** As few as there can be; from 0 on where that takes no more than operations do. */
function findSmall({ opKind, opValue, opCount }: History): SmallValues {
  let max = -1
  for (let op = 0; op < opCount; op++) {
    const value = opValue[op]!
    if (value > max && value < INTERNED) max = value
  }
  if (max <= opCount) return { from: 0, count: max + 1 }
  // Values out of thin air, or numbers of lists, must not make the table larger; neither must what
  // was written before the part of a history that this is.
  max = -1
  let min = INTERNED
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
    const value = opValue[op]!
    if (value >= INTERNED) continue
    if (value > max) max = value
    if (value < min) min = value
  }
  return max < 0 ? { from: 0, count: 0 } : { from: min, count: max - min + 1 }
}

/** Reads are told from writes for so many operations at once, without a branch for each. */
const CHUNK_OPS = 4096

const STRETCH_TXNS = 64 // operations of so many transactions fill a few cache lines a column

/**
 * Calls `visit` for stretches of operations that together are all of them. What happened at one
 * time was mostly written at one time: where the sessions lie one after another, walking through
 * them side by side asks for values that are still in the cache; walking through the file would
 * come back to each part of the table once a session.
 */
function forEachStretch(history: History, visit: (from: number, to: number) => void): void {
  const { sessionCount, sessionTxns, sessionTxnStart, txnOpStart, opCount, txnCount } = history
  for (let slot = 0; slot < txnCount; slot++) {
    if (sessionTxns[slot] !== slot) return visit(0, opCount)
  }
  let longest = 0
  for (let s = 0; s < sessionCount; s++) {
    longest = Math.max(longest, sessionTxnStart[s + 1]! - sessionTxnStart[s]!)
  }
  const turns = Math.ceil(longest / STRETCH_TXNS)
  for (let turn = 0; turn < turns; turn++) {
    for (let s = 0; s < sessionCount; s++) {
      const start = sessionTxnStart[s]!
      const count = sessionTxnStart[s + 1]! - start
      const from = start + Math.floor((count * turn) / turns)
      const to = start + Math.floor((count * (turn + 1)) / turns)
      visit(txnOpStart[from]!, txnOpStart[to]!)
    }
  }
}

/** Groups writes by key, then looks every read up in the table of its key. */
function resolveByKey(history: History, initial: number, found: Resolved): void {
  const { opKind, opValue, keyCount, txnIsInitial, opTxn } = history
  found.readFrom.fill(NONE)
  found.readTxn.fill(NONE)
  const table = new KeyTable(history)
  const { byKey, start } = groupByKey(history)
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
        const write = opValue[op] === initial ? INITIAL : table.find(opValue[op]!)
        found.readFrom[op] = write
        found.readTxn[op] = write >= 0 ? opTxn[write]! : write
      } else if (opKind[op]! >= READ_LIST) {
        for (const list of Array.from(listsOf(history, op))) {
          for (let i = history.listStart[list]!; i < history.listStart[list + 1]!; i++) {
            history.listFrom[i] = table.find(history.listValue[i]!)
          }
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

  constructor(private readonly history: History) {}

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

/** A key is a register or a list, never both. */
function checkKeyTypes(history: History): void {
  const firstUse = new Int32Array(history.keyCount).fill(NONE) // key -> op that used it first
  const { opKind, opKey, opCount } = history
  for (let op = 0; op < opCount; op++) {
    // A read that returned no row does not tell.
    if (opKind[op] === READ_ROWS && listsOf(history, op).length === 0) continue
    const key = opKey[op]!
    const first = firstUse[key]!
    if (first === NONE) firstUse[key] = op
    else if (isOfList(history, first) !== isOfList(history, op)) {
      throw new InputError(
        'mixed-key',
        `key ${showValue(history.keyName(key))} is used both as a register and as a list`,
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
  const value = showValue(history.valueOf(later))
  const key = showValue(history.keyName(history.opKey[later]!))
  const isRegister = history.opKind[later] === WRITE && history.sql === null
  return new InputError(
    'duplicate-value',
    `value ${value} of key ${key} is written twice${where}`,
    history.placeOf(later),
    `every write of a key must write a value of its own, or reads cannot be told apart${isRegister ? `; ${DUPLICATES_HINT}` : ''}`,
  )
}
