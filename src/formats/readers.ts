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

/** The name of a format. */
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
  /** @internal */
  parser(options: ParseOptions): HistoryParser
  /** Set if a history is a directory with one file a session: the endings of the files' names. */
  readonly fileEndings?: RegExp
}

function row(
  id: FormatId,
  name: string,
  looks: RegExp | FormatReader['detect'],
  Parser: new (options: ParseOptions) => HistoryParser,
  files?: Pick<FormatReader, 'fileEndings'>,
): FormatReader {
  const detect = looks instanceof RegExp ? (head: string) => looks.test(head) : looks
  return { id, name, detect, parser: (options) => new Parser(options), ...files }
}

export const READERS: readonly FormatReader[] = [
  row('native', 'native JSON Lines', detect.NATIVE, NativeParser),
  row('notation', 'notation', detect.looksLikeNotation, NotationFileParser),
  row('plume', 'Plume text', detect.PLUME, PlumeParser),
  row('awdit', 'AWDIT test text', detect.AWDIT, AwditParser),
  row('cobra', 'Cobra log directory', detect.looksLikeCobra, CobraParser, {
    fileEndings: /\.log$/,
  }),
  row('dbcop', 'dbcop bincode', detect.looksLikeDbcop, DbcopParser),
  row('dbcop-json', 'dbcop JSON', detect.looksLikeDbcopJson, DbcopJsonParser),
  row('hist', 'dbcop .hist text', detect.HIST, HistParser),
  row('viper', 'Viper JSON lines, one file a session', detect.looksLikeViper, ViperParser, {
    fileEndings: /\.(jsonl?|log)$/,
  }),
  row('jepsen', 'Jepsen EDN', detect.JEPSEN, JepsenParser),
  row('jepsen-json', 'Jepsen JSON', detect.looksLikeJepsenJson, JepsenParser),
]

export function findReader(id: string): FormatReader | null {
  return READERS.find((reader) => reader.id === id) ?? null
}
