// Puts the history of a window on what is settled: a read of a version that stands is a read of the
// initial state, as far as this window goes. Then says which reads see something that nobody here
// wrote: their transactions, and all that depend on those, wait for the writer, or for so long that
// nothing can be said of the read any more. Changes the history, which was parsed for this purpose.
// Main functions: standOn, leaveOut.

import { InputError } from '../base/errors.ts'
import {
  ABORTED,
  type History,
  hasLists,
  INITIAL,
  NONE,
  READ,
  READ_ROWS,
  WRITE,
} from '../history/history.ts'
import { showValue } from '../history/initial.ts'
import type { Settled } from './settled.ts'

export interface Standing {
  readonly history: History
  readonly keyOf: Int32Array // key of the history -> settled key
  /** txn -> 1 if it waits for a writer, or for one that does; null if nobody waits. */
  readonly waits: Uint8Array | null
  /** Reads that see what nobody in sight wrote. */
  readonly waitingReads: number
  /** Reads that were left out, because what they saw will not be known: the first, in words. */
  readonly undecided: readonly string[]
  /** Keys whose standing version is read here. */
  readonly readKeys: readonly number[]
}

export interface StandOptions {
  /** Transactions before this one have waited long enough. */
  readonly oldCount: number
  /** Nothing follows: what nobody wrote by now, nobody did. */
  readonly isEnd: boolean
}

const MOST_TOLD = 3

export function standOn(history: History, settled: Settled, options: StandOptions): Standing {
  expectRegisters(history)
  const { opKind, opKey, opValue, readFrom, readTxn, opTxn, txnCounts, opCount } = history
  const keyOf = keysOf(history, settled)
  const standingValue = standingValues(history, settled, keyOf)
  const initial = history.values.of(history.initial!)
  const isRead = new Uint8Array(history.keyCount)
  const lost: number[] = [] // reads of which nothing will be known
  const patient: number[] = [] // reads whose writer may still come
  for (let op = 0; op < opCount; op++) {
    const key = opKey[op]!
    const value = standingValue[key]!
    if (opKind[op] === WRITE) {
      if (value !== NONE && opValue[op] === value) throw writtenAgain(history, settled, op)
      continue
    }
    if (value !== NONE && readFrom[op]! < 0) {
      const isStanding = readFrom[op] === NONE && opValue[op] === value
      readFrom[op] = isStanding ? INITIAL : NONE
      readTxn[op] = readFrom[op]!
      if (isStanding) {
        opValue[op] = initial
        isRead[key] = 1
      }
    }
    if (readFrom[op] !== NONE || !txnCounts[opTxn[op]!]) continue
    if (options.isEnd) {
      // Of a key that nothing is gone of, everything is known: nobody wrote this.
      if (settled.hasGone(keyOf[key]!)) lost.push(op)
    } else if (opTxn[op]! < options.oldCount) lost.push(op)
    else patient.push(op)
  }
  const undecided = lost.slice(0, MOST_TOLD).map((op) => tellRead(history, op))
  const standing = lost.length > 0 ? leaveOut(history, lost) : history
  const waits = patient.length > 0 ? findWaiting(standing, patient) : null
  if (waits) setAside(standing, waits)
  const readKeys: number[] = []
  for (let key = 0; key < isRead.length; key++) if (isRead[key]) readKeys.push(keyOf[key]!)
  return {
    history: standing,
    keyOf,
    waits,
    waitingReads: patient.length,
    undecided,
    readKeys,
  }
}

/** Watching is for plain reads and writes that begin from an initial value. */
function expectRegisters(history: History): void {
  const { sql, light, spans, after, rows, initial, partial, versions } = history
  const unfit: [boolean, string][] = [
    [sql !== null, 'SQL statements'],
    [light !== null, 'lightweight transactions'],
    [spans !== null, 'range reads, counters or sets'],
    [after !== null, 'transactions that name others in "after"'],
    [rows !== null, 'reads that returned several rows, or none'],
    [hasLists(history), 'lists'],
    [versions !== null, 'versions of reads and writes'],
    [partial !== null, 'histories that leave things out'],
    [initial === undefined, 'histories without an initial value'],
  ]
  const found = unfit.find(([isSo]) => isSo)
  if (found === undefined) return
  const hint = 'judge the file with isobar check when it is complete'
  throw new InputError('unwatchable', `watch does not judge ${found[1]}`, null, hint)
}

function keysOf(history: History, settled: Settled): Int32Array {
  const keyOf = new Int32Array(history.keyCount)
  for (let key = 0; key < keyOf.length; key++) keyOf[key] = settled.keyOf(history.keyName(key))
  return keyOf
}

/** key -> id of the value that stands, NONE if it is the initial one */
function standingValues(history: History, settled: Settled, keyOf: Int32Array): Int32Array {
  const ids = new Int32Array(keyOf.length).fill(NONE)
  for (let key = 0; key < ids.length; key++) {
    const value = settled.standing(keyOf[key]!)
    if (value !== undefined) ids[key] = history.values.of(value)
  }
  return ids
}

function writtenAgain(history: History, settled: Settled, op: number): InputError {
  const name = history.keyName(history.opKey[op]!)
  const { line } = settled.versionOf(settled.keyOf(name))
  return new InputError(
    'duplicate-value',
    `value ${showValue(history.valueOf(op))} of key ${showValue(name)} is written twice (first at line ${line})`,
    history.placeOf(op),
    'every write of a key needs a value of its own, or nobody can tell which one was read',
  )
}

function tellRead(history: History, op: number): string {
  const line = history.placeOf(op)?.line
  const place = line === undefined ? '' : ` (line ${line})`
  const [value, key] = [
    showValue(history.valueOf(op)),
    showValue(history.keyName(history.opKey[op]!)),
  ]
  return `${history.txnName(history.opTxn[op]!)}${place} read ${value} of key ${key}`
}

/**
 * The history without these reads: each becomes one of a key that nobody writes, in its initial
 * state, which means nothing at any level.
 */
export function leaveOut(history: History, reads: readonly number[]): History {
  const { opKey, opValue, readFrom, readTxn, keyCount, values } = history
  const initial = values.of(history.initial!)
  for (const op of reads) {
    opKey[op] = keyCount
    opValue[op] = initial
    readFrom[op] = INITIAL
    readTxn[op] = INITIAL
  }
  const keyName = (key: number) => (key === keyCount ? '(left out)' : history.keyName(key))
  return { ...history, keyCount: keyCount + 1, keyName }
}

/** Those that read what has not come, those behind them in their sessions, and all who read of these. */
function findWaiting(history: History, reads: readonly number[]): Uint8Array {
  const { opTxn, txnCount, txnCounts, txnOpStart, txnSession, readTxn, sessionCount } = history
  const waits = new Uint8Array(txnCount)
  for (const op of reads) waits[opTxn[op]!] = 1
  const sessionWaits = new Uint8Array(sessionCount)
  for (let changed = true; changed; ) {
    changed = false
    sessionWaits.fill(0)
    for (let txn = 0; txn < txnCount; txn++) {
      const session = txnSession[txn]!
      if (!waits[txn] && isBehind(txn)) {
        waits[txn] = 1
        changed = true
      }
      if (waits[txn]) sessionWaits[session] = 1
    }
  }
  return waits

  function isBehind(txn: number): boolean {
    if (sessionWaits[txnSession[txn]!]) return true
    if (!txnCounts[txn]) return false
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const source = readTxn[op]!
      if (source >= 0 && waits[source]) return true
    }
    return false
  }
}

/** They take no part for now. Nobody else reads from them, so that nobody misses them. */
function setAside({ txnStatus, txnCounts }: History, waits: Uint8Array): void {
  for (let txn = 0; txn < waits.length; txn++) {
    if (!waits[txn]) continue
    txnStatus[txn] = ABORTED
    txnCounts[txn] = 0
  }
}

/** How many transactions a writer came after its first reader, at most. */
export function latenessOf({ opKind, opTxn, readTxn, opCount }: History): number {
  let most = 0
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== READ && opKind[op] !== READ_ROWS) continue
    const late = readTxn[op]! - opTxn[op]!
    if (late > most) most = late
  }
  return most
}
