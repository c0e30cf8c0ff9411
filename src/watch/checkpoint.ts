// What a watcher needs to go on after a restart, in one file: a line of JSON, then the text of the
// window. A new one takes the place of the old one when it is complete.
// Says which part of which input it stands for: how many bytes, and a digest of the last of them.
// Main functions: saveCheckpoint, loadCheckpoint.

import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../base/errors.ts'
import { unwritable, writeWhole } from '../files/write.ts'
import { fileError } from '../formats/open.ts'
import type { GrowingFile } from './follow.ts'
import { type WatchedLevel, Watcher } from './watcher.ts'

const FILE_NAME = 'isobar-watch.checkpoint'
const VERSION = 1
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
  const head = JSON.stringify({ isobarWatch: VERSION, position, ...state }, writeBigint)
  const file = join(directory, FILE_NAME)
  try {
    mkdirSync(directory, { recursive: true })
  } catch (error) {
    throw unwritable(error, directory)
  }
  writeWhole(file, true, (sink) => {
    sink(Buffer.from(`${head}\n`))
    sink(text)
  })
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
  const end = bytes.indexOf(10)
  const head = parseHead(bytes.subarray(0, Math.max(0, end)).toString())
  const refuse = (why: string) =>
    new UsageError(`the checkpoint ${file} ${why}`, 'name another directory, or remove the file')
  if (head === null) throw refuse('is damaged, or none of this program')
  if (head.isobarWatch !== VERSION) throw refuse('is of another version of this program')
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
  const text = new Uint8Array(bytes.subarray(end + 1))
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

type Head = Omit<ReturnType<Watcher['save']>, 'text'> & {
  isobarWatch: number
  position: Position
}

function parseHead(text: string): Head | null {
  try {
    const head = JSON.parse(text, readBigint) as Head
    const isWhole = Array.isArray(head.states) && typeof head.position?.offset === 'number'
    return typeof head.isobarWatch === 'number' && isWhole ? head : null
  } catch {
    return null
  }
}

/** Of the last bytes before the offset; of fewer if the file is shorter by now. */
function digestOf(input: GrowingFile, offset: number): string {
  const bytes = input.bytesBefore(offset, DIGEST_BYTES)
  return createHash('sha256').update(bytes).digest('hex')
}

/** For JSON.stringify; what JSON.parse makes of it again is up to readBigint. */
export function writeBigint(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: String(value) } : value
}

export function readBigint(_name: string, value: unknown): unknown {
  const digits = (value as { bigint?: unknown } | null)?.bigint
  return typeof digits === 'string' ? BigInt(digits) : value
}
