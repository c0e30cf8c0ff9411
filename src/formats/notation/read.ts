// The notation as a file format; the grammar and the work are in history/notation.ts.

import type { History } from '../../history/history.ts'
import { parseNotation } from '../../history/notation.ts'
import { DocumentParser, type ParseOptions } from '../source.ts'

const MAX_TEXT_BYTES = 256 * 2 ** 20 // notation is for people; it is parsed as one string

export class NotationFileParser extends DocumentParser {
  constructor(options: ParseOptions = {}) {
    super(options, MAX_TEXT_BYTES)
  }

  finish(): History {
    return parseNotation(this.text(), this.step, this.options.duplicateValues)
  }
}
