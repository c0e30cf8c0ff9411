// Verifies offending reads one at a time, straight from the definitions: the reader's own
// operations and the writer's are scanned for this one read.

import {
  ABORTED,
  APPEND,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_LIST,
  WRITE,
} from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
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
])

export function isOffence(name: string): boolean {
  return OFFENCES.has(name)
}

export function certifyOffence(history: History, anomaly: Anomaly): string[] {
  const read = anomaly.ops[0] ?? NONE
  if (read < 0 || read >= history.opCount) return [`${anomaly.name}: there is no such read`]
  const reader = history.opTxn[read]!
  if (!history.txnCounts[reader]) return [`${anomaly.name}: its reader does not count`]
  if (history.opKind[read] === READ_LIST) return certifyListOffence(history, anomaly, read)
  if (history.opKind[read] !== READ) return [`${anomaly.name}: operation ${read} is not a read`]
  const name = nameRead(history, read)
  return name === anomaly.name
    ? []
    : [`operation ${read} is ${name ?? 'sound'}, not ${anomaly.name}`]
}

/** The first rule of read consistency that a register read breaks; null if it breaks none. */
export function nameRead(history: History, read: number): string | null {
  const { opTxn, opKey, readFrom, txnStatus } = history
  const reader = opTxn[read]!
  const key = opKey[read]!
  const write = readFrom[read]!
  if (write === NONE) return 'ThinAirRead'
  const own = lastWriteBefore(history, reader, key, read)
  if (write === INITIAL) return own === NONE ? null : 'NotMyOwnWrite'
  const writer = opTxn[write]!
  if (writer === reader) {
    if (write > read) return 'FutureRead'
    return write === own ? null : 'NotMyLastWrite'
  }
  if (txnStatus[writer] === ABORTED) return 'AbortedRead'
  if (own !== NONE) return 'NotMyOwnWrite'
  return isLastWrite(history, write) ? null : 'IntermediateRead'
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
  const end = history.txnOpStart[history.opTxn[write]! + 1]!
  for (let op = write + 1; op < end; op++) {
    if (history.opKey[op] === history.opKey[write] && isWrite(history, op)) return false
  }
  return true
}

/** The write that a sound read of another transaction saw, INITIAL, or NONE for any other read. */
export function foreignVersion(history: History, read: number): number {
  if (history.opKind[read] === READ_LIST) {
    const { foreign, sound } = splitList(history, read)
    if (!sound) return NONE
    return foreign.length === 0 ? INITIAL : foreign[foreign.length - 1]!
  }
  if (history.opKind[read] !== READ || nameRead(history, read) !== null) return NONE
  const write = history.readFrom[read]!
  return write >= 0 && history.opTxn[write] === history.opTxn[read] ? NONE : write
}

/**
 * The appends a list read shows before the reader's own, and whether they are sound by themselves.
 */
export function splitList(history: History, read: number): { foreign: number[]; sound: boolean } {
  const { opValue, listStart, listFrom, opTxn, txnStatus } = history
  const list = opValue[read]!
  const foreign = Array.from(listFrom.subarray(listStart[list]!, listStart[list + 1]!))
  const reader = opTxn[read]!
  const own = ownAppendsBefore(history, read)
  const tail = foreign.splice(Math.max(0, foreign.length - own.length))
  let sound = tail.length === own.length && tail.every((append, i) => append === own[i])
  sound &&= new Set(foreign).size === foreign.length
  foreign.forEach((append, i) => {
    if (append === NONE || opTxn[append] === reader) sound = false
    else if (txnStatus[opTxn[append]!] === ABORTED) sound = false
    else sound &&= isWholeAt(history, foreign, i)
  })
  return { foreign, sound }
}

/**
 * How many elements of the whole list a read shows before its own appends; -1 if what it shows is
 * something else, or ends within the appends of a transaction. `all` holds the appends of
 * transactions that count, one transaction after another, each whole and in its own order.
 */
export function shownPrefix(history: History, read: number, all: readonly number[]): number {
  const { opValue, listStart, listFrom, opTxn, txnOpStart, opKind, opKey } = history
  const from = listStart[opValue[read]!]!
  let end = listStart[opValue[read]! + 1]!
  for (let op = read - 1; op >= txnOpStart[opTxn[read]!]!; op--) {
    if (opKind[op] !== APPEND || opKey[op] !== opKey[read]) continue
    if (end === from || listFrom[--end] !== op) return -1
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
  const next = nextOwnAppend(history, append)
  if (next !== NONE && foreign[i + 1] !== next) return false
  const before = lastWriteBefore(history, history.opTxn[append]!, history.opKey[append]!, append)
  return before === NONE || foreign[i - 1] === before
}

function nextOwnAppend(history: History, append: number): number {
  const end = history.txnOpStart[history.opTxn[append]! + 1]!
  for (let op = append + 1; op < end; op++) {
    if (history.opKind[op] === APPEND && history.opKey[op] === history.opKey[append]) return op
  }
  return NONE
}

/** The first rule of read consistency that a list read breaks by itself; null if it is sound. */
export function nameListRead(history: History, read: number): string | null {
  const { opValue, listStart, listFrom, opTxn, txnStatus } = history
  const list = opValue[read]!
  const shown = Array.from(listFrom.subarray(listStart[list]!, listStart[list + 1]!))
  const reader = opTxn[read]!
  if (shown.includes(NONE)) return 'ThinAirRead'
  if (shown.some((append) => txnStatus[opTxn[append]!] === ABORTED)) return 'AbortedRead'
  if (new Set(shown).size < shown.length) return 'DuplicateElements'
  const { foreign, sound } = splitList(history, read)
  if (sound) return null
  if (shown.some((append) => opTxn[append] === reader && append > read)) return 'FutureRead'
  const ownBefore = shown.slice(foreign.length)
  const own = ownAppendsBefore(history, read)
  const isTail = ownBefore.length === own.length && ownBefore.every((op, i) => op === own[i])
  if (!isTail || foreign.some((append) => opTxn[append] === reader)) return 'NotMyOwnWrite'
  return 'IntermediateRead'
}

function ownAppendsBefore(history: History, read: number): number[] {
  const own: number[] = []
  for (let op = history.txnOpStart[history.opTxn[read]!]!; op < read; op++) {
    if (history.opKind[op] === APPEND && history.opKey[op] === history.opKey[read]) own.push(op)
  }
  return own
}

function certifyListOffence(history: History, anomaly: Anomaly, read: number): string[] {
  if (anomaly.name !== 'IncompatibleOrder') {
    const name = nameListRead(history, read)
    return name === anomaly.name
      ? []
      : [`list read ${read} is ${name ?? 'sound'}, not ${anomaly.name}`]
  }
  const { foreign } = splitList(history, read)
  const other = anomaly.ops[1] ?? NONE
  if (other < 0 || history.opKind[other] !== READ_LIST) return ['no second list read is named']
  if (history.opKey[other] !== history.opKey[read]) return ['the two reads are of different lists']
  const theirs = splitList(history, other).foreign
  const shared = Math.min(foreign.length, theirs.length)
  for (let i = 0; i < shared; i++) if (foreign[i] !== theirs[i]) return []
  return ['one of the two list reads is a prefix of the other']
}

/** Two reads of one key by one transaction from two others; forbidden by ci and from ra on. */
export function certifyUnrepeatable(history: History, level: LevelId, anomaly: Anomaly): string[] {
  const [a = NONE, b = NONE] = anomaly.ops
  if (level === 'rc' || level === 'pl-2') return [`${level} does not forbid ${anomaly.name}`]
  if (a < 0 || b < 0 || a === b) return ['two reads are needed']
  const { opTxn, opKey } = history
  if (opTxn[a] !== opTxn[b] || opKey[a] !== opKey[b]) return ['the reads are not of one key']
  const offence = nameRead(history, b)
  if (history.opKind[b] === READ && offence !== null && offence !== 'NotMyOwnWrite') {
    return ['the later read shows another anomaly']
  }
  const first = sourceOf(history, a)
  const second = sourceOf(history, b)
  if (first === NONE || second === NONE || second === opTxn[b]) {
    return ['one of the reads is not from a transaction that counts']
  }
  return first === second ? ['both reads are from the same transaction'] : []
}

/** Whom a read saw, itself included; INITIAL, or NONE if nobody that counts. */
function sourceOf(history: History, read: number): number {
  if (history.opKind[read] === READ_LIST) {
    const version = foreignVersion(history, read)
    return version < 0 ? version : history.opTxn[version]!
  }
  const write = history.readFrom[read]!
  return write < 0 ? write : history.opTxn[write]!
}
