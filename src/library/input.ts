// What a program may hand over as a history: one that was parsed, recorded or built; text or bytes
// of any format, compressed or not; or plain objects. Main functions: readInput, readInputSync.

import { InputError, UsageError } from '../base/errors.ts'
import { type HistoryOptions, parseHistory } from '../formats/parse.ts'
import type { FormatId } from '../formats/readers.ts'
import type { History } from '../history/history.ts'
import type { Value } from '../history/values.ts'
import { type PlainHistory, type PlainTransaction, renderPlain } from './plain.ts'

/** Anything that `check` takes for a history. */
export type HistoryInput =
  | History
  | string
  | Uint8Array
  | readonly PlainTransaction[]
  | PlainHistory

export interface ReadOptions {
  /** The format of text or bytes; by content if absent. */
  format?: FormatId
  /** The value that every key has before anything is written, where the format does not say. */
  initial?: Value
  /** Whether a key may be given one value twice, so that a read has several possible writers. */
  duplicateValues?: boolean
}

/** The history in whatever form it came. Throws InputError, UsageError. */
export async function readInput(input: HistoryInput, options: ReadOptions = {}): Promise<History> {
  return readInputSync(isCompressed(input) ? await unzip(input) : input, options)
}

/** As readInput, for what is not compressed. */
function readInputSync(input: HistoryInput, options: ReadOptions = {}): History {
  if (isHistory(input)) return input
  if (typeof input === 'string' || input instanceof Uint8Array) {
    if (isCompressed(input)) {
      throw new UsageError('compressed bytes are read by check(), not by checkSync()')
    }
    return parseHistory(input, parseOptions(options))
  }
  return parsePlain(input, options)
}

export function isHistory(input: unknown): input is History {
  return typeof input === 'object' && input !== null && 'txnOpStart' in input
}

function parseOptions({ format, initial, duplicateValues }: ReadOptions): HistoryOptions {
  return {
    ...(format === undefined ? {} : { format }),
    ...(initial === undefined ? {} : { initial }),
    ...(duplicateValues ? { duplicateValues } : {}),
  }
}

function parsePlain(
  input: readonly PlainTransaction[] | PlainHistory,
  { duplicateValues = false }: ReadOptions,
): History {
  try {
    return parseHistory(renderPlain(input), { format: 'native', duplicateValues })
  } catch (error) {
    // The first line is the header; each other line is a transaction of the caller's.
    if (!(error instanceof InputError) || error.place === null || error.place.line < 2) throw error
    const at = `transactions[${error.place.line - 2}]`
    throw new InputError(error.code, `${at}: ${error.message}`, null, error.hint)
  }
}

function isCompressed(input: unknown): input is Uint8Array {
  return input instanceof Uint8Array && input[0] === 0x1f && input[1] === 0x8b
}

async function unzip(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new DecompressionStream('gzip'))
  try {
    return new Uint8Array(await new Response(stream).arrayBuffer())
  } catch (error) {
    const why = (error as Error).message
    throw new InputError('bad-gzip', `the compressed input is damaged: ${why}`)
  }
}
