// Reads of lists. A read shows a whole prefix of the list's history, so every element counts: it is
// checked for thin-air, aborted, repeated and intermediate appends, the reader's own appends must
// be its tail, and all reads of one list must be prefixes of one another. The longest sound read
// gives the version order; committed appends that nobody saw come after it, in unknown order.
// Nearly every read is a prefix of a longer one, or extends it: what it adds is looked at closely,
// the rest compared. O(total length of all reads). Main function: checkListReads.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { ABORTED, APPEND, type History, INITIAL, NONE, READ_LIST } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'

type ListOffence = Extract<
  AnomalyName,
  | 'ThinAirRead'
  | 'AbortedRead'
  | 'FutureRead'
  | 'NotMyOwnWrite'
  | 'IntermediateRead'
  | 'DuplicateElements'
  | 'IncompatibleOrder'
>

export interface ListReads extends ListVersions {
  readonly readFrom: Int32Array // list read -> append it saw last besides its own, INITIAL, NONE
  readonly offendingOp: readonly number[]
  readonly offence: readonly ListOffence[]
}

/** The order of the versions, as far as reads show it. */
export interface ListVersions {
  readonly orderStart: Int32Array // key -> first slot in `order`
  readonly order: Int32Array // slot -> append op, in version order
  readonly orderRead: Int32Array // key -> the longest sound read, NONE if there is none
  readonly tailStart: Int32Array // key -> first slot in `tail`
  readonly tail: Int32Array // slot -> append op that no sound read shows, of a txn that counts
  /** write op -> a transaction that the version order puts right before it, or NONE. */
  readonly writeAfter: Int32Array
}

export function checkListReads(history: History, deadline: Deadline): ListReads {
  const { opKind, opCount, txnCounts, opTxn, opKey } = history
  const nextOwn = findNextOwnAppend(history)
  const offendingOp: number[] = []
  const offence: ListOffence[] = []
  const readFrom = new Int32Array(opCount).fill(NONE)
  const prefixLength = new Int32Array(history.listStart.length).fill(NONE) // list -> foreign part
  const longest = new Int32Array(history.keyCount).fill(NONE) // key -> list read
  const judge = new ListJudge(history, nextOwn)

  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== READ_LIST || !txnCounts[opTxn[op]!]) continue
    const length = judge.judge(op)
    deadline.step(4 + (Math.abs(length) >> 2))
    if (length < 0) {
      offendingOp.push(op)
      offence.push(judge.offence!)
      continue
    }
    prefixLength[history.opValue[op]!] = length
    const key = opKey[op]!
    const best = longest[key]!
    if (best === NONE || prefixLength[history.opValue[best]!]! < length) longest[key] = op
  }

  // Compare every sound read with the longest one of its key.
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== READ_LIST) continue
    const list = history.opValue[op]!
    const length = prefixLength[list]!
    if (length < 0) continue
    const key = opKey[op]!
    if (judge.diverges[key] && !isPrefix(history, op, length, longest[key]!)) {
      offendingOp.push(op)
      offence.push('IncompatibleOrder')
      prefixLength[list] = NONE
      continue
    }
    readFrom[op] = length === 0 ? INITIAL : history.listFrom[history.listStart[list]! + length - 1]!
  }
  return { readFrom, offendingOp, offence, ...layOutVersions(history, longest, prefixLength) }
}

class ListJudge {
  offence: ListOffence | null = null
  readonly diverges: Uint8Array // key -> 1 if two sound reads of it may disagree
  private readonly hasEarlier: Uint8Array // append op -> 1 if its transaction appended before
  private readonly seen: Int32Array // append op -> read that last showed it
  private readonly knownFrom: Int32Array // key -> first element of the longest sound read so far
  private readonly knownLength: Int32Array // key -> length of that read
  private readonly knownAt: Int32Array // append op -> place in it, counted from 1; 0 if it has none

  constructor(
    private readonly history: History,
    private readonly nextOwn: Int32Array,
  ) {
    this.hasEarlier = new Uint8Array(nextOwn.length)
    for (const next of nextOwn) if (next !== NONE) this.hasEarlier[next] = 1
    this.seen = new Int32Array(nextOwn.length).fill(NONE)
    this.knownAt = new Int32Array(nextOwn.length)
    this.diverges = new Uint8Array(history.keyCount)
    this.knownFrom = new Int32Array(history.keyCount)
    this.knownLength = new Int32Array(history.keyCount)
  }

  /** How many elements precede the reader's own appends; -1 (and `offence`) if it is not sound. */
  judge(read: number): number {
    const length = this.extendKnown(read)
    if (length >= 0) return length
    const foreign = this.judgeFully(read)
    if (foreign >= 0) this.diverges[this.history.opKey[read]!] = 1
    return foreign
  }

  /** As `judge` for reads that agree with the longest one so far; -1 for all others. */
  private extendKnown(read: number): number {
    const { opTxn, opKey, opValue, opKind, txnOpStart, listStart, listFrom } = this.history
    const { knownAt } = this
    const txn = opTxn[read]!
    const key = opKey[read]!
    const from = listStart[opValue[read]!]!
    let end = listStart[opValue[read]! + 1]!
    let shown = Number.POSITIVE_INFINITY // place of an append of its own among what others saw
    for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
      if (opKind[op] !== APPEND || opKey[op] !== key) continue
      if (op < read && (end === from || listFrom[--end] !== op)) return -1
      if (knownAt[op] !== 0) shown = knownAt[op]!
    }
    const length = end - from
    const common = Math.min(length, this.knownLength[key]!)
    const known = this.knownFrom[key]!
    for (let i = 0; i < common; i++) if (listFrom[from + i] !== listFrom[known + i]) return -1
    if (shown <= length) return -1
    for (let i = from + common; i < end; i++) if (!this.isNew(read, i, from)) return -1
    if (length > 0 && this.nextOwn[listFrom[end - 1]!] !== NONE) return -1
    if (length === common) return length
    for (let i = common; i < length; i++) knownAt[listFrom[from + i]!] = i + 1
    this.knownFrom[key] = from
    this.knownLength[key] = length
    return length
  }

  /** Whether an element beyond those known is sound, and follows the one before it as it must. */
  private isNew(read: number, i: number, from: number): boolean {
    const { opTxn, txnStatus, listFrom } = this.history
    const append = listFrom[i]!
    if (append === NONE || this.knownAt[append] !== 0 || this.seen[append] === read) return false
    const txn = opTxn[append]!
    if (txn === opTxn[read] || txnStatus[txn] === ABORTED) return false
    this.seen[append] = read
    const due = i > from ? this.nextOwn[listFrom[i - 1]!]! : NONE
    return due === NONE ? !this.hasEarlier[append] : due === append
  }

  /**
   * The same for any read, rule by rule: every element is somebody's, who did not abort; none stands
   * twice; the reader's own appends so far are the tail, and nowhere else; others' are whole.
   */
  private judgeFully(read: number): number {
    const { opTxn, opValue, txnStatus, listStart, listFrom } = this.history
    const txn = opTxn[read]!
    const from = listStart[opValue[read]!]!
    const end = listStart[opValue[read]! + 1]!
    const shown = listFrom.subarray(from, end)
    if (shown.includes(NONE)) return this.fail('ThinAirRead')
    if (shown.some((of) => txnStatus[opTxn[of]!] === ABORTED)) return this.fail('AbortedRead')
    for (const append of shown) this.seen[append] = NONE
    for (const append of shown) {
      if (this.seen[append] === read) return this.fail('DuplicateElements')
      this.seen[append] = read
    }
    if (shown.some((of) => opTxn[of] === txn && of > read)) return this.fail('FutureRead')
    const length = this.foreignLength(read)
    if (length < 0 || shown.subarray(0, length).some((append) => opTxn[append] === txn)) {
      return this.fail('NotMyOwnWrite')
    }
    return this.isWhole(from, from + length) ? length : this.fail('IntermediateRead')
  }

  /** How many elements precede the reader's own appends; -1 if those are not its tail. */
  private foreignLength(read: number): number {
    const { opTxn, opKind, opKey, opValue, txnOpStart, listStart, listFrom } = this.history
    const from = listStart[opValue[read]!]!
    let at = listStart[opValue[read]! + 1]!
    for (let op = read - 1; op >= txnOpStart[opTxn[read]!]!; op--) {
      if (opKind[op] !== APPEND || opKey[op] !== opKey[read]) continue
      if (at === from || listFrom[at - 1] !== op) return -1
      at--
    }
    return at - from
  }

  /**
   * A transaction's appends appear whole, side by side and in order: one that has a successor is
   * followed by it, and the first one shown has no predecessor.
   */
  private isWhole(from: number, end: number): boolean {
    const { listFrom } = this.history
    for (let i = from; i < end; i++) {
      const append = listFrom[i]!
      const next = this.nextOwn[append]!
      if (next !== NONE && (i + 1 === end || listFrom[i + 1] !== next)) return false
      const follows = i > from && this.nextOwn[listFrom[i - 1]!] === append
      if (this.hasEarlier[append] && !follows) return false
    }
    return true
  }

  private fail(offence: ListOffence): -1 {
    this.offence = offence
    return -1
  }
}

/** append op -> the next append to the same list by the same transaction, or NONE. */
function findNextOwnAppend(history: History): Int32Array {
  const { opKind, opKey, opTxn, opCount, keyCount } = history
  const lastTxn = new Int32Array(keyCount).fill(NONE)
  const lastOp = new Int32Array(keyCount)
  const next = new Int32Array(opCount).fill(NONE)
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== APPEND) continue
    const key = opKey[op]!
    if (lastTxn[key] === opTxn[op]) next[lastOp[key]!] = op
    lastTxn[key] = opTxn[op]!
    lastOp[key] = op
  }
  return next
}

function isPrefix(history: History, read: number, length: number, longest: number): boolean {
  if (read === longest) return true
  const { listStart, opValue, listFrom } = history
  const a = listStart[opValue[read]!]!
  const b = listStart[opValue[longest]!]!
  for (let i = 0; i < length; i++) if (listFrom[a + i] !== listFrom[b + i]) return false
  return true
}

function layOutVersions(history: History, longest: Int32Array, prefixLength: Int32Array) {
  const { keyCount, opKind, opKey, opTxn, opCount, txnCounts, listStart, listFrom } = history
  const observed = new Uint8Array(opCount) // append op -> 1 if the longest read shows it
  const orderStart = new Int32Array(keyCount + 1)
  const order = new IntColumn(64)
  for (let key = 0; key < keyCount; key++) {
    orderStart[key] = order.length
    const read = longest[key]!
    if (read === NONE) continue
    const list = history.opValue[read]!
    for (let i = 0; i < prefixLength[list]!; i++) {
      const append = listFrom[listStart[list]! + i]!
      observed[append] = 1
      order.push(append)
    }
  }
  orderStart[keyCount] = order.length

  const tailStart = new Int32Array(keyCount + 1)
  const inTail = (op: number) =>
    opKind[op] === APPEND && !observed[op] && txnCounts[opTxn[op]!] === 1
  for (let op = 0; op < opCount; op++) if (inTail(op)) tailStart[opKey[op]! + 1]!++
  for (let key = 0; key < keyCount; key++) tailStart[key + 1]! += tailStart[key]!
  const next = tailStart.slice()
  const tail = new Int32Array(tailStart[keyCount]!)
  for (let op = 0; op < opCount; op++) if (inTail(op)) tail[next[opKey[op]!]!++] = op
  const versions = { orderStart, order: order.view(), orderRead: longest, tailStart, tail }
  return { ...versions, writeAfter: linkVersions(history, versions, new Set()) }
}

/** What stands right before each version, as if some transactions were not there: `writeAfter`. */
export function linkVersions(
  { keyCount, opCount, opTxn }: History,
  { orderStart, order, tailStart, tail }: Omit<ListVersions, 'writeAfter'>,
  leftOut: ReadonlySet<number>,
): Int32Array {
  const writeAfter = new Int32Array(opCount).fill(NONE)
  const isWhole = leftOut.size === 0
  for (let key = 0; key < keyCount; key++) {
    let last: number = NONE
    for (let slot = orderStart[key]!; slot < orderStart[key + 1]!; slot++) {
      const txn = opTxn[order[slot]!]!
      if (!isWhole && leftOut.has(txn)) continue
      if (last !== txn) writeAfter[order[slot]!] = last
      last = txn
    }
    for (let slot = tailStart[key]!; slot < tailStart[key + 1]!; slot++) {
      const txn = opTxn[tail[slot]!]!
      if (last !== txn && !leftOut.has(txn)) writeAfter[tail[slot]!] = last
    }
  }
  return writeAfter
}
