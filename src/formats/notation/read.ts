// The notation as a file format; the grammar and the work are in history/notation.ts.

import type { History } from '../../history/history.ts'
import { parseNotation } from '../../history/notation.ts'
import { Gatherer, type HistoryParser, type ParseOptions } from '../source.ts'

const MAX_TEXT_BYTES = 256 * 2 ** 20 // notation is for people; it is parsed as one string

export class NotationFileParser implements HistoryParser {
  private readonly gatherer: Gatherer

  constructor(private readonly options: ParseOptions = {}) {
    this.gatherer = new Gatherer(options, MAX_TEXT_BYTES)
  }

  push(bytes: Uint8Array): void {
    this.gatherer.push(bytes)
  }

  finish(): History {
    const { gatherer, options } = this
    return parseNotation(gatherer.text(), gatherer.step, options.duplicateValues)
  }

  place() {
    return { line: 1, column: 1 }
  }
}
