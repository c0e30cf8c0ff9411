// Writes Plume text: transactions one after another, in their own order.

import { ABORTED, type History, READ, WRITE } from '../history/history.ts'
import { INTERNED } from '../history/values.ts'
import { type Capacity, findMisfits, isKept, Numbering, U64 } from './fit.ts'
import { ByteWriter, RenderedKeys, type Sink } from './sink.ts'

const CAPACITY = {
  integers: U64,
  initial: 0,
  txnNames: 'integers',
  times: false,
  levels: false,
  indeterminate: false,
  aborted: 'writes',
  emptyTxns: false,
  lists: false,
} as const satisfies Capacity

/** Why Plume text cannot hold the history; empty if it can. */
export function plumeMisfits(history: History): string[] {
  return findMisfits(history, CAPACITY)
}

/** Writes what Plume text can hold; see `plumeMisfits` for what it cannot. */
export function writePlume(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, CAPACITY)
  const keys = new RenderedKeys(history, (_, key) => String(numbering.key(key)))
  const names = txnNames(history)
  const encoder = new TextEncoder()
  const { opKey, opKind, opValue, txnOpStart } = history
  for (let txn = 0; txn < history.txnCount; txn++) {
    if (!isKept(history, txn)) continue
    const aborted = history.txnStatus[txn] === ABORTED
    const id = aborted ? '-1' : names(txn)
    const tail = encoder.encode(`,${numbering.session(history.txnSession[txn]!)},${id})\n`)
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const kind = opKind[op]!
      if ((kind !== READ || aborted) && kind !== WRITE) continue
      writer.byte(kind === READ ? 114 : 119)
      writer.byte(40)
      keys.write(writer, opKey[op]!)
      writer.byte(44)
      const value = numbering.value(opValue[op]!)
      if (typeof value === 'number' && value < INTERNED) writer.small(value)
      else writer.text(String(value))
      writer.copy(tail, 0)
    }
  }
  writer.flush()
}

/** Ids that come back as the same names: the user's own where all are integers, else T1, T2, … */
function txnNames(history: History): (txn: number) => string {
  let own = true
  for (let txn = 0; txn < history.txnCount && own; txn++) {
    if (history.txnStatus[txn] === ABORTED) continue
    const label = history.txnLabel(txn)
    own = (typeof label === 'number' && label >= 0) || (typeof label === 'bigint' && label >= 0n)
  }
  return (txn) => String(own ? history.txnLabel(txn) : txn + 1)
}
