// A history as bytes of any format that is one file.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import { FORMATS, findFormat } from '../formats/formats.ts'
import type { FormatId } from '../formats/readers.ts'
import type { History } from '../history/history.ts'
import { expectHistory } from './options.ts'

/**
 * The history in another format. Throws UsageError if that could not hold all of it, with what
 * would be lost.
 *
 * @example
 * const text = new TextDecoder().decode(writeHistory(history, 'plume'))
 */
export function writeHistory(history: History, id: FormatId = 'native'): Uint8Array {
  expectHistory(history)
  const format = findFormat(String(id))
  if (format === null) {
    const known = FORMATS.map((each) => each.id)
    throw new UsageError(`unknown format ${JSON.stringify(String(id))}`, hintFor(String(id), known))
  }
  const lost = format.misfits(history)
  if (lost.length > 0) throw new UsageError(`${format.name} cannot hold it: ${lost.join('; ')}`)
  const parts: Uint8Array[] = []
  format.write(history, (bytes) => parts.push(bytes.slice()))
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
