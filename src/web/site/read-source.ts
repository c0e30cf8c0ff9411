// From what somebody handed over to a history, inside the worker: text, one file of any format,
// compressed or not, or the files of a format that has one for each session. Bytes go to the parser
// as they come; no file is ever one string. Main function: readSource.

import { InputError } from '../../base/errors.ts'
import {
  AnyParser,
  detectFormat,
  HEAD_BYTES,
  type HistoryFile,
  parseHistoryFiles,
} from '../../formats/parse.ts'
import type { History } from '../../history/history.ts'
import type { Source } from './protocol.ts'

export interface ReadSource {
  readonly history: History
  readonly name: string
  readonly format: string
}

/** @param tell is told how much has been read, from 0 to 1 */
export async function readSource(
  source: Source,
  tell: (share: number) => void,
): Promise<ReadSource> {
  if (source.kind === 'text') {
    const parser = new AnyParser()
    parser.push(new TextEncoder().encode(source.text))
    return finish(parser, source.name)
  }
  const { files } = source
  const [only] = files
  if (only === undefined) throw new InputError('no-file', 'there is no file')
  return files.length === 1 ? readFile(only, tell) : readFiles(files, tell)
}

function finish(parser: AnyParser, name: string): ReadSource {
  const history = parser.finish()
  if (history.txnCount === 0) {
    const hint = 'a history has a transaction at least, such as s1: r(x,0) w(x,1)'
    throw new InputError('empty-history', 'the history has no transactions', null, hint)
  }
  return { history, name, format: parser.format!.id }
}

async function readFile(file: File, tell: (share: number) => void): Promise<ReadSource> {
  const parser = new AnyParser((await isGzip(file)) ? {} : { sizeBytes: file.size })
  for await (const chunk of chunksOf(file, tell)) parser.push(chunk)
  return finish(parser, file.name)
}

/** One history in several files, a session each; others are several histories. */
async function readFiles(
  files: readonly File[],
  tell: (share: number) => void,
): Promise<ReadSource> {
  const [first] = files
  const format = detectFormat(await headOf(first!))
  if (!format?.fileEndings) {
    const hint = 'several files are one history only where each holds a session (Cobra, Viper)'
    throw new InputError('many-files', 'these are several histories', null, hint)
  }
  const read: HistoryFile[] = []
  for (const [i, file] of files.entries()) {
    const chunks: Uint8Array[] = []
    for await (const chunk of chunksOf(file, () => tell(i / files.length))) chunks.push(chunk)
    read.push({ name: file.name.replace(/\.gz$/, ''), chunks })
  }
  const history = parseHistoryFiles(read, format)
  return { history, name: `${files.length} files`, format: format.id }
}

async function isGzip(file: File): Promise<boolean> {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer())
  return first === 0x1f && second === 0x8b
}

async function headOf(file: File): Promise<Uint8Array> {
  for await (const chunk of chunksOf(file, () => {})) return chunk.subarray(0, HEAD_BYTES)
  return new Uint8Array(0)
}

async function* chunksOf(file: File, tell: (share: number) => void): AsyncGenerator<Uint8Array> {
  let readBytes = 0
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      readBytes += chunk.length
      tell(readBytes / file.size)
      controller.enqueue(chunk)
    },
  })
  const counted = file.stream().pipeThrough(counter)
  const isCompressed = await isGzip(file)
  const stream = isCompressed ? counted.pipeThrough(new DecompressionStream('gzip')) : counted
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (error) {
    if (!isCompressed || error instanceof InputError) throw error
    throw new InputError('bad-gzip', 'the compressed input is damaged')
  } finally {
    reader.cancel().catch(() => {}) // whatever went wrong was said before
  }
}
