// The way from bytes to a history: by the format's id, or by content. Runs in a browser;
// formats/open.ts adds files. Main function: parseHistory.

import { InputError, type Place } from '../base/errors.ts'
import { enlarged } from '../base/grow.ts'
import { hintFor } from '../base/slips.ts'
import type { History } from '../history/history.ts'
import { compareNatural } from './files.ts'
import { type FormatId, type FormatReader, findReader, READERS } from './readers.ts'
import { chunksOf, type HistoryParser, type Input, type ParseOptions } from './source.ts'

/** The order in which detection tries them: what looks like a native line may be another's. */
const DETECTION: readonly FormatId[] = [
  'jepsen',
  'jepsen-json',
  'dbcop-json',
  'viper',
  'native',
  'plume',
  'awdit',
  'hist',
  'notation',
  'dbcop',
  'cobra',
]

/** Bytes that detection looks at. */
export const HEAD_BYTES = 4096

/** The format of a file that begins with these bytes, or null. */
export function detectFormat(bytes: Uint8Array): FormatReader | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(bomLength(bytes), HEAD_BYTES))
  const id = DETECTION.find((candidate) => findReader(candidate)!.detect(head))
  return id === undefined ? null : findReader(id)
}

/** Bytes of a byte order mark at the beginning, which text formats do not count. */
function bomLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

export interface HistoryOptions extends ParseOptions {
  /** The format's id; by content if absent. */
  format?: string | undefined
}

/** Parses a history given as text, bytes, or chunks of bytes. Throws InputError. */
export function parseHistory(input: Input, options: HistoryOptions = {}): History {
  const parser = new AnyParser(options)
  for (const chunk of chunksOf(input)) parser.push(chunk)
  return parser.finish()
}

/** A file of a history that is a directory. */
export interface HistoryFile {
  readonly name: string
  readonly chunks: Iterable<Uint8Array>
}

/** Parses a history that is a directory, such as Cobra's logs; the files in any order. */
export function parseHistoryFiles(
  files: Iterable<HistoryFile>,
  format: FormatReader,
  options: ParseOptions = {},
): History {
  const parser = format.parser(options)
  for (const { name, chunks } of [...files].sort((a, b) => compareNatural(a.name, b.name))) {
    try {
      parser.beginFile?.(name)
      for (const chunk of chunks) parser.push(chunk)
      parser.endFile?.()
    } catch (error) {
      if (error instanceof InputError) error.path ??= name
      throw error
    }
  }
  return parser.finish()
}

/** Waits for enough bytes to tell the format, then hands everything to its parser. */
export class AnyParser implements HistoryParser {
  /** The format, once it is known. */
  format: FormatReader | null
  private parser: HistoryParser | null = null
  private head: Uint8Array = new Uint8Array(0)

  constructor(private readonly options: HistoryOptions = {}) {
    this.format = options.format === undefined ? null : findReader(options.format)
    if (options.format !== undefined && this.format === null) {
      const known = READERS.map((reader) => reader.id)
      const message = `unknown format ${JSON.stringify(options.format)}`
      throw new InputError('unknown-format', message, null, hintFor(options.format, known))
    }
  }

  push(bytes: Uint8Array): void {
    if (this.parser) return this.parser.push(bytes)
    const head = enlarged(this.head, this.head.length + bytes.length)
    head.set(bytes, this.head.length)
    this.head = head
    if (head.length >= HEAD_BYTES) this.begin()
  }

  finish(): History {
    return (this.parser ?? this.begin()).finish()
  }

  /** The format's own parser, once the format is known. */
  get inner(): HistoryParser | null {
    return this.parser
  }

  place(): Place {
    return this.parser?.place() ?? { line: 1, column: 1 }
  }

  private begin(): HistoryParser {
    const { head } = this
    this.format ??= detectFormat(head)
    if (this.format === null) {
      const known = READERS.map((reader) => reader.id).join(', ')
      const hint = `say which it is (--format, or the option format): ${known}`
      const message = 'the input is in no known format'
      throw new InputError('unknown-format', message, { line: 1, column: 1 }, hint)
    }
    this.parser = this.format.parser(this.options)
    this.head = new Uint8Array(0)
    this.parser.push(head.subarray(bomLength(head)))
    return this.parser
  }
}
