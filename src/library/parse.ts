// From text or bytes to a history, at once: the one file with which parsers are loaded before they
// are used. Main function: parseHistory.

import { UsageError } from '../base/errors.ts'
import { parseHistory as parse } from '../formats/parse.ts'
import type { Input } from '../formats/source.ts'
import type { History } from '../history/history.ts'
import { expectOptions, isCompressed, READ_OPTIONS, type ReadOptions } from './options.ts'

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
