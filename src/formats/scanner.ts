// What scanners of JSON (json.ts) and EDN (edn.ts) have in common: they go over bytes, make no
// strings unless asked for, keep all 64 bits of integers, count lines and columns in characters,
// and tell text that has run out (`truncated`) from text that is wrong (`malformed`). What differs
// is the grammar: white space, names, nesting. Main class: Scanner.

import { InputError, type Place } from '../base/errors.ts'
import { UTF8 } from '../base/unicode.ts'
import { Digits } from './digits.ts'
import { describeByte } from './lines.ts'
import { badUtf8, firstBadByte } from './source.ts'

export const QUOTE = 34
export const COMMA = 44
export const MINUS = 45
export const COLON = 58
export const OPEN_LIST = 91
export const BACKSLASH = 92
export const CLOSE_LIST = 93
export const OPEN_MAP = 123
export const CLOSE_MAP = 125

export abstract class Scanner {
  bytes: Uint8Array = new Uint8Array(1)
  at = 0
  /** The string or name last read is bytes[textFrom .. textTo), quotes and colon left out. */
  textFrom = 0
  textTo = 0
  escaped = false // whether it contains escapes
  /** The integer last read, as two words. */
  low = 0
  high = 0
  negative = false
  line = 1
  /** Bytes since the line began that are not characters of their own, to count columns. */
  wide = 0
  protected lineStart = 0 // where the line begins; negative if that is not here any more
  protected readonly digits = new Digits()
  /** What the text is called where it ends too early. */
  protected abstract readonly whole: 'file' | 'line'

  /** Whether the text ends here. */
  abstract isEnd(at: number): boolean
  /** Line and column of a byte. */
  abstract placeOf(at: number): Place

  /** Column of the next byte, counted in characters. */
  column(): number {
    return this.at - this.lineStart - this.wide + 1
  }

  /** The string or name last read. */
  text(): string {
    const slice = UTF8.decode(this.bytes.subarray(this.textFrom, this.textTo))
    if (!this.escaped) return slice
    const text = slice.replace(ESCAPE, (sequence, code: string | undefined, letter: string) => {
      if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
      const plain = ESCAPES[letter]
      if (plain !== undefined) return plain
      throw this.fail(`no such escape in a string: ${sequence}`, this.textFrom)
    })
    if (/\p{Surrogate}/u.test(text)) {
      throw this.fail('half of a surrogate pair is not a character', this.textFrom)
    }
    return text
  }

  /** Whether the string or name last read is this ASCII text. */
  textIs(ascii: string): boolean {
    if (this.escaped) return this.text() === ascii
    if (this.textTo - this.textFrom !== ascii.length) return false
    for (let i = 0; i < ascii.length; i++) {
      if (this.bytes[this.textFrom + i] !== ascii.charCodeAt(i)) return false
    }
    return true
  }

  /** The integer last read. */
  integer(): bigint {
    const high = this.negative ? this.high : this.high >>> 0
    return (BigInt(high) << 32n) | BigInt(this.low >>> 0)
  }

  /** Keeps the digits last read as the integer that began at `start`: -2^63 to 2^64 - 1. */
  protected keepInteger(what: string, start: number, isMinus: boolean): void {
    const { low, high, overflow } = this.digits
    const isTooSmall = isMinus && (high > 0x80000000 || (high === 0x80000000 && low > 0))
    if (overflow || isTooSmall) {
      throw this.fail(`the ${what} does not fit into 64 bits`, start, null, 'out-of-range')
    }
    const negative = isMinus && (low > 0 || high > 0)
    this.negative = negative
    this.low = (negative ? -low : low) | 0
    this.high = (negative ? ~high + (low === 0 ? 1 : 0) : high) | 0
  }

  protected notAnInteger(what: string, start: number): InputError {
    return this.fail(`the ${what} is not an integer`, start, 'write decimals as strings: "1.5"')
  }

  /** Checks text that has bytes beyond ASCII, and counts those that are no characters. */
  protected countWide(from: number, to: number): void {
    const bad = firstBadByte(this.bytes, from, to)
    if (bad < to) throw badUtf8(this.placeOf(bad))
    const first = Math.max(from, this.lineStart)
    for (let i = first; i < to; i++) if ((this.bytes[i]! & 0xc0) === 0x80) this.wide++
  }

  /** The error for something else standing where `wanted` must. */
  unexpected(wanted: string, hint: string | null = null): InputError {
    if (this.isEnd(this.at)) {
      const message = `the ${this.whole} ends where ${wanted} must stand`
      return this.fail(message, this.at, hint, 'truncated')
    }
    const found = describeByte(this.bytes, this.at)
    return this.fail(`expected ${wanted}, found ${found}`, this.at, hint)
  }

  /** An error about the text from bytes[at] on. */
  fail(
    message: string,
    at: number = this.at,
    hint: string | null = null,
    code = 'malformed',
  ): InputError {
    return new InputError(code, message, this.placeOf(at), hint)
  }
}

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(.))/gs
const ESCAPES: Record<string, string> = {
  t: '\t',
  r: '\r',
  n: '\n',
  b: '\b',
  f: '\f',
  '\\': '\\',
  '"': '"',
  '/': '/',
}
