// Writes Cobra's logs: one file a session, T0.log, T1.log, … Keys are their own hashes.

import { type History, INDETERMINATE, NONE, READ, WRITE } from '../../history/history.ts'
import type { Value } from '../../history/values.ts'
import { writeInt64 } from '../binary.ts'
import { badFileName } from '../files.ts'
import { type Capacity, findMisfits, isI64, keptBySession, Numbering } from '../fit.ts'
import { ByteWriter, type Sink } from '../sink.ts'
import { INITIAL_ID, isReserved } from './read.ts'

const CAPACITY: Capacity = {
  keys: isI64,
  values: (value) => isI64(value) && !isReserved(value as number | bigint),
  sessions: 'integers',
  initial: null,
  txnNames: 'integers',
  times: false,
  levels: false,
  indeterminate: 'last',
  aborted: 'none',
  emptyTxns: true,
  lists: false,
  order: 'files',
}

export function cobraMisfits(history: History): string[] {
  const file = badFileName(history)
  const reasons = findMisfits(history, CAPACITY).filter((reason) => reason !== file)
  return file === null ? reasons : [...reasons, file]
}

/** Writes the files of the directory, each into the sink that `open` gives for its name. */
export function writeCobra(history: History, open: (name: string) => Sink): void {
  const numbering = new Numbering(history, CAPACITY)
  for (const [session, kept] of keptBySession(history, CAPACITY).entries()) {
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
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    const kind = history.opKind[op]!
    if (kind !== READ && kind !== WRITE) continue
    const key = numbering.key(history.opKey[op]!)
    const value = numbering.value(history.opValue[op]!) ?? INITIAL_ID
    writer.text(kind === READ ? 'R' : 'W')
    if (kind === READ) writeInt64(writer, writerOf(history, numbering, op), true)
    writeInt64(writer, value, true)
    writeInt64(writer, key, true)
    writeInt64(writer, value, true)
  }
}

/** The transaction that a read names as its writer; one that nobody wrote has none, 0. */
function writerOf(history: History, numbering: Numbering, op: number): Value {
  if (numbering.value(history.opValue[op]!) === null) return INITIAL_ID
  const write = history.readFrom[op]!
  return write < 0 ? 0 : numbering.txn(history.opTxn[write]!)
}
