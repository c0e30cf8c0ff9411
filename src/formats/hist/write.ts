// Writes dbcop's .hist text (read.ts). Main function: writeHist.

import { ABORTED, type History } from '../../history/history.ts'
import { type Capacity, isU64, keptBySession, Numbering, PLAIN } from '../fit.ts'
import { ByteWriter, type Sink } from '../sink.ts'

export const HIST: Capacity = {
  ...PLAIN,
  keys: (key) => (typeof key === 'string' ? /^[A-Za-z_]\w*$/.test(key) : isU64(key)),
}

export function writeHist(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, HIST)
  for (const [session, txns] of keptBySession(history, HIST).entries()) {
    if (session > 0) writer.text('---\n')
    for (const txn of txns) {
      const words = numbering
        .ops(txn)
        .map(({ isRead, key, value }) =>
          isRead ? `${key}==${value ?? '?'}` : `${key}:=${value ?? 0}`,
        )
      writer.text(`[${words.join(' ')}]${history.txnStatus[txn] === ABORTED ? '!' : ''}\n`)
    }
  }
  writer.flush()
}
