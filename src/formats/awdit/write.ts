// Writes AWDIT's test text (read.ts). Main function: writeAwdit.

import { type History, INITIAL } from '../../history/history.ts'
import { type Capacity, keptBySession, Numbering, PLAIN } from '../fit.ts'
import { ByteWriter, type Sink } from '../sink.ts'

export const AWDIT: Capacity = {
  ...PLAIN,
  initial: undefined,
  aborted: 'none',
  emptyTxns: false,
}

/** Where the initial state is read, it is written by a transaction in a session of its own. */
export function writeAwdit(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, AWDIT)
  const { readFrom, opKey } = history
  const initialKeys = new Set(opKey.filter((_, op) => readFrom[op] === INITIAL))
  for (const key of initialKeys) writer.text(`w ${numbering.key(key)} 0\n`)
  if (initialKeys.size > 0) writer.text('===\n')
  for (const [session, txns] of keptBySession(history, AWDIT).entries()) {
    if (session > 0) writer.text('===\n')
    for (const txn of txns) {
      if (history.txnIsInitial[txn]) continue
      if (txn !== txns[0]) writer.text('---\n')
      for (const { isRead, key, value } of numbering.ops(txn)) {
        writer.text(`${isRead ? 'r' : 'w'} ${key} ${value ?? 0}\n`)
      }
    }
  }
  writer.flush()
}
