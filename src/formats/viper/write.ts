// Writes Viper's JSON lines (read.ts), one file a session. Main function: writeViper.

import { type History, READ, WRITE } from '../../history/history.ts'
import { badFileName } from '../files.ts'
import { type Capacity, findMisfits, keptBySession, Numbering } from '../fit.ts'
import { ByteWriter, renderJson, type Sink } from '../sink.ts'

const CAPACITY: Capacity = {
  keys: (key) => key !== null,
  values: (value) => value !== null,
  sessions: 'integers',
  initial: null,
  txnNames: 'none',
  times: false,
  levels: false,
  indeterminate: 'none',
  aborted: 'none',
  emptyTxns: true,
  lists: false,
  order: 'files',
}

export function viperMisfits(history: History): string[] {
  const file = badFileName(history)
  const reasons = findMisfits(history, CAPACITY).filter((reason) => reason !== file)
  return file === null ? reasons : [...reasons, file]
}

/** Writes the files of the directory, each into the sink that `open` gives for its name. */
export function writeViper(history: History, open: (name: string) => Sink): void {
  const numbering = new Numbering(history, CAPACITY)
  for (const [session, txns] of keptBySession(history, CAPACITY).entries()) {
    const writer = new ByteWriter(open(`T${numbering.session(session)}.jsonl`))
    for (const txn of txns) {
      const ops: string[] = []
      for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
        const kind = history.opKind[op]!
        if (kind !== READ && kind !== WRITE) continue
        const key = renderJson(numbering.key(history.opKey[op]!))
        const value = renderJson(numbering.value(history.opValue[op]!))
        ops.push(kind === READ ? `["r",${key},${value},false]` : `["w",${key},${value},true]`)
      }
      writer.text(`{"value":[${ops.join(',')}]}\n`)
    }
    writer.flush()
  }
}
