// Writes dbcop's bincode (read.ts). Main function: writeDbcop.

import { ABORTED, type History } from '../../history/history.ts'
import { writeInt64 } from '../binary.ts'
import { type Capacity, isI64, keptBySession, Numbering, PLAIN } from '../fit.ts'
import { ByteWriter, type Sink } from '../sink.ts'

const EPOCH = '1970-01-01T00:00:00Z'

export const DBCOP: Capacity = { ...PLAIN, keys: isI64, values: isI64 }

export function writeDbcop(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, DBCOP)
  const put = (n: number) => writeInt64(writer, n, false)
  const { sessionTxnStart, txnOpStart } = history
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
  for (const txns of keptBySession(history, DBCOP)) {
    put(txns.length)
    for (const txn of txns) {
      const ops = numbering.ops(txn)
      put(ops.length)
      for (const { isRead, key, value } of ops) {
        writer.byte(isRead ? 0 : 1)
        writeInt64(writer, key, false)
        writeInt64(writer, value, false)
        writer.byte(1)
      }
      writer.byte(history.txnStatus[txn] === ABORTED ? 0 : 1)
    }
  }
  writer.flush()
}
