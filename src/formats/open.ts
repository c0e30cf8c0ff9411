// Reading histories from files: plain, compressed, or standard input. The only part of the parsers
// that needs Node. Plain files are read synchronously into one buffer that is used again and again,
// the fastest way there is; compressed ones and standard input come as streams.

import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline, Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { InputError } from '../base/errors.ts'
import type { History } from '../history/history.ts'
import { findHistoryDirectory } from './directory.ts'
import { AnyParser, detectFormat, type HistoryOptions, parseHistoryFiles } from './parse.ts'
import type { ReadAhead } from './plume/ahead.ts'
import type { FormatReader } from './readers.ts'
import { limitsFor, tooLarge } from './source.ts'
import { chunksInTime, type OnWait, openPipe } from './waiting.ts'

const CHUNK_BYTES = 1 << 20 // fits the second-level cache with what the parser touches

export interface ReadOptions extends HistoryOptions {
  /** Called now and then with the bytes read so far, and all there are (0 if that is not known). */
  onProgress?: (readBytes: number, totalBytes: number) => void
  /** Called now and then while standard input or a pipe is silent; may throw to give up. */
  onWait?: OnWait
}

export interface ReadResult {
  history: History
  format: FormatReader
  /** Bytes parsed, after decompression. */
  bytes: number
}

/** Reads the history in a file; `-` is standard input. Throws InputError, with its path. */
export async function readHistory(path: string, options: ReadOptions = {}): Promise<ReadResult> {
  try {
    return path === '-' ? await readStdin(options) : await readFile(path, options)
  } catch (error) {
    if (error instanceof InputError) error.path ??= path === '-' ? 'standard input' : path
    throw error
  }
}

async function readFile(path: string, options: ReadOptions): Promise<ReadResult> {
  if (isPipe(path)) return readChunks(openPipe(path, options.onWait), options)
  const file = asked(() => openSync(path, 'r'))
  try {
    const stat = fstatSync(file)
    if (stat.isDirectory()) return await readDirectory(path, options)
    const size = stat.isFile() ? stat.size : 0
    const limit = limitsFor(options.memoryBytes).totalBytes
    if (size > limit) throw tooLarge('the file', limit, null)
    const buffer = new Uint8Array(CHUNK_BYTES)
    const first = readSync(file, buffer, 0, buffer.length, null)
    if (isGzip(buffer.subarray(0, first))) {
      return await readStream(unzip(copiesOf(file, buffer, first)), options)
    }
    const ahead = await startAhead(file, size, buffer.subarray(0, first), options)
    if (ahead === null) return readPlain(file, buffer, first, size, options)
    try {
      return readWithAhead(file, buffer, first, size, options, ahead)
    } finally {
      ahead.stop()
    }
  } finally {
    closeSync(file)
  }
}

/** From so many bytes on, a second thread may pay for its start. */
const LARGE_BYTES = 1 << 26

/** A thread that parses ahead, where that is worth it; it takes memory beyond what is allowed. */
async function startAhead(
  file: number,
  size: number,
  head: Uint8Array,
  { format, memoryBytes }: ReadOptions,
): Promise<ReadAhead | null> {
  if (size < LARGE_BYTES || memoryBytes !== undefined) return null
  if ((format ?? detectFormat(head)?.id) !== 'plume') return null
  const { ReadAhead } = await import('./plume/ahead.ts')
  return ReadAhead.start(file, size)
}

/** As `readPlain`, with a thread that parses ahead. */
export function readWithAhead(
  file: number,
  buffer: Uint8Array,
  first: number,
  size: number,
  options: ReadOptions,
  ahead: ReadAhead,
): ReadResult {
  const parser = new AnyParser({ ...options, sizeBytes: size })
  parser.push(buffer.subarray(0, first))
  let at = first // bytes of the file that the parser has
  /** Gives it the bytes up to there; fewer if the file ends before. */
  const pushUpTo = (end: number) => {
    while (at < end) {
      const length = readSync(file, buffer, 0, Math.min(buffer.length, end - at), at)
      if (length === 0) return
      parser.push(buffer.subarray(0, length))
      at += length
    }
  }
  const chunkCount = Math.ceil(size / ahead.chunkBytes)
  for (let chunk = Math.floor(at / ahead.chunkBytes); chunk < chunkCount; chunk++) {
    const found = ahead.take(chunk)
    if (found !== null && found.lines > 0 && found.from >= at) {
      pushUpTo(found.from)
      if (at === found.from && parser.inner?.takeLines?.(found, found.lines)) at = found.to
    }
    pushUpTo(Math.min(size, (chunk + 1) * ahead.chunkBytes))
    options.onProgress?.(at, size)
  }
  const limit = limitsFor(options.memoryBytes).totalBytes
  pushUpTo(limit + 1) // a growing file may have more to give than its size said
  if (at > limit) throw tooLarge('the file', limit, parser.place())
  return { history: parser.finish(), format: parser.format!, bytes: at }
}

function readPlain(
  file: number,
  buffer: Uint8Array,
  first: number,
  size: number,
  options: ReadOptions,
): ReadResult {
  const parser = new AnyParser({ ...options, sizeBytes: size })
  const limit = limitsFor(options.memoryBytes).totalBytes
  let bytes = 0
  let length = first
  while (length > 0) {
    bytes += length
    // A pipe or a growing file may have more to give than its size said.
    if (bytes > limit) throw tooLarge('the file', limit, parser.place())
    parser.push(buffer.subarray(0, length))
    options.onProgress?.(bytes, size)
    length = readSync(file, buffer, 0, buffer.length, null)
  }
  return { history: parser.finish(), format: parser.format!, bytes }
}

async function readStdin(options: ReadOptions): Promise<ReadResult> {
  const { stdin } = process
  const chunks = stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>
  const inTime = chunksInTime(chunks, options.onWait, () => stdin.destroy())
  return readChunks(inTime, options)
}

/** What others write while it is read, compressed or not. */
async function readChunks(
  chunks: AsyncGenerator<Uint8Array>,
  options: ReadOptions,
): Promise<ReadResult> {
  const first = await chunks.next()
  const input = (async function* () {
    if (!first.done) yield first.value
    yield* chunks
  })()
  const zipped = !first.done && isGzip(first.value)
  return readStream(zipped ? unzip(input) : input, options)
}

async function readStream(
  input: AsyncIterable<Uint8Array>,
  options: ReadOptions,
): Promise<ReadResult> {
  const parser = new AnyParser(options)
  const limit = limitsFor(options.memoryBytes).totalBytes
  let bytes = 0
  try {
    for await (const chunk of input) {
      bytes += chunk.length
      if (bytes > limit) throw tooLarge('the unpacked input', limit, parser.place())
      parser.push(chunk)
      options.onProgress?.(bytes, 0)
    }
  } catch (error) {
    const code = (error as { code?: unknown }).code
    if (typeof code !== 'string' || !code.startsWith('Z_')) throw error
    const truncated = code === 'Z_BUF_ERROR'
    const message = `the compressed data ${truncated ? 'ends too early' : 'is damaged'}`
    throw new InputError(truncated ? 'truncated' : 'bad-gzip', message, parser.place())
  }
  return { history: parser.finish(), format: parser.format!, bytes }
}

/** What was read already and what follows it, in memory of its own: unpacking takes its time. */
async function* copiesOf(
  file: number,
  buffer: Uint8Array,
  first: number,
): AsyncGenerator<Uint8Array> {
  for (let length = first; length > 0; length = readSync(file, buffer, 0, buffer.length, null)) {
    yield buffer.slice(0, length)
  }
}

/** Decompressed chunks of a gzip stream; ends the source with it. */
async function* unzip(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  // Errors of either side surface where the chunks are consumed.
  pipeline(Readable.from(source), gunzip, () => {})
  for await (const chunk of gunzip) yield chunk as Uint8Array
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

function isPipe(path: string): boolean {
  try {
    return statSync(path).isFIFO()
  } catch {
    return false // opening it will say what is wrong
  }
}

/** The files of a directory that as a whole is one history in some format, or null. */
export function historyFilesIn(path: string): string[] | null {
  const found = findHistoryDirectory(path)
  if (found === null) return null
  return found.file === null ? found.names.map((name) => join(path, name)) : [found.file]
}

async function readDirectory(path: string, options: ReadOptions): Promise<ReadResult> {
  const found = asked(() => findHistoryDirectory(path, options.format))
  if (found === null) {
    const message = 'the directory is not a history in a known format'
    throw new InputError('unknown-format', message, null, 'name the files inside it')
  }
  if (found.file !== null) return readHistory(found.file, options)
  const limit = limitsFor(options.memoryBytes).totalBytes
  const sizes = found.names.map((name) => asked(() => statSync(join(path, name)).size))
  const size = sizes.reduce((sum, next) => sum + next, 0)
  if (size > limit) throw tooLarge('the directory', limit, null)
  let bytes = 0
  const files = found.names.map((name) => ({
    name,
    chunks: chunksOfFile(join(path, name), (length) => {
      bytes += length
      if (bytes > limit) throw tooLarge('the directory', limit, null)
      options.onProgress?.(bytes, size)
    }),
  }))
  try {
    const history = parseHistoryFiles(files, found.format!, options)
    return { history, format: found.format!, bytes }
  } catch (error) {
    if (error instanceof InputError && error.path !== null) error.path = join(path, error.path)
    throw error
  }
}

function* chunksOfFile(path: string, onRead: (bytes: number) => void): Generator<Uint8Array> {
  const file = asked(() => openSync(path, 'r'))
  try {
    const buffer = new Uint8Array(CHUNK_BYTES)
    for (;;) {
      const length = readSync(file, buffer, 0, buffer.length, null)
      if (length === 0) return
      onRead(length)
      yield buffer.subarray(0, length)
    }
  } finally {
    closeSync(file)
  }
}

/** What the operating system says to it, or throws InputError. */
export function asked<T>(ask: () => T): T {
  try {
    return ask()
  } catch (error) {
    throw fileError(error)
  }
}

/** The operating system's word for it, as an InputError. */
export function fileError(error: unknown): InputError {
  const { code, message } = error as { code?: string; message?: string }
  if (code === 'ENOENT') return new InputError('missing-file', 'there is no such file')
  if (code === 'ENOTDIR') {
    return new InputError('missing-file', 'a part of the path is a file, not a directory')
  }
  if (code === 'EACCES') return new InputError('unreadable-file', 'the file may not be read')
  if (code === 'EISDIR') return new InputError('unreadable-file', 'this is a directory')
  return new InputError('unreadable-file', message ?? 'the file cannot be read')
}
