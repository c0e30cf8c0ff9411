// How each format is told from others and read, in one table. Apart from how they are written
// (writers.ts), so that who only reads and judges, in a page, does not load the writers.

import { AwditParser } from './awdit/read.ts'
import { CobraParser } from './cobra/read.ts'
import { DbcopParser } from './dbcop/read.ts'
import { DbcopJsonParser } from './dbcop-json/read.ts'
import * as detect from './detect.ts'
import { HistParser } from './hist/read.ts'
import { JepsenParser } from './jepsen/read.ts'
import { NativeParser } from './native/read.ts'
import { NotationFileParser } from './notation/read.ts'
import { PlumeParser } from './plume/read.ts'
import type { HistoryParser, ParseOptions } from './source.ts'
import { ViperParser } from './viper/read.ts'

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

/** What reads a format. */
export interface FormatReader {
  readonly id: FormatId
  readonly name: string
  /** Whether a file that begins with these bytes (as Latin-1 text) is in this format. */
  detect(head: string): boolean
  parser(options: ParseOptions): HistoryParser
  /** Set if a history is a directory with one file a session: the endings of the files' names. */
  readonly fileEndings?: RegExp
}

export const READERS: readonly FormatReader[] = [
  {
    id: 'native',
    name: 'native JSON Lines',
    detect: detect.looksNative,
    parser: (options) => new NativeParser(options),
  },
  {
    id: 'notation',
    name: 'notation',
    detect: detect.looksLikeNotation,
    parser: (options) => new NotationFileParser(options),
  },
  {
    id: 'plume',
    name: 'Plume text',
    detect: detect.looksLikePlume,
    parser: (options) => new PlumeParser(options),
  },
  {
    id: 'awdit',
    name: 'AWDIT test text',
    detect: detect.looksLikeAwdit,
    parser: (options) => new AwditParser(options),
  },
  {
    id: 'cobra',
    name: 'Cobra log directory',
    detect: detect.looksLikeCobra,
    parser: (options) => new CobraParser(options),
    fileEndings: /\.log$/,
  },
  {
    id: 'dbcop',
    name: 'dbcop bincode',
    detect: detect.looksLikeDbcop,
    parser: (options) => new DbcopParser(options),
  },
  {
    id: 'dbcop-json',
    name: 'dbcop JSON',
    detect: detect.looksLikeDbcopJson,
    parser: (options) => new DbcopJsonParser(options),
  },
  {
    id: 'hist',
    name: 'dbcop .hist text',
    detect: detect.looksLikeHist,
    parser: (options) => new HistParser(options),
  },
  {
    id: 'viper',
    name: 'Viper JSON lines, one file a session',
    detect: detect.looksLikeViper,
    parser: (options) => new ViperParser(options),
    fileEndings: /\.(jsonl?|log)$/,
  },
  {
    id: 'jepsen',
    name: 'Jepsen EDN',
    detect: detect.looksLikeJepsen,
    parser: (options) => new JepsenParser(options),
  },
  {
    id: 'jepsen-json',
    name: 'Jepsen JSON',
    detect: detect.looksLikeJepsenJson,
    parser: (options) => new JepsenParser(options),
  },
]

export function findReader(id: string): FormatReader | null {
  return READERS.find((reader) => reader.id === id) ?? null
}
