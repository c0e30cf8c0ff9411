// Part of a history, as a history of its own: some operations, with the transactions and sessions
// they belong to under the names they have in the whole. An operation stays only with what it
// needs: a read with the write it saw, of a list every append it saw, so that none is left behind
// to come out of thin air; a lightweight operation with both its halves. Leaving things out in this
// way never breaks a level that the whole satisfies: an order of the whole is one of its part.
// Histories with SQL statements have more to them than operations: verdict/sql-parts.ts.
//
// Cost: linear in the operations asked for, not in the whole. Main functions: buildPart, findPart
// and withNeeds.

import { assert } from '../base/errors.ts'
import { addAll } from '../base/grow.ts'
import { addTo } from '../base/maps.ts'
import { afterAmong } from './after-as-reads.ts'
import { HistoryBuilder, NOT_TOLD } from './builder.ts'
import { type History, isOfList, listsOf, NONE, READ, READ_LIST, READ_ROWS } from './history.ts'
import { UNTOLD } from './light.ts'
import { readTime } from './times.ts'
import type { Value } from './values.ts'
import { versionOfText } from './versions.ts'

export interface SubHistoryOptions {
  /** Transactions stay whole, or go. */
  readonly whole?: boolean
}

/**
 * The history of those operations, ascending, with all that they need; transactions of which
 * nothing is left are left out.
 */
export function buildPart(history: History, kept: Int32Array): History {
  // A statement also speaks of the rows that it passed over, of which operations know nothing.
  assert(history.sql === null, 'parts of SQL histories are made of more than operations')
  const builder = new HistoryBuilder(history.initial, kept.length)
  builder.timeUnit = history.timeUnit
  let txn = NONE
  let copy = NONE
  const copies = new Map<number, number>() // txn -> its copy, if transactions name others
  for (let i = 0; i < kept.length; i++) {
    const op = kept[i]!
    if (history.opTxn[op] !== txn) {
      txn = history.opTxn[op]!
      copy = copyTxn(history, txn, builder)
      if (history.after) copies.set(txn, copy)
    }
    copyOp(history, op, copy, builder)
    if (isPair(history, op)) i++
  }
  for (const [later, others] of afterAmong(history, copies.keys())) {
    for (const earlier of others) builder.addAfter(copies.get(later)!, copies.get(earlier)!)
  }
  return builder.finish({ place: (arrival) => history.placeOf(kept[arrival]!) })
}

/** Things that can be left out, and those that each cannot be without. */
export type Needs = (item: number) => readonly number[]

/** The items and all that they need, directly or not. */
export function withNeeds(items: Iterable<number>, needs: Needs): number[] {
  const all = new Set(items)
  for (const item of all) for (const needed of needs(item)) all.add(needed)
  return [...all]
}

/** Those that have all that they need among them, ascending. */
export function findPart(items: Iterable<number>, needs: Needs): Int32Array {
  const kept = new Set(items)
  const neededBy = new Map<number, number[]>()
  const gone: number[] = []
  for (const item of kept) {
    for (const needed of needs(item)) {
      if (!kept.has(needed)) gone.push(item)
      addTo(neededBy, needed, item)
    }
  }
  for (let item = gone.pop(); item !== undefined; item = gone.pop()) {
    if (kept.delete(item)) addAll(gone, neededBy.get(item) ?? [])
  }
  return Int32Array.from(kept).sort()
}

/** The operations that this one cannot be without. */
export function needsOf(history: History, op: number, { whole }: SubHistoryOptions = {}): number[] {
  const { opKind, readFrom, listStart, listFrom, opTxn, txnOpStart } = history
  const needs: number[] = []
  if (opKind[op] === READ) needs.push(readFrom[op]!)
  for (const list of Array.from(listsOf(history, op))) {
    for (let i = listStart[list]!; i < listStart[list + 1]!; i++) needs.push(listFrom[i]!)
  }
  if (whole) {
    const txn = opTxn[op]!
    for (let other = txnOpStart[txn]!; other < txnOpStart[txn + 1]!; other++) needs.push(other)
  }
  if (isPair(history, op)) needs.push(op + 1)
  else if (op > 0 && isPair(history, op - 1)) needs.push(op - 1)
  return needs.filter((needed) => needed >= 0)
}

/** True for the read of a lightweight operation that succeeded: its write comes next. */
export function isPair({ light }: History, op: number): boolean {
  if (light === null) return false
  const which = light.opLight[op]!
  return which !== NONE && !light.failed[which]
}

/** A name that lasts: one that a transaction has by its position becomes its own. */
function nameOf(history: History, txn: number): Value {
  const label = history.txnLabel(txn)
  const name = history.txnName(txn)
  // T7 is what an integer 7 is shown as.
  const number = label ?? txn + 1
  return name === `T${number}` && typeof label !== 'string' ? number : name
}

export function copyTxn(history: History, txn: number, builder: HistoryBuilder): number {
  const session = builder.session(history.sessionLabel(history.txnSession[txn]!))
  const copy = builder.addTxn(session, history.txnStatus[txn]!, nameOf(history, txn))
  const level = history.txnLevel?.[txn] ?? NONE
  // The times as they were given: the history's own may be moved, see times.ts.
  const [start, finish] = [history.startText(txn), history.finishText(txn)].map((text) =>
    text === null ? null : readTime(text),
  )
  if (start) builder.setStart(copy, start.value, start.text)
  if (finish) builder.setFinish(copy, finish.value, finish.text)
  if (level !== NONE) builder.setLevel(copy, level)
  if (history.txnAudit?.[txn]) builder.setAudit(copy)
  return copy
}

export function copyOp(history: History, op: number, txn: number, builder: HistoryBuilder): void {
  const { values, light } = history
  const valueId = (id: number) => builder.values.of(values.get(id))
  const kind = history.opKind[op]!
  const key = builder.keys.of(history.keyName(history.opKey[op]!))
  const which = light?.opLight[op] ?? NONE
  if (which !== NONE) {
    const how = light!.failed[which]!
    const seen = how === UNTOLD ? NOT_TOLD : how ? valueId(history.opValue[op]!) : NONE
    const [expected, value] = [light!.expected[which]!, light!.value[which]!]
    builder.addLight(txn, light!.kind[which]!, key, valueId(expected), valueId(value), seen)
    if (isPair(history, op)) copyVersion(history, op + 1, builder)
  } else if (kind === READ_LIST || kind === READ_ROWS) {
    const copies = Array.from(listsOf(history, op), (list) => copyList(history, list, builder))
    builder.addRows(txn, key, copies, isOfList(history, op))
  } else {
    builder.addOp(txn, kind, key, valueId(history.opValue[op]!))
    copyVersion(history, op, builder)
  }
}

/** Gives the operation added last the version of another. */
function copyVersion({ versions }: History, op: number, builder: HistoryBuilder): void {
  const version = versions?.text(op) ?? null
  if (version !== null) builder.setVersion(versionOfText(version))
}

function copyList(
  { listStart, listValue, values }: History,
  list: number,
  builder: HistoryBuilder,
) {
  const copy = builder.beginList()
  for (let i = listStart[list]!; i < listStart[list + 1]!; i++) {
    builder.addElement(builder.values.of(values.get(listValue[i]!)))
  }
  return copy
}
