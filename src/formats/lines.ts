// Cuts pushed chunks into whole lines without copying them: a parser gets ranges that end with a
// newline, straight from the chunk; only a line that straddles two chunks is put together aside.

import type { Place } from '../base/errors.ts'
import { enlarged } from '../base/grow.ts'
import { UTF8 } from '../base/unicode.ts'
import type { History } from '../history/history.ts'
import {
  firstBadByte,
  type HistoryParser,
  limitsFor,
  type ParseOptions,
  tooLarge,
} from './source.ts'

export const NEWLINE = 10

export abstract class LineParser implements HistoryParser {
  protected readonly lineBytes: number
  /** What the reader calls the line that is the n-th here. */
  protected readonly lineOf: (line: number) => number
  /** How ids are interned: those of a later piece of a file are mostly far from 0. */
  protected readonly idLimit: number | undefined
  protected readonly duplicateValues: boolean | undefined
  private carry = new Uint8Array(4096) // the beginning of a line whose end has not come yet
  private carryLength = 0

  constructor(options: ParseOptions = {}) {
    this.lineBytes = limitsFor(options.memoryBytes).lineBytes
    this.lineOf = options.lineOf ?? ((line) => line)
    this.duplicateValues = options.duplicateValues
    this.idLimit = options.piece?.isFirst === false ? 0 : undefined
  }

  /** Parses bytes[from .. to), which are whole lines: bytes[to - 1] is a newline. */
  protected abstract parseLines(bytes: Uint8Array, from: number, to: number): void
  /** The number of the line that comes next. */
  protected abstract nextLine(): number
  protected abstract build(): History

  push(bytes: Uint8Array): void {
    let from = 0
    if (this.carryLength > 0) {
      const end = bytes.indexOf(NEWLINE) + 1
      this.stash(bytes, 0, end > 0 ? end : bytes.length)
      if (end === 0) return
      this.takeCarry()
      from = end
    }
    const end = Math.max(from, bytes.lastIndexOf(NEWLINE) + 1)
    if (end > from) this.parseLines(bytes, from, end)
    this.stash(bytes, end, bytes.length)
  }

  finish(): History {
    this.endLines()
    return this.build()
  }

  /** Takes the last line, though no newline follows it; push may then begin another file. */
  protected endLines(): void {
    if (this.carryLength > 0 && this.keepLastLine(this.carry, this.carryLength)) {
      this.stash(Uint8Array.of(NEWLINE), 0, 1)
      this.takeCarry()
    }
    this.carryLength = 0
  }

  place(): Place {
    return { line: this.nextLine(), column: this.carryLength + 1 }
  }

  /** Whether a last line without a newline counts; bytes[0 .. length) are that line. */
  protected keepLastLine(_bytes: Uint8Array, _length: number): boolean {
    return true
  }

  /** Whether all that was pushed ends with a line. */
  protected get isAtLineStart(): boolean {
    return this.carryLength === 0
  }

  private takeCarry(): void {
    const length = this.carryLength
    this.carryLength = 0
    this.parseLines(this.carry, 0, length)
  }

  private stash(bytes: Uint8Array, from: number, to: number): void {
    if (from === to) return
    const length = this.carryLength + to - from
    if (length > this.lineBytes + 1) {
      throw tooLarge('the line', this.lineBytes, { line: this.nextLine(), column: 1 })
    }
    if (length >= this.carry.length) {
      this.carry = enlarged(this.carry, Math.max(length + 1, this.carry.length * 2))
    }
    this.carry.set(bytes.subarray(from, to), this.carryLength)
    this.carryLength = length
  }
}

/** What stands at bytes[at], for error messages. */
export function describeByte(bytes: Uint8Array, at: number): string {
  const c = bytes[at]
  if (c === undefined || c === NEWLINE || c === 13) return 'the end of the line'
  if (c === 0 && at === bytes.length - 1) return 'the end of the file'
  if (c > 32 && c < 127) return JSON.stringify(String.fromCharCode(c))
  if (c === 32) return 'a space'
  if (c === 9) return 'a tab'
  const length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2
  if (c >= 0xc2 && firstBadByte(bytes, at, at + length) === at + length) {
    const point = UTF8.decode(bytes.subarray(at, at + length)).codePointAt(0)!
    return `the character U+${point.toString(16).toUpperCase().padStart(4, '0')}`
  }
  return `the byte 0x${c.toString(16).padStart(2, '0')}`
}
