// Writes dbcop's JSON (read.ts). Main function: writeDbcopJson.

import { ABORTED, type History, READ, WRITE } from '../../history/history.ts'
import {
  type Capacity,
  DBCOP_CAPACITY,
  findMisfits,
  isU64,
  keptBySession,
  Numbering,
} from '../fit.ts'
import { ByteWriter, renderJson, type Sink } from '../sink.ts'

const CAPACITY: Capacity = {
  keys: isU64,
  values: isU64,
  ...DBCOP_CAPACITY,
}

export function dbcopJsonMisfits(history: History): string[] {
  return findMisfits(history, CAPACITY)
}

export function writeDbcopJson(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, CAPACITY)
  const epoch = '"1970-01-01T00:00:00Z"'
  const params = `{"n_node":${history.sessionCount},"n_variable":${history.keyCount}}`
  writer.text(`{"params":${params},"info":"isobar","start":${epoch},"end":${epoch},"data":[`)
  for (const [session, txns] of keptBySession(history, CAPACITY).entries()) {
    writer.text(session > 0 ? ',\n[' : '\n[')
    let first = true
    for (const txn of txns) {
      const committed = history.txnStatus[txn] !== ABORTED
      writer.text(`${first ? '' : ','}\n{"events":[${eventsOf(history, numbering, txn)}]`)
      writer.text(`,"committed":${committed}}`)
      first = false
    }
    writer.text(']')
  }
  writer.text(']}\n')
  writer.flush()
}

function eventsOf(history: History, numbering: Numbering, txn: number): string {
  const events: string[] = []
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    const kind = history.opKind[op]!
    if (kind !== READ && kind !== WRITE) continue
    const key = renderJson(numbering.key(history.opKey[op]!))
    const value = numbering.value(history.opValue[op]!)
    // A write of the initial state names it; only reads may say null.
    const version = renderJson(kind === WRITE ? (value ?? 0) : value)
    const name = kind === READ ? 'Read' : 'Write'
    events.push(`{"${name}":{"variable":${key},"version":${version}}}`)
  }
  return events.join(',')
}
