// Writes Viper's JSON lines (read.ts), one file a session. Main function: writeViper.

import type { History } from '../../history/history.ts'
import { type Capacity, keptBySession, type NumberedOp, Numbering, PLAIN } from '../fit.ts'
import { ByteWriter, renderJson, type Sink } from '../sink.ts'

export const VIPER: Capacity = {
  ...PLAIN,
  keys: (key) => key !== null,
  values: (value) => value !== null,
  sessions: 'integers',
  initial: null,
  aborted: 'none',
  order: 'files',
}

/** Writes the files of the directory, each into the sink that `open` gives for its name. */
export function writeViper(history: History, open: (name: string) => Sink): void {
  const numbering = new Numbering(history, VIPER)
  for (const [session, txns] of keptBySession(history, VIPER).entries()) {
    const writer = new ByteWriter(open(`T${numbering.session(session)}.jsonl`))
    for (const txn of txns) {
      const ops = numbering.ops(txn).map(renderOp)
      writer.text(`{"value":[${ops}]}\n`)
    }
    writer.flush()
  }
}

function renderOp({ isRead, key, value }: NumberedOp): string {
  return `["${isRead ? 'r' : 'w'}",${renderJson(key)},${renderJson(value)},${!isRead}]`
}
