// What a program may hand over as a history: one that was parsed, recorded or built; text or bytes
// of any format, compressed or not; or plain objects. Main function: readInput.

import { InputError, UsageError } from '../base/errors.ts'
import { parseHistory } from '../formats/parse.ts'
import type { History } from '../history/history.ts'
import { isCompressed, isHistory, type ReadOptions } from './options.ts'
import { type PlainHistory, type PlainTransaction, renderPlain } from './plain.ts'

/** Anything that `check` takes for a history. */
export type HistoryInput =
  | History
  | string
  | Uint8Array
  | readonly PlainTransaction[]
  | PlainHistory

/** The history in whatever form it came. Throws InputError, UsageError. */
export async function readInput(
  input: HistoryInput,
  { format, duplicateValues }: ReadOptions = {},
): Promise<History> {
  const given = isCompressed(input) ? await unzip(input) : input
  if (typeof given === 'string' || given instanceof Uint8Array) {
    return parseHistory(given, { format, duplicateValues })
  }
  if (format !== undefined) {
    throw new UsageError('options.format: only text and bytes have a format', 'leave it out')
  }
  if (isHistory(given)) return given
  const text = renderPlain(given)
  return namingTransactions(given, () => parseHistory(text, { format: 'native', duplicateValues }))
}

/**
 * What `run` makes of the input; errors name transactions where it is plain objects, which have no
 * lines.
 */
export async function namingTransactions<T>(
  input: HistoryInput,
  run: () => T | Promise<T>,
): Promise<T> {
  try {
    return await run()
  } catch (error) {
    const isPlain = typeof input === 'object' && !isHistory(input) && !(input instanceof Uint8Array)
    // The first line is the header; each other line is a transaction of the caller's.
    if (!isPlain || !(error instanceof InputError) || (error.place?.line ?? 0) < 2) throw error
    const at = `transactions[${error.place!.line - 2}]`
    throw new InputError(error.code, `${at}: ${error.message}`, null, error.hint)
  }
}

async function unzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'))
  try {
    const whole = new Uint8Array(await new Response(stream).arrayBuffer())
    if (!isCompressed(whole)) return whole
  } catch (error) {
    const why = (error as Error).message
    throw new InputError('bad-gzip', `the compressed input is damaged: ${why}`)
  }
  throw new InputError('bad-gzip', 'the input is compressed twice', null, 'decompress it once')
}
