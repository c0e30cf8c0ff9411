// From text or bytes to a history, at once. Main function: parseHistory.

import { UsageError } from '../base/errors.ts'
import { parseHistory as parse } from '../formats/parse.ts'
import type { FormatId } from '../formats/readers.ts'
import type { Input } from '../formats/source.ts'
import type { History } from '../history/history.ts'
import { expectOptions, FLAG, type Tests, WORD } from './options.ts'

/**
 * How text and bytes are read.
 *
 * @example
 * parseHistory(text, { format: 'plume' })
 */
export interface ReadOptions {
  /** The format of text or bytes; by content unless told. */
  format?: FormatId
  /** Whether a key may be given one value twice, so that a read has several possible writers. */
  duplicateValues?: boolean
}

export const READ_OPTIONS: Tests<ReadOptions> = { format: WORD, duplicateValues: FLAG }

/**
 * The history that a text, bytes or chunks of bytes hold, in any format. Compressed bytes and plain
 * objects are for `check`. Throws InputError, UsageError.
 *
 * @example
 * const history = parseHistory('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)')
 * history.txnCount // 2
 */
export function parseHistory(input: Input, options: ReadOptions = {}): History {
  const given = expectOptions(options, READ_OPTIONS)
  if (!isCompressed(input)) return parse(input, given)
  throw new UsageError('input: the bytes are compressed', 'await check(bytes), or decompress them')
}

export function isCompressed(input: unknown): input is Uint8Array {
  return input instanceof Uint8Array && input[0] === 0x1f && input[1] === 0x8b
}
