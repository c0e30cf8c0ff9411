// What a watcher needs to go on after a restart, in one file: a line of JSON, then the text of the
// window. A new one takes the place of the old one when it is complete.
// Says which part of which input it stands for: how many bytes, and a digest of the last of them.
// Main functions: saveCheckpoint, loadCheckpoint.

import { createHash } from 'node:crypto'
import { closeSync, mkdirSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { InputError, UsageError } from '../base/errors.ts'
import { unwritable, writeWhole } from '../files/write.ts'
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
}

export function saveCheckpoint(directory: string, path: string, offset: number, watcher: Watcher) {
  const { text, ...state } = watcher.save()
  const position: Position = { offset, digest: digestOf(path, offset) }
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

/** Null if there is none. Throws UsageError if it is of something else. */
export function loadCheckpoint(
  directory: string,
  path: string,
  asked: Asked,
): { watcher: Watcher; offset: number } | null {
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
  const { offset, digest } = head.position
  if (digestOf(path, offset) !== digest) {
    throw refuse(`is about another file: the first ${offset} bytes are not what was judged`)
  }
  const text = new Uint8Array(bytes.subarray(end + 1))
  return { watcher: Watcher.restore({ ...head, text }), offset }
}

function readIfThere(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    const failure = new InputError('unreadable-file', (error as Error).message)
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
function digestOf(path: string, offset: number): string {
  const from = Math.max(0, offset - DIGEST_BYTES)
  const bytes = Buffer.alloc(offset - from)
  const file = openSync(path, 'r')
  try {
    const length = readSync(file, bytes, 0, bytes.length, from)
    return createHash('sha256').update(bytes.subarray(0, length)).digest('hex')
  } finally {
    closeSync(file)
  }
}

function writeBigint(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { bigint: String(value) } : value
}

function readBigint(_name: string, value: unknown): unknown {
  const digits = (value as { bigint?: unknown } | null)?.bigint
  return typeof digits === 'string' ? BigInt(digits) : value
}
