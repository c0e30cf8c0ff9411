// The notation as a file format; the grammar and the work are in history/notation.ts.

import type { History } from '../history/history.ts'
import { parseNotation, renderNotation } from '../history/notation.ts'
import type { Sink } from './sink.ts'
import { Gatherer, type HistoryParser, limitsFor, type ParseOptions } from './source.ts'

const MAX_TEXT_BYTES = 256 * 2 ** 20 // notation is for people; it is parsed as one string

export class NotationFileParser implements HistoryParser {
  private readonly gatherer: Gatherer

  constructor(options: ParseOptions = {}) {
    const { totalBytes } = limitsFor(options.memoryBytes)
    this.gatherer = new Gatherer(totalBytes, MAX_TEXT_BYTES)
  }

  push(bytes: Uint8Array): void {
    this.gatherer.push(bytes)
  }

  finish(): History {
    return parseNotation(this.gatherer.text())
  }

  place() {
    return { line: 1, column: 1 }
  }
}

export function notationMisfits(history: History): string[] {
  return history.sql ? ['SQL statements'] : []
}

/** Of SQL statements it writes the rows they read and wrote, as registers. */
export function writeNotation(whole: History, sink: Sink): void {
  const history = { ...whole, sql: null }
  const named = Array.from({ length: history.txnCount }, (_, txn) => txn).some(
    (txn) => history.txnLabel(txn) !== null,
  )
  sink(new TextEncoder().encode(renderNotation(history, null, { ids: named })))
}
