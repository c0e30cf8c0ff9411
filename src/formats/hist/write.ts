// Writes dbcop's .hist text (read.ts). Main function: writeHist.

import { ABORTED, type History, READ, WRITE } from '../../history/history.ts'
import type { Value } from '../../history/values.ts'
import {
  type Capacity,
  DBCOP_CAPACITY,
  findMisfits,
  isU64,
  keptBySession,
  Numbering,
} from '../fit.ts'
import { ByteWriter, type Sink } from '../sink.ts'

const CAPACITY: Capacity = {
  keys: (key: Value) => (typeof key === 'string' ? /^[A-Za-z_]\w*$/.test(key) : isU64(key)),
  values: isU64,
  ...DBCOP_CAPACITY,
}

export function histMisfits(history: History): string[] {
  return findMisfits(history, CAPACITY)
}

export function writeHist(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, CAPACITY)
  for (const [session, txns] of keptBySession(history, CAPACITY).entries()) {
    if (session > 0) writer.text('---\n')
    for (const txn of txns) {
      const words: string[] = []
      for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
        const kind = history.opKind[op]!
        if (kind !== READ && kind !== WRITE) continue
        const value = numbering.value(history.opValue[op]!)
        const key = numbering.key(history.opKey[op]!)
        words.push(kind === WRITE ? `${key}:=${value ?? 0}` : `${key}==${value ?? '?'}`)
      }
      writer.text(`[${words.join(' ')}]${history.txnStatus[txn] === ABORTED ? '!' : ''}\n`)
    }
  }
  writer.flush()
}
