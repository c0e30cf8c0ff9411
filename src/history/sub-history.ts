// Part of a history, as a history of its own: some operations, with the transactions and sessions
// they belong to under the names they have in the whole. A read stays only if the write it saw
// does, of a list every append it saw: no read is left behind to come out of thin air. Leaving
// things out in this way never breaks a level that the whole satisfies: an order of the whole is
// one of its part.
//
// Cost: linear in the operations asked for, not in the whole. Main function: subHistory.

import { HistoryBuilder } from './builder.ts'
import { type History, NONE, READ, READ_LIST } from './history.ts'
import type { Value } from './values.ts'

/**
 * The history of those operations, in any order; transactions of which nothing is left are left
 * out.
 */
export function subHistory(history: History, ops: Iterable<number>): History {
  const asked = new Set(ops)
  const kept = Int32Array.from(asked)
    .sort()
    .filter((op) => isWhole(history, op, asked))
  const builder = new HistoryBuilder(history.initial, kept.length)
  const nameOf = namer(history)
  let txn = NONE
  let copy = NONE
  for (const op of kept) {
    if (history.opTxn[op] !== txn) {
      txn = history.opTxn[op]!
      copy = copyTxn(history, txn, nameOf(txn), builder)
    }
    copyOp(history, op, copy, builder)
  }
  return builder.finish({ place: (arrival) => history.placeOf(kept[arrival]!) })
}

/** True unless the operation is a read of a write that is left out. */
function isWhole(history: History, op: number, kept: ReadonlySet<number>): boolean {
  const { opKind, opValue, readFrom, listStart, listFrom } = history
  if (opKind[op] === READ) return readFrom[op]! < 0 || kept.has(readFrom[op]!)
  if (opKind[op] !== READ_LIST) return true
  const list = opValue[op]!
  for (let i = listStart[list]!; i < listStart[list + 1]!; i++) {
    if (listFrom[i]! >= 0 && !kept.has(listFrom[i]!)) return false
  }
  return true
}

/** Names that last: one that a transaction has by its position becomes its own. */
function namer(history: History): (txn: number) => Value {
  return (txn) => {
    const label = history.txnLabel(txn)
    if (label !== null) return label
    // T7 is what an integer 7 is shown as.
    const name = history.txnName(txn)
    return name === `T${txn + 1}` ? txn + 1 : name
  }
}

function copyTxn(history: History, txn: number, name: Value, builder: HistoryBuilder): number {
  const session = builder.session(history.sessionLabel(history.txnSession[txn]!))
  const copy = builder.addTxn(session, history.txnStatus[txn]!, name)
  const start = history.txnStartTime?.[txn] ?? Number.NaN
  const finish = history.txnFinishTime?.[txn] ?? Number.NaN
  const level = history.txnLevel?.[txn] ?? NONE
  if (!Number.isNaN(start)) builder.setStart(copy, start)
  if (!Number.isNaN(finish)) builder.setFinish(copy, finish)
  if (level !== NONE) builder.setLevel(copy, level)
  return copy
}

function copyOp(history: History, op: number, txn: number, builder: HistoryBuilder): void {
  const { values, listStart, listValue } = history
  const kind = history.opKind[op]!
  const key = builder.keys.of(history.keyName(history.opKey[op]!))
  if (kind !== READ_LIST) {
    builder.addOp(txn, kind, key, builder.values.of(values.get(history.opValue[op]!)))
    return
  }
  const list = history.opValue[op]!
  const copy = builder.beginList()
  for (let i = listStart[list]!; i < listStart[list + 1]!; i++) {
    builder.addElement(builder.values.of(values.get(listValue[i]!)))
  }
  builder.addOp(txn, kind, key, copy)
}
