// Writes dbcop's JSON (read.ts). Main function: writeDbcopJson.

import { ABORTED, type History } from '../../history/history.ts'
import { keptBySession, type NumberedOp, Numbering, PLAIN } from '../fit.ts'
import { ByteWriter, renderJson, type Sink } from '../sink.ts'

export function writeDbcopJson(history: History, sink: Sink): void {
  const writer = new ByteWriter(sink)
  const numbering = new Numbering(history, PLAIN)
  const epoch = '"1970-01-01T00:00:00Z"'
  const params = `{"n_node":${history.sessionCount},"n_variable":${history.keyCount}}`
  writer.text(`{"params":${params},"info":"isobar","start":${epoch},"end":${epoch},"data":[`)
  for (const [session, txns] of keptBySession(history, PLAIN).entries()) {
    writer.text(session > 0 ? ',\n[' : '\n[')
    let first = true
    for (const txn of txns) {
      const events = numbering.ops(txn).map(renderEvent)
      const committed = history.txnStatus[txn] !== ABORTED
      writer.text(`${first ? '' : ','}\n{"events":[${events}],"committed":${committed}}`)
      first = false
    }
    writer.text(']')
  }
  writer.text(']}\n')
  writer.flush()
}

function renderEvent({ isRead, key, value }: NumberedOp): string {
  // A write of the initial state names it; only reads may say null.
  const version = renderJson(isRead ? value : (value ?? 0))
  return `{"${isRead ? 'Read' : 'Write'}":{"variable":${renderJson(key)},"version":${version}}}`
}
