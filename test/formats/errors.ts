// One way to look at how an input is refused: `line:column code: message`.

import { InputError } from '../../src/base/errors.ts'
import { parseHistory } from '../../src/formats/parse.ts'
import type { Input } from '../../src/formats/source.ts'

/** How the input is refused. Fails where it is accepted, or breaks in any other way. */
export function refusal(input: Input, format?: string): string {
  try {
    parseHistory(input, format === undefined ? {} : { format })
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    const place = error.place ? `${error.place.line}:${error.place.column}` : 'nowhere'
    return `${place} ${error.code}: ${error.message}`
  }
  throw new Error('the input was accepted')
}
