// Writes Plume text: transactions one after another, or operations in a given order.

import { ABORTED, type History, NONE, READ, WRITE } from '../history/history.ts'
import { INTERNED } from '../history/values.ts'
import { type Capacity, findMisfits, isKept, isU64, Numbering } from './fit.ts'
import { ByteWriter, RenderedKeys, type Sink } from './sink.ts'

const CAPACITY: Capacity = {
  keys: isU64,
  values: isU64,
  sessions: 'integers',
  initial: 0,
  txnNames: 'integers',
  times: false,
  levels: false,
  indeterminate: 'none',
  aborted: 'writes',
  emptyTxns: false,
  lists: false,
}

/** Why Plume text cannot hold the history; empty if it can. */
export function plumeMisfits(history: History): string[] {
  return findMisfits(history, CAPACITY)
}

/**
 * Writes what Plume text can hold; see `plumeMisfits` for what it cannot.
 * @param opOrder operations in the order of their lines, instead of transaction by transaction.
 */
export function writePlume(history: History, sink: Sink, opOrder: Int32Array | null = null): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, CAPACITY)
  const keys = new RenderedKeys(history, (_, key) => String(numbering.key(key)))
  const encoder = new TextEncoder()
  const { opCount, opTxn, opKey, opKind, opValue, txnSession, txnStatus } = history
  // A session has one transaction at a time, so its lines end alike for a while.
  const tailTxn = new Int32Array(history.sessionCount).fill(NONE) // session -> txn of its tail
  const tails: Uint8Array[] = [] // session -> what ends the lines of that transaction
  for (let line = 0; line < opCount; line++) {
    const op = opOrder ? opOrder[line]! : line
    const txn = opTxn[op]!
    const aborted = txnStatus[txn] === ABORTED
    const kind = opKind[op]!
    if (((kind !== READ || aborted) && kind !== WRITE) || !isKept(history, txn)) continue
    const session = txnSession[txn]!
    if (tailTxn[session] !== txn) {
      tailTxn[session] = txn
      const id = aborted ? '-1' : numbering.txn(txn)
      tails[session] = encoder.encode(`,${numbering.session(session)},${id})\n`)
    }
    writer.byte(kind === READ ? 114 : 119)
    writer.byte(40)
    keys.write(writer, opKey[op]!)
    writer.byte(44)
    const value = numbering.value(opValue[op]!) ?? 0
    if (typeof value === 'number' && value < INTERNED) writer.small(value)
    else writer.text(String(value))
    writer.copy(tails[session]!, 0)
  }
  writer.flush()
}
