// Versions as the store itself numbers them: a sequence number, a timestamp, an LSN, given with
// reads and writes of registers. Where every write of a key that takes effect has one, the order of
// the key's versions is known, a fact that every level has to agree with (docs/levels.md: known
// version order). A write that was not told its version has that of those who read it; of several
// writes of a key by one transaction only the last is a version, and its number stands for all.
//
// Versions are decimals of any length, compared as times are (times.ts), or all of them LSNs. What
// is no order is refused: a version that two writes share, a key of which some writes have none, an
// initial state that does not come first. That a read reports another version than the write it saw
// has is a finding, not an error. O(n). Main class: VersionColumns.

import { InputError } from '../base/errors.ts'
import { FloatColumn } from '../base/grow.ts'
import { APPEND, type History, INITIAL, NONE, READ, type Versions, WRITE } from './history.ts'
import { showValue } from './initial.ts'
import { readTime, spread, type Time } from './times.ts'

/** A version as it was given. */
export interface GivenVersion extends Time {
  readonly isLsn: boolean
}

export const VERSION_HINT =
  'a version is a number, such as a sequence number or a timestamp, or an LSN such as "16/B374D848"'
export const NO_VERSION = 'only reads and writes of registers have versions'
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const LSN = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i

/** What to do where an operation that is not of a register was given a version. */
export function versionHint(verb: string): string {
  switch (verb) {
    case 'r':
    case 'append':
      return 'lists show the order of their versions themselves'
    case 'cas':
    case 'insert':
      return 'let it be that of the transaction: "version" beside "ops"'
    case 'inc':
      return 'increments commute, so a counter has no versions: leave it out'
    default:
      return 'leave it out'
  }
}

/** The version that a number stands for, null if it is too long, too large or too small. */
export function versionOfNumber(text: string): GivenVersion | null {
  const time = readTime(text)
  return time && { ...time, isLsn: false }
}

/** The version that an LSN stands for, null if the text is none. */
export function versionOfLsn(text: string): GivenVersion | null {
  const parts = LSN.exec(text)
  if (parts === null) return null
  const [high, low] = [BigInt(`0x${parts[1]}`), BigInt(`0x${parts[2]}`)]
  return { ...readTime(String((high << 32n) | low))!, isLsn: true }
}

/** Whether a text is a version in either form. */
export function isVersionText(text: string): boolean {
  return LSN.test(text) || (NUMBER.test(text) && versionOfNumber(text) !== null)
}

/** A version that an operation has, in either form. */
export function versionOfText(text: string): GivenVersion {
  return (versionOfLsn(text) ?? versionOfNumber(text))!
}

/** Versions while a history is built, by the arrival of operations. */
export class VersionColumns {
  private readonly given = new FloatColumn() // arrival -> version, NaN if there is none
  private readonly texts = new Map<number, string>() // 2 · arrival -> a version its double is not
  private readonly ofTxn = new FloatColumn() // txn -> version of all that it writes, NaN
  private readonly txnTexts = new Map<number, string>() // txn -> that, if its double is not
  private isLsn: boolean | null = null

  /** False if the version is of another kind than those before it. */
  set(arrival: number, version: GivenVersion): boolean {
    if (!this.accepts(version)) return false
    extend(this.given, arrival + 1)
    this.given.data[arrival] = version.value
    if (version.text !== null) this.texts.set(2 * arrival, version.text)
    return true
  }

  /** The same for all that a transaction writes and has no version of its own. */
  setTxn(txn: number, version: GivenVersion): boolean {
    if (!this.accepts(version)) return false
    extend(this.ofTxn, txn + 1)
    this.ofTxn.data[txn] = version.value
    if (version.text !== null) this.txnTexts.set(txn, version.text)
    return true
  }

  /** Whether the operation was told its version. */
  has(arrival: number): boolean {
    return arrival < this.given.length && !Number.isNaN(this.given.data[arrival]!)
  }

  private accepts({ isLsn }: GivenVersion): boolean {
    this.isLsn ??= isLsn
    return this.isLsn === isLsn
  }

  /**
   * Throws InputError for what is no order.
   * @param arrivals op -> arrival; null if they are the same
   */
  finish(history: History, arrivals: Int32Array | null): Versions {
    const { opCount, opTxn, opKind } = history
    const { given, texts, ofTxn } = this
    this.expectRegisters(history)
    extend(given, opCount)
    const column = given.view()
    const byTxn = ofTxn.view()
    for (let op = 0; byTxn.length > 0 && op < opCount; op++) {
      const txn = opTxn[op]!
      const arrival = arrivals === null ? op : arrivals[op]!
      if (opKind[op] !== WRITE || txn >= byTxn.length || !Number.isNaN(column[arrival]!)) continue
      column[arrival] = byTxn[txn]!
      if (this.txnTexts.size === 0) continue
      const text = this.txnTexts.get(txn)
      if (text !== undefined) texts.set(2 * arrival, text)
    }
    if (texts.size > 0) spread([column, null], texts)
    const textAt = (slot: number) => {
      const digits = texts.get(2 * slot) ?? String(column[slot])
      return this.isLsn ? lsnOf(BigInt(digits)) : digits
    }
    let opVersion = column
    if (arrivals !== null) {
      opVersion = new Float64Array(opCount)
      for (let op = 0; op < opCount; op++) opVersion[op] = column[arrivals[op]!]!
    }
    const text = (op: number) => textAt(arrivals === null ? op : arrivals[op]!)
    return new Settling(history, opVersion, text).settle()
  }

  /** Of what lists and counters have, no version would be used: to drop it would hide what it says. */
  private expectRegisters({ opCount, opTxn, opKind, spans, txnName, placeOf }: History): void {
    const byTxn = this.ofTxn.view()
    for (let op = 0; byTxn.length > 0 && op < opCount; op++) {
      const isIncrement = opKind[op] === WRITE && spans !== null && spans.opSpan[op] !== NONE
      const isGiven = !Number.isNaN(byTxn[opTxn[op]!] ?? Number.NaN)
      if (!isGiven || (opKind[op] !== APPEND && !isIncrement)) continue
      const what = isIncrement ? 'adds to a counter or a set' : 'appends to a list'
      const message = `transaction ${txnName(opTxn[op]!)} has a version and ${what}`
      const hint =
        'versions are of registers: leave it out, or give it to single writes, ["w","x",1,{"version":3}]'
      throw new InputError('bad-version', message, placeOf(op), hint)
    }
  }
}

/** Makes a column that long; what is new is not known. */
function extend(column: FloatColumn, length: number): void {
  const { length: from } = column
  if (length <= from) return
  column.grow(length)
  column.data.fill(Number.NaN, from, length)
  column.length = length
}

function lsnOf(version: bigint): string {
  const hex = (part: bigint) => part.toString(16).toUpperCase()
  return `${hex(version >> 32n)}/${hex(version & 0xffffffffn)}`
}

/** From versions as they were given to orders of versions. */
class Settling {
  private readonly isLast: Uint8Array // op -> 1 if it is the last write of its key in its txn
  private readonly lastOp: Int32Array // op -> its transaction's last write of the key, of writes
  private readonly source: Int32Array // op -> operation that the version was given with

  constructor(
    private readonly history: History,
    private readonly opVersion: Float64Array,
    private readonly givenText: (op: number) => string,
  ) {
    const { opCount } = history
    this.isLast = new Uint8Array(opCount)
    this.lastOp = new Int32Array(opCount).fill(NONE)
    this.source = new Int32Array(opCount)
    for (let op = 0; op < opCount; op++) this.source[op] = op
  }

  settle(): Versions {
    const { opVersion, source } = this
    this.findLastWrites()
    this.learnFromReads()
    const initial = this.findInitial()
    const { orderStart, order } = this.orderVersions()
    this.expectInitialFirst(orderStart, order)
    const text = (op: number) => (Number.isNaN(opVersion[op]!) ? null : this.givenText(source[op]!))
    return { opVersion, initial, orderStart, order, text }
  }

  private findLastWrites(): void {
    const { txnCount, txnOpStart, opKind, opKey, keyCount } = this.history
    const lastTxn = new Int32Array(keyCount).fill(NONE) // key -> who wrote it so far
    const last = new Int32Array(keyCount) // key -> that one's last write
    for (let txn = 0; txn < txnCount; txn++) {
      for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
        if (opKind[op] !== WRITE) continue
        const key = opKey[op]!
        if (lastTxn[key] !== txn) {
          lastTxn[key] = txn
          last[key] = op
          this.isLast[op] = 1
        }
        this.lastOp[op] = last[key]!
      }
    }
  }

  /** A write without a version has that of the first read that tells it. */
  private learnFromReads(): void {
    const { opCount, opKind, opTxn, readFrom, readTxn, txnCounts } = this.history
    const { opVersion, source, lastOp, isLast } = this
    for (let op = 0; op < opCount; op++) {
      if (opKind[op] !== READ || Number.isNaN(opVersion[op]!) || !txnCounts[opTxn[op]!]) continue
      const write = readFrom[op]!
      if (write < 0 || readTxn[op] === opTxn[op] || !txnCounts[readTxn[op]!]) continue
      if (isLast[write] && Number.isNaN(opVersion[write]!)) {
        opVersion[write] = opVersion[op]!
        source[write] = op
      }
    }
    // The last write stands for all of its transaction and key.
    for (let op = 0; op < opCount; op++) {
      if (opKind[op] !== WRITE || isLast[op] || !txnCounts[opTxn[op]!]) continue
      opVersion[op] = opVersion[lastOp[op]!]!
      source[op] = source[lastOp[op]!]!
    }
  }

  /** key -> the version of its initial state: as it was written, else as the first read tells. */
  private findInitial(): Float64Array {
    const { opCount, opKind, opTxn, opKey, readFrom, txnCounts, txnIsInitial } = this.history
    const initial = new Float64Array(this.history.keyCount).fill(Number.NaN)
    for (const kind of [WRITE, READ]) {
      for (let op = 0; op < opCount; op++) {
        if (opKind[op] !== kind || Number.isNaN(this.opVersion[op]!)) continue
        const txn = opTxn[op]!
        const tells =
          kind === WRITE ? txnIsInitial[txn] : txnCounts[txn] && readFrom[op] === INITIAL
        const key = opKey[op]!
        if (tells && Number.isNaN(initial[key]!)) initial[key] = this.opVersion[op]!
      }
    }
    return initial
  }

  private orderVersions() {
    const { opCount, opTxn, opKey, keyCount, txnCounts } = this.history
    const { isLast, opVersion } = this
    const orderStart = new Int32Array(keyCount + 1)
    const missing = new Int32Array(keyCount).fill(NONE) // key -> a write of it without a version
    for (let op = 0; op < opCount; op++) {
      if (!isLast[op] || !txnCounts[opTxn[op]!]) continue
      if (Number.isNaN(opVersion[op]!)) missing[opKey[op]!] = op
      else orderStart[opKey[op]! + 1]!++
    }
    for (let key = 0; key < keyCount; key++) {
      if (orderStart[key + 1]! > 0 && missing[key] !== NONE) throw this.lacksVersion(missing[key]!)
      orderStart[key + 1]! += orderStart[key]!
    }
    const next = orderStart.slice()
    const order = new Int32Array(orderStart[keyCount]!)
    for (let op = 0; op < opCount; op++) {
      const hasPlace = isLast[op] && txnCounts[opTxn[op]!] && !Number.isNaN(opVersion[op]!)
      if (hasPlace) order[next[opKey[op]!]!++] = op
    }
    for (let key = 0; key < keyCount; key++) {
      this.sort(order.subarray(orderStart[key]!, orderStart[key + 1]!))
    }
    return { orderStart, order }
  }

  /** By version; those of histories in commit order are sorted already. */
  private sort(writes: Int32Array): void {
    const { opVersion } = this
    let isSorted = true
    for (let i = 1; i < writes.length && isSorted; i++) {
      isSorted = opVersion[writes[i - 1]!]! < opVersion[writes[i]!]!
    }
    if (isSorted) return
    writes.sort((a, b) => opVersion[a]! - opVersion[b]! || a - b)
    for (let i = 1; i < writes.length; i++) {
      const [one, other] = [writes[i - 1]!, writes[i]!]
      if (opVersion[one] === opVersion[other]) throw this.sharedVersion(one, other)
    }
  }

  /** What spells out the initial state has to have the least version, if it has one. */
  private expectInitialFirst(orderStart: Int32Array, order: Int32Array): void {
    const { opCount, opKey, opKind, opTxn, txnIsInitial } = this.history
    // Those that spell it out lead.
    for (let op = 0; op < opCount && txnIsInitial[opTxn[op]!]; op++) {
      const key = opKey[op]!
      if (opKind[op] !== WRITE || orderStart[key] === orderStart[key + 1]) continue
      const first = order[orderStart[key]!]!
      if (!(this.opVersion[op]! >= this.opVersion[first]!)) continue
      throw this.fail(
        op,
        `version ${this.givenText(op)} of the initial state of ${this.nameOf(op)} does not come before version ${this.givenText(this.source[first]!)}, by ${this.writerOf(first)}`,
        'the initial state comes first: let it have the least version, or none',
      )
    }
  }

  private sharedVersion(first: number, second: number): InputError {
    const version = this.givenText(this.source[second]!)
    const by = `by ${this.writerOf(first)} and by ${this.writerOf(second)}`
    return this.fail(
      second,
      `version ${version} of key ${this.nameOf(second)} is given to two writes, ${by}`,
      'versions order the writes of a key, so each has its own; timestamps may have to be finer',
    )
  }

  private lacksVersion(write: number): InputError {
    return this.fail(
      write,
      `key ${this.nameOf(write)} has versions, but the write by ${this.writerOf(write)} has none, and no read tells it`,
      'give every write of a key that takes effect a version, or no operation on that key',
    )
  }

  private nameOf(op: number): string {
    return showValue(this.history.keyName(this.history.opKey[op]!))
  }

  private writerOf(op: number): string {
    return this.history.txnName(this.history.opTxn[op]!)
  }

  private fail(op: number, message: string, hint: string): InputError {
    return new InputError('bad-version', message, this.history.placeOf(op), hint)
  }
}

/**
 * Whether a read of another transaction's write, sound otherwise, reports another version than that
 * write has; of the initial state, one that does not come before all others.
 */
export function misreportsVersion(history: History, read: number): boolean {
  const { versions, opKey, readFrom } = history
  const version = versions?.opVersion[read] ?? Number.NaN
  if (versions === null || Number.isNaN(version)) return false
  const write = readFrom[read]!
  if (write !== INITIAL) return versions.opVersion[write] !== version
  const key = opKey[read]!
  if (versions.initial[key] !== version) return true
  const first = versions.orderStart[key]!
  const isOrdered = first < versions.orderStart[key + 1]!
  return isOrdered && version >= versions.opVersion[versions.order[first]!]!
}

/** The same versions where operations have other numbers, and there may be more of them. */
export function renumberVersions(
  versions: Versions,
  copyOf: Int32Array, // op -> its new number
  opOf: Int32Array, // new number -> op, NONE if it is new
  keyCount: number,
): Versions {
  const { opVersion, initial, orderStart, order } = versions
  const known = orderStart.length - 1
  const starts = new Int32Array(keyCount + 1).fill(order.length)
  starts.set(orderStart)
  const initials = new Float64Array(keyCount).fill(Number.NaN)
  initials.set(initial.subarray(0, known))
  return {
    opVersion: Float64Array.from(opOf, (op) => (op === NONE ? Number.NaN : opVersion[op]!)),
    initial: initials,
    orderStart: starts,
    order: order.map((op) => copyOf[op]!),
    text: (op) => (opOf[op] === NONE ? null : versions.text(opOf[op]!)),
  }
}
