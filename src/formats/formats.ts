// Every format in one table, and the way from bytes to a history: by the format's id, or by
// content. Runs in a browser; formats/open.ts adds files.

import { InputError, type Place, UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { History } from '../history/history.ts'
import { AwditParser } from './awdit/read.ts'
import { awditMisfits, writeAwdit } from './awdit/write.ts'
import { CobraParser } from './cobra/read.ts'
import { cobraMisfits, writeCobra } from './cobra/write.ts'
import { DbcopParser } from './dbcop/read.ts'
import { dbcopMisfits, writeDbcop } from './dbcop/write.ts'
import { DbcopJsonParser } from './dbcop-json/read.ts'
import { dbcopJsonMisfits, writeDbcopJson } from './dbcop-json/write.ts'
import * as detect from './detect.ts'
import { compareNatural } from './files.ts'
import { HistParser } from './hist/read.ts'
import { histMisfits, writeHist } from './hist/write.ts'
import { JepsenParser } from './jepsen/read.ts'
import { jepsenMisfits, writeJepsen, writeJepsenJson } from './jepsen/write.ts'
import { NativeParser } from './native/read.ts'
import { writeNative } from './native/write.ts'
import { NotationFileParser } from './notation/read.ts'
import { notationMisfits, writeNotation } from './notation/write.ts'
import { PlumeParser } from './plume/read.ts'
import { plumeMisfits, writePlume } from './plume/write.ts'
import type { Sink } from './sink.ts'
import { chunksOf, type HistoryParser, type Input, type ParseOptions } from './source.ts'
import { ViperParser } from './viper/read.ts'
import { viperMisfits, writeViper } from './viper/write.ts'

export type FormatId =
  | 'native'
  | 'notation'
  | 'plume'
  | 'awdit'
  | 'cobra'
  | 'dbcop'
  | 'dbcop-json'
  | 'hist'
  | 'viper'
  | 'jepsen'
  | 'jepsen-json'

export interface Format {
  readonly id: FormatId
  readonly name: string
  /** File name endings, without the dot; used only to choose a format for writing. */
  readonly extensions: readonly string[]
  /** Whether a file that begins with these bytes (as Latin-1 text) is in this format. */
  detect(head: string): boolean
  parser(options: ParseOptions): HistoryParser
  /**
   * Writes what the format can hold of the history.
   * @param opOrder operations in the order of their lines, where each has a line of its own.
   */
  write(history: History, sink: Sink, opOrder?: Int32Array | null): void
  /** Set if a history is a directory with one file a session: the endings of the files' names. */
  readonly fileEndings?: RegExp
  /** Writes those files one after another, each into the sink that `open` gives for its name. */
  writeFiles?(history: History, open: (name: string) => Sink): void
  /** Reasons why the history would not come back the same; empty if it would. */
  misfits(history: History): string[]
}

export const FORMATS: readonly Format[] = [
  {
    id: 'native',
    name: 'native JSON Lines',
    extensions: ['jsonl', 'ndjson', 'isobar'],
    detect: detect.looksNative,
    parser: (options) => new NativeParser(options),
    write: writeNative,
    misfits: () => [],
  },
  {
    id: 'notation',
    name: 'notation',
    extensions: ['notation'],
    detect: detect.looksLikeNotation,
    parser: (options) => new NotationFileParser(options),
    write: writeNotation,
    misfits: notationMisfits,
  },
  {
    id: 'plume',
    name: 'Plume text',
    extensions: ['plume', 'txt'],
    detect: detect.looksLikePlume,
    parser: (options) => new PlumeParser(options),
    write: writePlume,
    misfits: plumeMisfits,
  },
  {
    id: 'awdit',
    name: 'AWDIT test text',
    extensions: ['awdit'],
    detect: detect.looksLikeAwdit,
    parser: (options) => new AwditParser(options),
    write: writeAwdit,
    misfits: awditMisfits,
  },
  {
    id: 'cobra',
    name: 'Cobra log directory',
    extensions: [],
    detect: detect.looksLikeCobra,
    parser: (options) => new CobraParser(options),
    write: refuseStream,
    fileEndings: /\.log$/,
    writeFiles: writeCobra,
    misfits: cobraMisfits,
  },
  {
    id: 'dbcop',
    name: 'dbcop bincode',
    extensions: ['bincode'],
    detect: detect.looksLikeDbcop,
    parser: (options) => new DbcopParser(options),
    write: writeDbcop,
    misfits: dbcopMisfits,
  },
  {
    id: 'dbcop-json',
    name: 'dbcop JSON',
    extensions: ['json'],
    detect: detect.looksLikeDbcopJson,
    parser: (options) => new DbcopJsonParser(options),
    write: writeDbcopJson,
    misfits: dbcopJsonMisfits,
  },
  {
    id: 'hist',
    name: 'dbcop .hist text',
    extensions: ['hist'],
    detect: detect.looksLikeHist,
    parser: (options) => new HistParser(options),
    write: writeHist,
    misfits: histMisfits,
  },
  {
    id: 'viper',
    name: 'Viper JSON lines, one file a session',
    extensions: [],
    detect: detect.looksLikeViper,
    parser: (options) => new ViperParser(options),
    write: refuseStream,
    fileEndings: /\.(jsonl?|log)$/,
    writeFiles: writeViper,
    misfits: viperMisfits,
  },
  {
    id: 'jepsen',
    name: 'Jepsen EDN',
    extensions: ['edn'],
    detect: detect.looksLikeJepsen,
    parser: (options) => new JepsenParser(options),
    write: writeJepsen,
    misfits: jepsenMisfits,
  },
  {
    id: 'jepsen-json',
    name: 'Jepsen JSON',
    extensions: [],
    detect: detect.looksLikeJepsenJson,
    parser: (options) => new JepsenParser(options),
    write: writeJepsenJson,
    misfits: jepsenMisfits,
  },
]

function refuseStream(): never {
  throw new UsageError('this format is a directory', 'name a directory to write to')
}

export function findFormat(id: string): Format | null {
  return FORMATS.find((format) => format.id === id) ?? null
}

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
export function detectFormat(bytes: Uint8Array): Format | null {
  const head = new TextDecoder('latin1').decode(bytes.subarray(bomLength(bytes), HEAD_BYTES))
  const id = DETECTION.find((candidate) => findFormat(candidate)!.detect(head))
  return id === undefined ? null : findFormat(id)
}

/** Bytes of a byte order mark at the beginning, which text formats do not count. */
function bomLength(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}

export interface HistoryOptions extends ParseOptions {
  /** The format's id; by content if absent. */
  format?: string
}

/** Parses a history given as text, bytes, or chunks of bytes. Throws InputError. */
export function parseHistory(input: Input, options: HistoryOptions = {}): History {
  const parser = new AnyParser(options)
  for (const chunk of chunksOf(input)) parser.push(chunk)
  return parser.finish()
}

/** Parses a history that arrives over time, such as a stream. */
export async function parseHistoryStream(
  input: AsyncIterable<Uint8Array>,
  options: HistoryOptions = {},
): Promise<History> {
  const parser = new AnyParser(options)
  for await (const chunk of input) parser.push(chunk)
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
  format: Format,
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
  format: Format | null
  private parser: HistoryParser | null = null
  private head: Uint8Array = new Uint8Array(0)
  private readonly options: HistoryOptions

  constructor(options: HistoryOptions = {}) {
    this.options = options
    this.format = options.format === undefined ? null : findFormat(options.format)
    if (options.format !== undefined && this.format === null) {
      const known = FORMATS.map((format) => format.id)
      const message = `unknown format ${JSON.stringify(options.format)}`
      throw new InputError('unknown-format', message, null, hintFor(options.format, known))
    }
  }

  push(bytes: Uint8Array): void {
    if (this.parser) return this.parser.push(bytes)
    const head = new Uint8Array(this.head.length + bytes.length)
    head.set(this.head)
    head.set(bytes, this.head.length)
    this.head = head
    if (head.length >= HEAD_BYTES) this.begin()
  }

  finish(): History {
    return (this.parser ?? this.begin()).finish()
  }

  place(): Place {
    return this.parser?.place() ?? { line: 1, column: 1 }
  }

  private begin(): HistoryParser {
    const { head } = this
    this.format ??= detectFormat(head)
    if (this.format === null) {
      const hint = `force one with --format ${FORMATS.map((format) => format.id).join('|')}`
      const message = 'the input is in no known format'
      throw new InputError('unknown-format', message, { line: 1, column: 1 }, hint)
    }
    this.parser = this.format.parser(this.options)
    this.head = new Uint8Array(0)
    this.parser.push(head.subarray(bomLength(head)))
    return this.parser
  }
}
