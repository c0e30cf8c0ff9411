// Writes AWDIT's test text (read.ts). Main function: writeAwdit.

import { type History, INITIAL, READ, WRITE } from '../../history/history.ts'
import { type Capacity, findMisfits, isU64, keptBySession, Numbering } from '../fit.ts'
import { ByteWriter, RenderedKeys, type Sink } from '../sink.ts'

const CAPACITY: Capacity = {
  keys: isU64,
  values: isU64,
  sessions: 'positions',
  initial: undefined,
  txnNames: 'none',
  times: false,
  levels: false,
  indeterminate: 'none',
  aborted: 'none',
  emptyTxns: false,
  lists: false,
  order: 'sessions',
}

export function awditMisfits(history: History): string[] {
  return findMisfits(history, CAPACITY)
}

/** Where the initial state is read, it is written by a transaction in a session of its own. */
export function writeAwdit(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, CAPACITY)
  const keys = new RenderedKeys(history, (_, key) => String(numbering.key(key)))
  const put = (kind: number, key: number, value: string) => {
    writer.text(kind === READ ? 'r ' : 'w ')
    keys.write(writer, key)
    writer.text(` ${value}\n`)
  }
  const initialKeys = keysReadInitially(history)
  for (const key of initialKeys) put(WRITE, key, '0')
  if (initialKeys.size > 0) writer.text('===\n')
  for (const [session, txns] of keptBySession(history, CAPACITY).entries()) {
    if (session > 0) writer.text('===\n')
    for (const txn of txns) {
      if (history.txnIsInitial[txn]) continue
      if (txn !== txns[0]) writer.text('---\n')
      for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
        const kind = history.opKind[op]!
        if (kind !== READ && kind !== WRITE) continue
        put(kind, history.opKey[op]!, String(numbering.value(history.opValue[op]!) ?? 0))
      }
    }
  }
  writer.flush()
}

function keysReadInitially(history: History): Set<number> {
  const keys = new Set<number>()
  for (let op = 0; op < history.opCount; op++) {
    if (history.readFrom[op] === INITIAL) keys.add(history.opKey[op]!)
  }
  return keys
}
