// What a watcher needs to go on after a restart, in one file: a line that seals the rest with a
// digest, since a checkpoint that lost a part might pass over a violation; a line of JSON; the text
// of the window. A new one takes the place of the old one when it is complete and on disk.
// Says which part of which input it stands for: how many bytes, and a digest of the last of them.
// Main functions: saveCheckpoint, loadCheckpoint.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../base/errors.ts'
import { makeDirectories } from '../files/make-directories.ts'
import { type Sink, unwritable, writeWhole } from '../files/write.ts'
import { fileError } from '../formats/open.ts'
import type { GrowingFile } from './follow.ts'
import { type WatchedLevel, Watcher } from './watcher.ts'

const FILE_NAME = 'isobar-watch.checkpoint'
const VERSION = 2
const DIGEST_BYTES = 4096

export interface Position {
  /** Bytes of the input that were read. */
  readonly offset: number
  /** Of the last bytes before that. */
  readonly digest: string
}

/** What the checkpoint must have been made with, to be gone on from. */
export interface Asked {
  readonly levels: readonly WatchedLevel[]
  readonly window: number
  /** By content, or as it was, if null. */
  readonly format: string | null
}

export function saveCheckpoint(directory: string, input: GrowingFile, watcher: Watcher): void {
  const { text, ...state } = watcher.save()
  const { offset } = input
  const position: Position = { offset, digest: digestOf(input, offset) }
  const head = Buffer.from(`${JSON.stringify({ position, ...state }, writeBigint)}\n`)
  const seal = JSON.stringify({ isobarWatch: VERSION, sha256: sha256(head, text) })
  const file = join(directory, FILE_NAME)
  try {
    makeDirectories(directory)
  } catch (error) {
    throw unwritable(error, directory)
  }
  const fill = (sink: Sink) => {
    for (const bytes of [Buffer.from(`${seal}\n`), head, text]) sink(bytes)
  }
  writeWhole(file, true, fill, true)
}

/**
 * The watcher, with the input where it goes on; null if there is no checkpoint. Throws UsageError
 * if it is of something else.
 */
export function loadCheckpoint(
  directory: string,
  input: GrowingFile,
  asked: Asked,
): Watcher | null {
  const file = join(directory, FILE_NAME)
  const bytes = readIfThere(file)
  if (bytes === null) return null
  const [seal, body] = cutLine(bytes)
  const { isobarWatch, sha256: sealed } = parseSeal(seal)
  const refuse = (why: string) =>
    new UsageError(`the checkpoint ${file} ${why}`, 'name another directory, or remove the file')
  if (isobarWatch === undefined) throw refuse('is damaged, or none of this program')
  if (isobarWatch !== VERSION) throw refuse('is of another version of this program')
  if (sha256(body) !== sealed) throw refuse('is damaged')
  const [line, text] = cutLine(body)
  const head = JSON.parse(line, readBigint) as Head
  const levels = head.states.map(({ level }) => level)
  if (levels.toSorted().join() !== asked.levels.toSorted().join()) {
    throw refuse(`is about other levels (${levels.join(', ')})`)
  }
  if (head.windowTxns !== asked.window) {
    throw refuse(`was made with another window (${head.windowTxns} transactions)`)
  }
  const format = asked.format ?? head.format
  if (head.format !== null && format !== head.format) {
    throw refuse(`is about another format (${head.format})`)
  }
  const { offset, digest } = head.position
  if (digestOf(input, offset) !== digest) {
    throw refuse(`is about another file: the first ${offset} bytes are not what was judged`)
  }
  input.skipTo(offset)
  return Watcher.restore({ ...head, format, text })
}

function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    const failure = fileError(error)
    failure.path = file
    throw failure
  }
}

type Head = Omit<ReturnType<Watcher['save']>, 'text'> & { position: Position }

/** The first line, and what follows it. */
function cutLine(bytes: Buffer): [string, Buffer] {
  const end = bytes.indexOf(10)
  return [bytes.subarray(0, Math.max(0, end)).toString(), bytes.subarray(end + 1)]
}

function parseSeal(line: string): { isobarWatch?: unknown; sha256?: unknown } {
  try {
    return Object(JSON.parse(line))
  } catch {
    return {}
  }
}

function sha256(...parts: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** Of the last bytes before the offset; of fewer if the file is shorter by now. */
function digestOf(input: GrowingFile, offset: number): string {
  return sha256(input.bytesBefore(offset, DIGEST_BYTES))
}

/** For JSON.stringify; what JSON.parse makes of it again is up to readBigint. */
export function writeBigint(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: String(value) } : value
}

export function readBigint(_name: string, value: unknown): unknown {
  const digits = (value as { bigint?: unknown } | null)?.bigint
  return typeof digits === 'string' ? BigInt(digits) : value
}
