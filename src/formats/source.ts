// How bytes reach a parser: pushed in chunks of any size, so that a file is never one string and
// need not be one buffer. A parser keeps nothing of a chunk it was given; whoever reads a file may
// reuse one buffer. Pushing serves both worlds: synchronous reads and asynchronous streams.

import { InputError, type Place, UsageError } from '../base/errors.ts'
import { UTF8 } from '../base/unicode.ts'
import type { HistoryBuilder, OpColumns } from '../history/builder.ts'
import type { History, Places } from '../history/history.ts'
import type { SymbolTable } from '../history/symbols.ts'
import type { Value } from '../history/values.ts'
import type { UsualLines } from './plume/line-kernel.ts'

/** Bytes as callers have them. Strings are encoded as UTF-8. */
export type Input = string | Uint8Array | Iterable<Uint8Array>

export interface ParseOptions {
  /** Memory the caller is willing to spend; see `limitsFor`. */
  memoryBytes?: number
  /** How long the input is, if known: lets a parser make room once. */
  sizeBytes?: number
  /**
   * Called now and then while a document of so many bytes is parsed, after it was read whole; may
   * throw to give up.
   */
  onParse?: (documentBytes: number) => void
  /** Whether a register may be given one value twice, so that reads have several writers. */
  duplicateValues?: boolean | undefined
  /** Of formats that can be watched: what a line is called, where the input is part of another. */
  lineOf?: (line: number) => number
  /** Set where only a piece of a file is parsed, by a parser with `draft`. */
  piece?: Piece
}

/** What a piece of a file has before it. */
export interface Piece {
  readonly isFirst: boolean
  /** The initial value that the header named; left out in the first piece. */
  readonly initial?: Value | undefined
  /** The columns of the piece before, which are used again. */
  readonly columns?: OpColumns | undefined
  /** Where keys get their numbers, if all pieces share them. */
  readonly keys?: SymbolTable | undefined
}

/** A piece of a history: what was said of its transactions, before reads find their writes. */
export interface Draft {
  readonly builder: HistoryBuilder
  readonly places: Places
  /** What makes it impossible to take the history in pieces; null if nothing does. */
  readonly obstacle: string | null
  /** How transactions ended that pieces before this one told of. */
  readonly outcomes: readonly Outcome[]
  /** Whether the transaction's end is told later. */
  isOpen(txn: number): boolean
  /** Whether aborted lines of its session that come next would be lines of this aborted one. */
  mayGoOn(txn: number): boolean
}

export interface Outcome {
  readonly label: Value
  readonly status: number
  readonly line: number
  readonly finish: number // NaN if it is not known
}

/** A parser that can give away what it parsed as a piece. */
export interface PieceParser extends HistoryParser {
  /** All that was pushed. Instead of `finish`. */
  draft(): Draft
}

export interface HistoryParser {
  /** For formats that are directories: what is pushed from now on is the file of that name. */
  beginFile?(name: string): void
  /** That file is complete. */
  endFile?(): void
  /** Takes the next bytes, which may change once this returns. Throws InputError. */
  push(bytes: Uint8Array): void
  /**
   * Instead of a push: lines that another thread has parsed. Takes nothing, and returns false, if
   * it is in the middle of a line. Throws InputError.
   */
  takeLines?(found: UsualLines, lines: number): boolean
  /** The history, after the last push. Throws InputError. */
  finish(): History
  /** Where the parser stands, for errors that come from outside it. */
  place(): Place
  /**
   * Of formats that can be watched while they grow, after `finish`: line - 1 -> the transaction
   * that it speaks of, NO_TXN, or OF_ALL if it speaks of the whole history.
   */
  lineTxns?(): Int32Array
}

/** In `lineTxns`: the line says nothing that lasts. */
export const NO_TXN = -1
/** In `lineTxns`: the line is about all transactions, such as a header. */
export const OF_ALL = -2

const DEFAULT_MEMORY_BYTES = 16 * 2 ** 30
const MAX_LINE_BYTES = 256 * 2 ** 20

/**
 * What a parser may allocate, for the whole input after decompression, and for one line. A dense
 * history takes about as much memory as its text, so the text may be as large as that.
 */
export function limitsFor(memoryBytes: number = DEFAULT_MEMORY_BYTES) {
  const lineBytes = Math.min(MAX_LINE_BYTES, Math.max(4096, Math.floor(memoryBytes / 16)))
  return { totalBytes: memoryBytes, lineBytes }
}

export function tooLarge(what: string, limitBytes: number, place: Place | null): InputError {
  const message = `${what} is larger than the limit of ${formatBytes(limitBytes)}`
  return new InputError('too-large', message, place, 'allow more with --memory, e.g. --memory 16g')
}

function formatBytes(bytes: number): string {
  return bytes >= 1048576 ? `${Math.floor(bytes / 1048576)} MB` : `${bytes} bytes`
}

const CHUNK_BYTES = 1 << 20 // parsers make room for what a chunk can hold, so not too much at once

/** The input as chunks of bytes. */
export function* chunksOf(input: Input): Generator<Uint8Array> {
  if (typeof input !== 'string' && !(input instanceof Uint8Array)) {
    const isIterable = typeof input === 'object' && input !== null && Symbol.iterator in input
    if (isIterable) return yield* input
    throw new UsageError('input: text, bytes, or chunks of bytes were expected')
  }
  const bytes = typeof input === 'string' ? new TextEncoder().encode(input) : input
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES)
}

/** A document is in memory twice when it is complete, and then what it says is. */
const DOCUMENT_SHARE = 4
const MAX_DOCUMENT_BYTES = 2 ** 30
const STEPS_PER_LOOK = 1 << 14

/**
 * A parser of formats that are one document: gathers all bytes, and puts one zero byte behind them
 * as a sentinel.
 */
export abstract class DocumentParser implements HistoryParser {
  protected length = 0
  private chunks: Uint8Array[] = []
  private readonly limitBytes: number
  private steps = 0

  /**
   * @param options its memory, of which a document may take a part
   * @param mostBytes that it may take however much memory there is
   */
  constructor(
    protected readonly options: ParseOptions = {},
    mostBytes = MAX_DOCUMENT_BYTES,
  ) {
    const { totalBytes } = limitsFor(options.memoryBytes)
    this.limitBytes = Math.min(mostBytes, Math.floor(totalBytes / DOCUMENT_SHARE))
  }

  abstract finish(): History

  place(): Place {
    return { line: 1, column: 1 }
  }

  /** To be called for every operation that is found in the document. */
  protected readonly step = (): void => {
    if (this.steps++ % STEPS_PER_LOOK === 0) this.options.onParse?.(this.length)
  }

  push(chunk: Uint8Array): void {
    this.length += chunk.length
    if (this.length > this.limitBytes) {
      const limit = formatBytes(this.limitBytes)
      const message = `a document in this format may not be larger than ${limit}`
      const hint =
        'it is read whole, and may take a quarter of --memory; formats of lines have no such limit'
      throw new InputError('too-large', message, { line: 1, column: 1 }, hint)
    }
    this.chunks.push(chunk.slice())
  }

  /** The bytes, then one 0. */
  protected all(): Uint8Array {
    const bytes = new Uint8Array(this.length + 1)
    let at = 0
    for (const chunk of this.chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    this.chunks = [bytes.subarray(0, this.length)]
    return bytes
  }

  /** As text. Throws InputError with the place of the first byte that is not UTF-8. */
  protected text(): string {
    const bytes = this.all().subarray(0, this.length)
    const bad = firstBadByte(bytes, 0, bytes.length)
    if (bad < bytes.length) throw badUtf8(placeAt(bytes, 0, bad, 1))
    return UTF8.decode(bytes)
  }
}

export function badUtf8(place: Place): InputError {
  return new InputError('bad-utf8', 'the text is not valid UTF-8 here', place)
}

/** Line and column of bytes[at], where those of bytes[from] are known; columns count characters. */
export function placeAt(
  bytes: Uint8Array,
  from: number,
  at: number,
  line: number,
  column = 1,
): Place {
  for (let i = from; i < at; i++) {
    const c = bytes[i]!
    if (c === 10) {
      line++
      column = 1
    } else if ((c & 0xc0) !== 0x80) {
      column++
    }
  }
  return { line, column }
}

/** Index of the first byte in [from, to) that breaks UTF-8, or `to`. */
export function firstBadByte(bytes: Uint8Array, from: number, to: number): number {
  let i = from
  while (i < to) {
    const c = bytes[i]!
    if (c < 0x80) {
      i++
      continue
    }
    const length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2
    if (c < 0xc2 || c > 0xf4 || i + length > to) return i
    for (let j = 1; j < length; j++) if ((bytes[i + j]! & 0xc0) !== 0x80) return i
    const second = bytes[i + 1]!
    // Overlong forms, surrogates, and what lies beyond U+10FFFF.
    if (c === 0xe0 && second < 0xa0) return i
    if (c === 0xed && second > 0x9f) return i
    if (c === 0xf0 && second < 0x90) return i
    if (c === 0xf4 && second > 0x8f) return i
    i += length
  }
  return to
}
