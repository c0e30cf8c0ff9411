// Writes dbcop's bincode (read.ts). Main function: writeDbcop.

import { ABORTED, type History, READ, WRITE } from '../../history/history.ts'
import { writeInt64 } from '../binary.ts'
import {
  type Capacity,
  DBCOP_CAPACITY,
  findMisfits,
  isI64,
  keptBySession,
  Numbering,
} from '../fit.ts'
import { ByteWriter, type Sink } from '../sink.ts'

const EPOCH = '1970-01-01T00:00:00Z'

const CAPACITY: Capacity = {
  keys: isI64,
  values: isI64,
  ...DBCOP_CAPACITY,
}

export function dbcopMisfits(history: History): string[] {
  return findMisfits(history, CAPACITY)
}

export function writeDbcop(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, CAPACITY)
  const put = (n: number) => writeInt64(writer, n, false)
  const { sessionTxnStart, txnOpStart, opKind } = history
  let mostTxns = 0
  let mostOps = 0
  for (let session = 0; session < history.sessionCount; session++) {
    mostTxns = Math.max(mostTxns, sessionTxnStart[session + 1]! - sessionTxnStart[session]!)
  }
  for (let txn = 0; txn < history.txnCount; txn++) {
    mostOps = Math.max(mostOps, txnOpStart[txn + 1]! - txnOpStart[txn]!)
  }
  for (const n of [0, history.sessionCount, history.keyCount, mostTxns, mostOps]) put(n)
  for (const text of ['isobar', EPOCH, EPOCH]) {
    put(text.length)
    writer.text(text)
  }
  put(history.sessionCount)
  for (const txns of keptBySession(history, CAPACITY)) {
    put(txns.length)
    for (const txn of txns) {
      const kinds = opKind.subarray(txnOpStart[txn], txnOpStart[txn + 1])
      put(kinds.filter((kind) => kind === READ || kind === WRITE).length)
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (opKind[op] !== READ && opKind[op] !== WRITE) continue
        writer.byte(opKind[op] === WRITE ? 1 : 0)
        writeInt64(writer, numbering.key(history.opKey[op]!), false)
        writeInt64(writer, numbering.value(history.opValue[op]!), false)
        writer.byte(1)
      }
      writer.byte(history.txnStatus[txn] === ABORTED ? 0 : 1)
    }
  }
  writer.flush()
}
