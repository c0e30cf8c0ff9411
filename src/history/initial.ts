// Transactions that spell out the initial state. They are part of the initial transaction, which
// precedes all others, so they must lead the input: only others of their kind stand before them,
// and where times are known nothing else has finished when they start. Each is committed, writes
// at least once, reads nothing, and writes nothing but initial values. Any other write of the
// initial value is a value written twice: wherever it stands, a read of that value could not be
// told from a read of the initial state. `s1: w(x,1) | w(x,0) | r(x,1)` would pass if the second
// transaction were taken for the initial one.
//
// A transaction stands where the input first speaks of it, which is how transactions are numbered.
// Main function: markInitial.

import { InputError } from '../base/errors.ts'
import { COMMITTED, type History, NONE, WRITE } from './history.ts'

/** The way out for whoever cannot give every write a value of its own. */
export const DUPLICATES_HINT =
  '--duplicate-values lets a read have several possible writers (in the library duplicateValues)'

/**
 * Fills `txnIsInitial`. Throws InputError for any other write of the initial value.
 * @param initial id of the initial value, NONE if there is none
 * @param allowsDuplicates such a write is one like any other then
 */
export function markInitial(history: History, initial: number, allowsDuplicates: boolean): void {
  if (initial === NONE) return
  const { opKind, opValue, opCount, txnCount, txnIsInitial, txnOpStart } = history
  let lead = 0
  while (lead < txnCount && writesOnlyInitial(history, lead, initial)) txnIsInitial[lead++] = 1
  if (allowsDuplicates) {
    const late = findLate(history, lead)
    if (late !== null) txnIsInitial.fill(0, late.txn, lead)
    return
  }
  for (let op = txnOpStart[lead]!; op < opCount; op++) {
    if (opValue[op] === initial && opKind[op] === WRITE) throw writtenAgain(history, op)
  }
  if (lead > 0) expectFirstInTime(history, lead)
}

/** The first initial transaction that would not lead if the input told `txns` in this order. */
export function findStray(history: History, txns: Iterable<number>): number {
  let led = true
  for (const txn of txns) {
    if (!history.txnIsInitial[txn]) led = false
    else if (!led) return txn
  }
  return NONE
}

function writesOnlyInitial(history: History, txn: number, initial: number): boolean {
  const { txnStatus, txnOpStart, opKind, opValue } = history
  const end = txnOpStart[txn + 1]!
  if (txnStatus[txn] !== COMMITTED || txnOpStart[txn] === end) return false
  for (let op = txnOpStart[txn]!; op < end; op++) {
    if (opKind[op] !== WRITE || opValue[op] !== initial) return false
  }
  return true
}

/** Refuses leading transactions that started when another one had finished already. */
function expectFirstInTime(history: History, lead: number): void {
  const late = findLate(history, lead)
  if (late === null) return
  const [name, before] = [late.txn, late.after].map((txn) => history.txnName(txn))
  const when = `, by ${name}, which starts after ${before} finished`
  throw writtenAgain(history, history.txnOpStart[late.txn]!, when)
}

/** The first leading transaction that started when another one had finished already. */
function findLate(history: History, lead: number): { txn: number; after: number } | null {
  const { txnStartTime, txnFinishTime, txnCount } = history
  if (!txnStartTime || !txnFinishTime) return null
  let first: number = NONE // of the others that which finished first
  for (let txn = lead; txn < txnCount; txn++) {
    const isEarlier = first === NONE || txnFinishTime[txn]! < txnFinishTime[first]!
    if (isEarlier && !Number.isNaN(txnFinishTime[txn]!)) first = txn
  }
  for (let txn = 0; first !== NONE && txn < lead; txn++) {
    if (txnFinishTime[first]! < txnStartTime[txn]!) return { txn, after: first }
  }
  return null
}

function writtenAgain(history: History, op: number, when = ''): InputError {
  const place = history.placeOf(op)
  const value = showValue(history.valueOf(op))
  const key = showValue(history.keyName(history.opKey[op]!))
  const txn = history.opTxn[op]!
  const name = `${history.txnName(txn)} of session ${history.sessionName(history.txnSession[txn]!)}`
  const by = when === '' && place === null ? `, by ${name}` : when
  return new InputError(
    'duplicate-value',
    `value ${value} of key ${key} is written twice: it is the initial value, which every key has first${by}`,
    place,
    `let this write have a value of its own; the initial state is written only by committed transactions that come before all others and write nothing else; ${DUPLICATES_HINT}`,
  )
}

/** A key or value as errors show it. */
export function showValue(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value)
}
