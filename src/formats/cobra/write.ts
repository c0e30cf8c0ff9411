// Writes Cobra's logs: one file a session, T0.log, T1.log, … Keys are their own hashes.

import { type History, INDETERMINATE, NONE } from '../../history/history.ts'
import type { Value } from '../../history/values.ts'
import { writeInt64 } from '../binary.ts'
import { type Capacity, isI64, keptBySession, Numbering, PLAIN } from '../fit.ts'
import { ByteWriter, type Sink } from '../sink.ts'
import { INITIAL_ID, isReserved } from './read.ts'

export const COBRA: Capacity = {
  ...PLAIN,
  keys: isI64,
  values: (value) => isI64(value) && !isReserved(value as number | bigint),
  sessions: 'integers',
  initial: null,
  txnNames: 'integers',
  indeterminate: 'last',
  aborted: 'none',
  order: 'files',
}

/** Writes the files of the directory, each into the sink that `open` gives for its name. */
export function writeCobra(history: History, open: (name: string) => Sink): void {
  const numbering = new Numbering(history, COBRA)
  for (const [session, kept] of keptBySession(history, COBRA).entries()) {
    const writer = new ByteWriter(open(`T${numbering.session(session)}.log`))
    const end = history.sessionTxnStart[session + 1]!
    const last = end > history.sessionTxnStart[session]! ? history.sessionTxns[end - 1]! : NONE
    for (const txn of kept) {
      writeTxn(writer, history, numbering, txn)
      if (txn === last && history.txnStatus[txn] === INDETERMINATE) continue // left open
      writer.text('C')
      writeInt64(writer, numbering.txn(txn), true)
    }
    writer.flush()
  }
}

function writeTxn(writer: ByteWriter, history: History, numbering: Numbering, txn: number): void {
  writer.text('S')
  writeInt64(writer, numbering.txn(txn), true)
  for (const { op, isRead, key, value } of numbering.ops(txn)) {
    writer.text(isRead ? 'R' : 'W')
    if (isRead) writeInt64(writer, writerOf(history, numbering, op), true)
    for (const word of [value ?? INITIAL_ID, key, value ?? INITIAL_ID]) {
      writeInt64(writer, word, true)
    }
  }
}

/** The transaction that a read names as its writer; one that nobody wrote has none, 0. */
function writerOf(history: History, numbering: Numbering, op: number): Value {
  if (numbering.value(history.opValue[op]!) === null) return INITIAL_ID
  const write = history.readFrom[op]!
  return write < 0 ? 0 : numbering.txn(history.opTxn[write]!)
}
