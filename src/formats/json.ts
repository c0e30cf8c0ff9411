// A scanner for JSON, to the letter of its grammar; nothing recurses. It reads either one line (a
// newline ends the text) or a whole document (a zero byte behind it does). Running out of text
// gives the code `truncated`, so that a torn last line can be told from a wrong one.

import { InputError, type Place } from '../base/errors.ts'
import { enlarged } from '../base/grow.ts'
import { UTF8 } from '../base/unicode.ts'
import { readTime, TIME_HINT } from '../history/times.ts'
import { NEWLINE } from './lines.ts'
import { BACKSLASH, COLON, COMMA, MINUS, OPEN_LIST, OPEN_MAP, QUOTE, Scanner } from './scanner.ts'
import { placeAt } from './source.ts'

const SMALL_U = 117
const MAX_DEPTH = 64 // brackets inside brackets

export class JsonScanner extends Scanner {
  /** The time last read, if the double is not exactly it. */
  timeText: string | null = null
  protected readonly whole: 'file' | 'line'

  constructor(private readonly multiline: boolean) {
    super()
    this.whole = multiline ? 'file' : 'line'
  }

  load(bytes: Uint8Array, from: number, line: number): void {
    this.bytes = bytes
    this.lineStart = from
    this.at = from
    this.line = line
    this.wide = 0
  }

  /** Skips white space and returns the byte that comes next. */
  skipSpace(): number {
    const { bytes } = this
    let c = bytes[this.at]!
    while (c === 32 || c === 9 || c === 13 || (c === NEWLINE && this.multiline)) {
      c = bytes[++this.at]!
    }
    return c
  }

  /** Skips white space and takes the byte that must come next. */
  expect(byte: number): void {
    if (this.skipSpace() !== byte) throw this.unexpected(`"${String.fromCharCode(byte)}"`)
    this.at++
  }

  /** Skips white space up to the byte with which `wanted` must begin. */
  need(byte: number, wanted: string, hint: string | null = null): void {
    if (this.skipSpace() !== byte) throw this.unexpected(wanted, hint)
  }

  /** Where the next byte stands; only for one-line texts. */
  here(): Place {
    return { line: this.line, column: this.column() }
  }

  /** Reads a string; `at` is at its first quote. */
  scanString(): void {
    const { bytes } = this
    if (bytes[this.at] !== QUOTE) throw this.unexpected('a string')
    let p = this.at + 1
    let all = 0
    this.textFrom = p
    this.escaped = false
    let c = bytes[p]!
    while (c !== QUOTE) {
      if (c < 32) {
        this.at = p
        if (this.isEnd(p)) throw this.unexpected('the end of the string')
        throw this.fail('a control character must be escaped in a string')
      }
      if (c === BACKSLASH) p = this.skipEscape(p)
      else p++
      all |= c
      c = bytes[p]!
    }
    this.textTo = p
    this.at = p + 1
    if (all >= 128) this.countWide(this.textFrom, p)
  }

  /** Reads an integer from -2^63 to 2^64 - 1; `what` names it in errors. */
  scanInteger(what: string): void {
    const { bytes } = this
    const start = this.at
    const isMinus = bytes[start] === MINUS
    const first = isMinus ? start + 1 : start
    const p = this.digits.scan(bytes, first)
    this.at = p
    if (p === first) throw this.unexpected('a digit')
    if (bytes[first] === 48 && p > first + 1) throw this.fail('a number cannot begin with 0', first)
    this.keepInteger(what, start, isMinus)
    const next = bytes[p]!
    if (next === 46 || next === 69 || next === 101) throw this.notAnInteger(what, start)
  }

  /** Reads an integer, as it is. */
  takeInteger(what: string): number | bigint {
    this.scanInteger(what)
    const big = this.integer()
    const near = Number(big)
    return Number.isSafeInteger(near) ? near : big
  }

  /** Reads a time; `timeText` is its text if the double is not exactly it. */
  scanTime(what: string): number {
    const { bytes } = this
    const start = this.at
    // Up to nine plain digits, the usual case, need no string.
    let small = 0
    let digit = start
    while (digit < start + 9 && bytes[digit]! >= 48 && bytes[digit]! <= 57) {
      small = small * 10 + bytes[digit++]! - 48
    }
    const leadingZero = bytes[start] === 48 && digit > start + 1
    if (digit > start && !leadingZero && !isNumberByte(bytes[digit]!)) {
      this.at = digit
      this.timeText = null
      return small
    }
    NUMBER.lastIndex = 0
    let p = start
    while (isNumberByte(bytes[p]!)) p++
    const text = String.fromCharCode(...bytes.subarray(start, Math.min(p, start + 400)))
    if (p - start > 400 || !NUMBER.test(text)) {
      this.at = p
      if (p === start || this.isEnd(p)) throw this.unexpected(`a number (the ${what})`)
      throw this.fail(`the ${what} is not a number: ${text.slice(0, 40)}`, start)
    }
    this.at = p
    const time = readTime(text)
    if (time === null) {
      throw this.fail(`the ${what} is out of range`, start, TIME_HINT, 'out-of-range')
    }
    this.timeText = time.text
    return time.value
  }

  /** Takes `null`, `true` or `false`. */
  expectWord(word: string): void {
    for (let i = 0; i < word.length; i++) {
      if (this.bytes[this.at] !== word.charCodeAt(i)) throw this.unexpected(word)
      this.at++
    }
  }

  /** Where a line without its newline is cut short; null if it is whole, or wrong otherwise. */
  findTear(text: Uint8Array, line: number): InputError | null {
    this.load(enlarged(text, text.length + 1, NEWLINE), 0, line)
    try {
      if (this.skipSpace() !== NEWLINE) this.skipValue()
      return null
    } catch (error) {
      return error instanceof InputError && error.code === 'truncated' ? error : null
    }
  }

  /** Skips one value of any kind, checking that it is well-formed JSON. */
  skipValue(): void {
    const open: number[] = [] // the brackets that are open, outermost first
    for (;;) {
      const c = this.skipSpace()
      if (c === OPEN_LIST || c === OPEN_MAP) {
        if (open.length === MAX_DEPTH) {
          throw this.fail(`more than ${MAX_DEPTH} brackets are open`, this.at, null, 'too-large')
        }
        this.at++
        if (this.skipSpace() !== c + 2) {
          open.push(c)
          if (c === OPEN_MAP) this.skipName()
          continue
        }
        this.at++
      } else {
        this.skipScalar(c)
      }
      // A value has ended: so do all brackets that close here.
      let next = this.skipSpace()
      while (open.length > 0 && next === open[open.length - 1]! + 2) {
        open.pop()
        this.at++
        next = this.skipSpace()
      }
      if (open.length === 0) return
      if (next !== COMMA) throw this.unexpected('"," or a closing bracket')
      this.at++
      if (open[open.length - 1] === OPEN_MAP) this.skipName()
    }
  }

  /** At the end of the text. */
  isEnd(at: number): boolean {
    const c = this.bytes[at]
    if (this.multiline) return c === undefined || (c === 0 && at === this.bytes.length - 1)
    return c === undefined || c === NEWLINE
  }

  /** A byte of the text that was loaded, whose first line has the number `line`. */
  placeOf(at: number): Place {
    return placeAt(this.bytes, this.lineStart, at, this.line)
  }

  private skipName(): void {
    this.skipSpace()
    this.scanString()
    this.expect(COLON)
  }

  private skipScalar(c: number): void {
    if (c === QUOTE) this.scanString()
    else if (c === 110) this.expectWord('null')
    else if (c === 116) this.expectWord('true')
    else if (c === 102) this.expectWord('false')
    else if (beginsNumber(c)) this.skipNumber()
    else throw this.unexpected('a value')
  }

  private skipNumber(): void {
    const start = this.at
    while (isNumberByte(this.bytes[this.at]!)) this.at++
    const text = UTF8.decode(this.bytes.subarray(start, Math.min(this.at, start + 400)))
    if (NUMBER.test(text)) return
    if (this.isEnd(this.at)) throw this.unexpected('a digit')
    throw this.fail(`not a number: ${text.slice(0, 40)}`, start)
  }

  /** Checks the escape at bytes[p] and returns where it ends. */
  private skipEscape(p: number): number {
    const { bytes } = this
    this.escaped = true
    const c = bytes[p + 1]!
    let end = p + 2
    let good = ESCAPED.includes(c)
    if (c === SMALL_U) {
      while (end < p + 6 && isHex(bytes[end]!)) end++
      good = end === p + 6
    }
    if (good) return end
    this.at = c === SMALL_U ? end : p + 1
    if (this.isEnd(this.at)) throw this.unexpected('the rest of the escape')
    throw this.fail('no such escape in JSON', p, 'write a backslash as \\\\')
  }
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const ESCAPED = [...'"\\/bfnrt'].map((c) => c.charCodeAt(0))

/** Whether a number may begin with this byte. */
export function beginsNumber(c: number): boolean {
  return c === MINUS || (c >= 48 && c <= 57)
}

function isNumberByte(c: number): boolean {
  return (c >= 48 && c <= 57) || c === 43 || c === MINUS || c === 46 || c === 69 || c === 101
}

function isHex(c: number): boolean {
  return (c >= 48 && c <= 57) || (c >= 65 && c <= 70) || (c >= 97 && c <= 102)
}
