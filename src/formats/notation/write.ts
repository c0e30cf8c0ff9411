// Writes the notation (read.ts). Main function: writeNotation.

import type { History } from '../../history/history.ts'
import { renderNotation } from '../../history/render-notation.ts'
import type { Sink } from '../sink.ts'

export function notationMisfits(history: History): string[] {
  return history.sql ? ['SQL statements'] : []
}

/** Of SQL statements it writes the rows they read and wrote, as registers. */
export function writeNotation(whole: History, sink: Sink): void {
  const history = { ...whole, sql: null }
  const named = history.txnStatus.some((_, txn) => history.txnLabel(txn) !== null)
  sink(new TextEncoder().encode(renderNotation(history, null, { ids: named })))
}
