// Verifies offending reads one at a time, straight from docs/anomalies.md: the reader's own
// operations and the writer's are scanned for this one read.

import { addTo } from '../base/maps.ts'
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
} from '../history/history.ts'
import { misreportsVersion } from '../history/versions.ts'
import type { LevelId } from '../levels/levels.ts'
import { LEVEL_RULES } from './level-rules.ts'
import type { Anomaly } from './verdict.ts'

const OFFENCES = new Set([
  'ThinAirRead',
  'AbortedRead',
  'FutureRead',
  'NotMyLastWrite',
  'NotMyOwnWrite',
  'IntermediateRead',
  'DuplicateElements',
  'IncompatibleOrder',
  'DuplicateRow',
  'VanishedRow',
  'WrongVersion',
])

export function isOffence(name: string): boolean {
  return OFFENCES.has(name)
}

/** A read that offends by itself, or two reads of a list that contradict each other. */
export function certifyOffence(history: History, level: LevelId, anomaly: Anomaly): string[] {
  const { name, ops } = anomaly
  const [read = NONE, other = NONE] = ops
  const problem = readerProblem(history, read)
  if (problem !== null) return [`${name}: ${problem}`]
  if (!LEVEL_RULES[level].soundReads && history.opKind[read] !== READ_ROWS) {
    return [`${level} does not forbid ${name}`]
  }
  if (name === 'IncompatibleOrder') {
    const problem = readerProblem(history, other) ?? orderProblem(history, read, other)
    return problem === null
      ? certifyNamed(history, anomaly, [read, other])
      : [`${name}: ${problem}`]
  }
  const found = offenceOf(history, read, LEVEL_RULES[level].ownWrites)
  if (found !== name) return [`at ${level} read ${read} is ${found ?? 'sound'}, not ${name}`]
  return certifyNamed(history, anomaly, [read, ...writesShown(history, read)])
}

/** All writes that a read shows, in their order. */
function writesShown(history: History, read: number): number[] {
  const { opKind, readFrom, listStart, listFrom } = history
  const shown =
    opKind[read] === READ
      ? [readFrom[read]!]
      : Array.from(listsOf(history, read)).flatMap((list) =>
          Array.from(listFrom.subarray(listStart[list]!, listStart[list + 1]!)),
        )
  return shown.filter((write) => write >= 0)
}

/** The operations are these, and the transactions theirs, or further ones that were read from. */
function certifyNamed(
  { opTxn }: History,
  { name, ops, txns, earlier }: Anomaly,
  expected: readonly number[],
  more: readonly number[] = [],
): string[] {
  if (ops.join() !== expected.join()) return [`${name} names other operations than its reads`]
  const involved = new Set([...expected.map((op) => opTxn[op]!), ...more])
  const fits = txns.length === involved.size && txns.every((txn) => involved.has(txn))
  return fits && earlier.length === 0 ? [] : [`${name} names other transactions than its reads`]
}

/** What keeps an operation from being a read of a transaction that counts. */
function readerProblem(history: History, read: number): string | null {
  if (!(read >= 0 && read < history.opCount)) return `there is no read ${read}`
  if (isWrite(history, read)) return `operation ${read} is not a read`
  return history.txnCounts[history.opTxn[read]!] ? null : `the reader of ${read} does not count`
}

/** Whether some read of a transaction that counts did not return one row. */
export function findRows(history: History): string | null {
  if (history.rows === null) return null
  const { opKind, opTxn, txnCounts } = history
  const read = opKind.findIndex((kind, op) => kind === READ_ROWS && txnCounts[opTxn[op]!] === 1)
  return read === NONE ? null : `read ${read} is ${nameRows(history, read)}`
}

/** What a read did that did not return one row. */
export function nameRows(history: History, read: number): string {
  return listsOf(history, read).length === 0 ? 'VanishedRow' : 'DuplicateRow'
}

/**
 * The first rule of read consistency that a read breaks by itself; null if it breaks none. Without
 * `ownWrites` the reader's own writes are taken out of what it read first.
 */
export function offenceOf(history: History, read: number, ownWrites: boolean): string | null {
  if (history.opKind[read] === READ_ROWS) return nameRows(history, read)
  return history.opKind[read] === READ_LIST
    ? nameListRead(history, read, ownWrites)
    : nameRead(history, read, ownWrites)
}

/** The same for reads of registers. */
export function nameRead(history: History, read: number, ownWrites = true): string | null {
  const { opTxn, opKey, readFrom } = history
  const write = readFrom[read]!
  const own = ownWrites ? lastWriteBefore(history, opTxn[read]!, opKey[read]!, read) : NONE
  const isLast = write >= 0 && isLastWrite(history, write)
  return nameReadGiven(history, read, own, isLast, ownWrites)
}

/**
 * The same for who knows the reader's own write before the read, NONE if there is none, and whether
 * what was read is its transaction's last write of the key.
 */
export function nameReadGiven(
  history: History,
  read: number,
  own: number,
  isLast: boolean,
  ownWrites: boolean,
): string | null {
  const { opTxn, readFrom, txnStatus } = history
  const write = readFrom[read]!
  if (write === NONE) return 'ThinAirRead'
  if (write === INITIAL) return own === NONE ? nameVersion(history, read) : 'NotMyOwnWrite'
  const writer = opTxn[write]!
  if (writer === opTxn[read]) {
    if (!ownWrites) return null
    if (write > read) return 'FutureRead'
    return write === own ? null : 'NotMyLastWrite'
  }
  if (txnStatus[writer] === ABORTED) return 'AbortedRead'
  if (own !== NONE) return 'NotMyOwnWrite'
  return isLast ? nameVersion(history, read) : 'IntermediateRead'
}

/** Of a read that is sound otherwise: whether it reports another version than it saw. */
function nameVersion(history: History, read: number): string | null {
  return misreportsVersion(history, read) ? 'WrongVersion' : null
}

function lastWriteBefore(history: History, txn: number, key: number, end: number): number {
  for (let op = end - 1; op >= history.txnOpStart[txn]!; op--) {
    if (history.opKey[op] === key && isWrite(history, op)) return op
  }
  return NONE
}

export function isWrite(history: History, op: number): boolean {
  return history.opKind[op] === WRITE || history.opKind[op] === APPEND
}

/** True if the transaction of this write does not write the key again. */
export function isLastWrite(history: History, write: number): boolean {
  return nextOwnWrite(history, write) === NONE
}

/**
 * The write that a sound read of another transaction saw, INITIAL, or NONE for any other read;
 * `ownWrites` as for offenceOf.
 */
export function foreignVersion(history: History, read: number, ownWrites = true): number {
  if (history.opKind[read] === READ_LIST) {
    const { foreign, sound } = splitList(history, read, ownWrites)
    if (!sound) return NONE
    return foreign.length === 0 ? INITIAL : foreign[foreign.length - 1]!
  }
  if (history.opKind[read] !== READ || nameRead(history, read, ownWrites) !== null) return NONE
  const write = history.readFrom[read]!
  return write >= 0 && history.opTxn[write] === history.opTxn[read] ? NONE : write
}

/**
 * The appends of others that a list read shows, and whether they are sound by themselves: with
 * `ownWrites` the reader's own so far have to be the tail, else they are looked past.
 */
export function splitList(
  history: History,
  read: number,
  ownWrites = true,
): { foreign: number[]; sound: boolean } {
  const { opValue, listStart, listFrom, opTxn, txnStatus } = history
  const list = opValue[read]!
  const shown = Array.from(listFrom.subarray(listStart[list]!, listStart[list + 1]!))
  const reader = opTxn[read]!
  let sound = new Set(shown).size === shown.length
  let foreign: number[]
  if (ownWrites) {
    const own = ownAppendsBefore(history, read)
    foreign = shown.slice(0, Math.max(0, shown.length - own.length))
    const tail = shown.slice(foreign.length)
    sound &&= tail.length === own.length && tail.every((append, i) => append === own[i])
  } else foreign = shown.filter((append) => append === NONE || opTxn[append] !== reader)
  foreign.forEach((append, i) => {
    if (append === NONE || opTxn[append] === reader) sound = false
    else if (txnStatus[opTxn[append]!] === ABORTED) sound = false
    else sound &&= isWholeAt(history, foreign, i)
  })
  return { foreign, sound }
}

/** List -> all appends by those in an order, in that order. */
export function findAppended(history: History, order: Int32Array): Map<number, number[]> {
  const { txnOpStart, opKind, opKey } = history
  const appended = new Map<number, number[]>()
  for (const txn of order) {
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] === APPEND) addTo(appended, opKey[op]!, op)
    }
  }
  return appended
}

/**
 * How many elements of the whole list a read shows before its own appends; -1 if what it shows is
 * something else, or ends within the appends of a transaction. `all` holds the appends of
 * transactions that count, one transaction after another, each whole and in its own order.
 * @param own the last append of the reader to this list before the read, or NONE
 * @param ownBefore append -> the one before it by its transaction to the same list, or NONE
 */
export function shownPrefix(
  history: History,
  read: number,
  all: readonly number[],
  own: number,
  ownBefore: Int32Array,
): number {
  const { opValue, listStart, listFrom, opTxn } = history
  const from = listStart[opValue[read]!]!
  let end = listStart[opValue[read]! + 1]!
  for (let append = own; append !== NONE; append = ownBefore[append]!) {
    if (end === from || listFrom[--end] !== append) return -1
  }
  const length = end - from
  if (length > all.length) return -1
  for (let i = 0; i < length; i++) if (listFrom[from + i] !== all[i]) return -1
  const cut = length > 0 && length < all.length
  return cut && opTxn[all[length - 1]!] === opTxn[all[length]!] ? -1 : length
}

/** A transaction's appends to a list appear whole, side by side, in order. */
function isWholeAt(history: History, foreign: readonly number[], i: number): boolean {
  const append = foreign[i]!
  const next = nextOwnWrite(history, append)
  if (next !== NONE && foreign[i + 1] !== next) return false
  const before = lastWriteBefore(history, history.opTxn[append]!, history.opKey[append]!, append)
  return before === NONE || foreign[i - 1] === before
}

/** The next write of the key by the transaction of this one, or NONE. */
function nextOwnWrite(history: History, write: number): number {
  const end = history.txnOpStart[history.opTxn[write]! + 1]!
  for (let op = write + 1; op < end; op++) {
    if (history.opKey[op] === history.opKey[write] && isWrite(history, op)) return op
  }
  return NONE
}

/** The same for reads of lists. */
export function nameListRead(history: History, read: number, ownWrites = true): string | null {
  const { opValue, listStart, listFrom, opTxn, txnStatus } = history
  const list = opValue[read]!
  const shown = Array.from(listFrom.subarray(listStart[list]!, listStart[list + 1]!))
  const reader = opTxn[read]!
  if (shown.includes(NONE)) return 'ThinAirRead'
  if (shown.some((append) => txnStatus[opTxn[append]!] === ABORTED)) return 'AbortedRead'
  if (new Set(shown).size < shown.length) return 'DuplicateElements'
  const { foreign, sound } = splitList(history, read, ownWrites)
  if (sound) return null
  if (!ownWrites) return 'IntermediateRead'
  if (shown.some((append) => opTxn[append] === reader && append > read)) return 'FutureRead'
  const ownBefore = shown.slice(foreign.length)
  const own = ownAppendsBefore(history, read)
  const isTail = ownBefore.length === own.length && ownBefore.every((op, i) => op === own[i])
  if (!isTail || foreign.some((append) => opTxn[append] === reader)) return 'NotMyOwnWrite'
  return 'IntermediateRead'
}

/** What its transaction had appended to the list before a read. */
export function ownAppendsBefore(history: History, read: number): number[] {
  const own: number[] = []
  for (let op = history.txnOpStart[history.opTxn[read]!]!; op < read; op++) {
    if (history.opKind[op] === APPEND && history.opKey[op] === history.opKey[read]) own.push(op)
  }
  return own
}

/** What keeps two sound reads of one list from contradicting each other. */
function orderProblem(history: History, read: number, other: number): string | null {
  const { opKind, opKey } = history
  if (opKind[read] !== READ_LIST || opKind[other] !== READ_LIST) return 'it takes two list reads'
  if (opKey[other] !== opKey[read]) return 'the two reads are of different lists'
  const [mine, theirs] = [splitList(history, read), splitList(history, other)]
  if (!mine.sound || !theirs.sound) return 'one of the two reads shows another anomaly'
  const isPrefix = mine.foreign.every((append, i) => append === (theirs.foreign[i] ?? append))
  return isPrefix ? 'one of the two list reads is a prefix of the other' : null
}

/**
 * Two reads of one key by one transaction, the later one from elsewhere than the earlier one: both
 * from others; or the earlier of its own write, the later, NotMyOwnWrite besides, of another's.
 */
export function certifyUnrepeatable(history: History, level: LevelId, anomaly: Anomaly): string[] {
  const [a = NONE, b = NONE] = anomaly.ops
  if (!LEVEL_RULES[level].repeatable) return [`${level} does not forbid ${anomaly.name}`]
  const problem = readerProblem(history, a) ?? readerProblem(history, b)
  if (problem !== null) return [`${anomaly.name}: ${problem}`]
  const { opTxn, opKey } = history
  if (opTxn[a] !== opTxn[b] || opKey[a] !== opKey[b] || a >= b) {
    return ['it takes an earlier and a later read of one key']
  }
  if (offenceOf(history, a, true) !== null) return ['the earlier read shows another anomaly']
  const isOwn = foreignVersion(history, a) === NONE
  const offence = offenceOf(history, b, true)
  if (isOwn && !LEVEL_RULES[level].ownWrites) return [`${level} looks past its own writes`]
  if (isOwn && offence !== 'NotMyOwnWrite') return ['the earlier read is of its own write']
  if (!isOwn && offence !== null) return ['the later read shows another anomaly']
  const [first, second] = [a, b].map((read) => sourceOf(history, read))
  if (!isOwn && second === NONE) return ['the later read is of its own write']
  if (!isOwn && first === second) return ['both reads are from the same transaction']
  // A read of another's version after its own write is not sound, but from somebody all the same.
  const versions = isOwn ? [a, b].map((read) => history.readFrom[read]!) : []
  const sources = isOwn ? versions.map((write) => opTxn[write] ?? NONE) : [first!, second!]
  const known = sources.filter((txn) => txn >= 0)
  return certifyNamed(history, anomaly, [a, b], known)
}

/** From whom a sound read is: another transaction, INITIAL, or NONE for its own. */
function sourceOf(history: History, read: number): number {
  const version = foreignVersion(history, read)
  return version < 0 ? version : history.opTxn[version]!
}
