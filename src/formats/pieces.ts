// A plain file piece by piece, so that it never is in memory as a whole: each piece is some whole
// lines of it, parsed by the parser of its format. Main function: readPieces.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { InputError } from '../base/errors.ts'
import { enlarged } from '../base/grow.ts'
import type { SymbolTable } from '../history/symbols.ts'
import { NativeParser } from './native/read.ts'
import { asked } from './open.ts'
import { detectFormat, HEAD_BYTES } from './parse.ts'
import { PlumeParser } from './plume/read.ts'
import { type FormatReader, findReader } from './readers.ts'
import {
  type Draft,
  limitsFor,
  type ParseOptions,
  type Piece,
  type PieceParser,
  tooLarge,
} from './source.ts'

/** The formats whose files can be taken in pieces. */
const PARSERS: Readonly<Record<string, (options: ParseOptions) => PieceParser>> = {
  plume: (options) => new PlumeParser(options),
  native: (options) => new NativeParser(options),
}

const BYTE_ORDER_MARK = 0xef // the first byte of it
const NEWLINE = 10

/** What is known of a file before it is read. */
export interface PlainFile {
  readonly path: string
  readonly format: FormatReader
  readonly sizeBytes: number
}

/** The file, if it is plain and in a format that can be taken in pieces; else null. */
export function findPlainFile(path: string, format: string | null): PlainFile | null {
  if (path === '-') return null
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return null // reading it will say what is wrong
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) return null
    const head = new Uint8Array(HEAD_BYTES)
    const length = readSync(file, head, 0, head.length, 0)
    if (head[0] === BYTE_ORDER_MARK) return null
    const found = format === null ? detectFormat(head.subarray(0, length)) : findReader(format)
    if (found === null || !(found.id in PARSERS)) return null
    return { path, format: found, sizeBytes: stat.size }
  } catch {
    return null // likewise
  } finally {
    closeSync(file)
  }
}

export interface FilePiece {
  /** Good until the next piece is asked for. */
  readonly draft: Draft
  /** Bytes of the file up to its end. */
  readonly readBytes: number
}

/**
 * Throws InputError, with the path filled in.
 * @param keys where keys get their numbers; left out: each piece has its own
 */
export function* readPieces(
  { path, format }: PlainFile,
  pieceBytes: number,
  memoryBytes: number,
  keys?: SymbolTable,
): Generator<FilePiece> {
  const file = asked(() => openSync(path, 'r'))
  try {
    yield* piecesOf(file, PARSERS[format.id]!, pieceBytes, memoryBytes, keys)
  } catch (error) {
    if (error instanceof InputError) error.path ??= path
    throw error
  } finally {
    closeSync(file)
  }
}

function* piecesOf(
  file: number,
  makeParser: (options: ParseOptions) => PieceParser,
  pieceBytes: number,
  memoryBytes: number,
  keys: SymbolTable | undefined,
): Generator<FilePiece> {
  let buffer = new Uint8Array(pieceBytes)
  const { lineBytes } = limitsFor(memoryBytes)
  let carried = 0 // bytes of a line at the beginning of the buffer whose end has not come yet
  let readBytes = 0
  let firstLine = 1
  let before: Pick<Piece, 'initial' | 'columns'> = {}
  for (;;) {
    const count = asked(() => readSync(file, buffer, carried, buffer.length - carried, null))
    readBytes += count
    const length = carried + count
    const isLast = count === 0
    const end = isLast ? length : buffer.lastIndexOf(NEWLINE, length - 1) + 1
    if (end === 0 && !isLast) {
      if (length > lineBytes) throw tooLarge('the line', lineBytes, { line: firstLine, column: 1 })
      carried = length
      if (length === buffer.length) buffer = enlarged(buffer, buffer.length * 2)
      continue
    }
    if (end > 0) {
      const piece = buffer.subarray(0, end)
      const linesBefore = firstLine - 1
      const lineOf = (line: number) => line + linesBefore
      const parser = makeParser({ piece: { isFirst: linesBefore === 0, keys, ...before }, lineOf })
      parser.push(piece)
      const draft = parser.draft()
      before = { initial: draft.builder.initial, columns: draft.builder }
      yield { draft, readBytes }
      firstLine = parser.place().line
    }
    if (isLast) return
    buffer.copyWithin(0, end, length)
    carried = length - end
  }
}
