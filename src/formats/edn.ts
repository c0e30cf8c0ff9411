// A scanner for EDN, the notation of Clojure programs, and for JSON that such programs write:
// nothing recurses. Comments, discarded forms (#_), tags, commas, character literals and sets are
// read past. With `json` set a colon is white space, and comments and tags do not exist.
//
// The text may be given in pieces. The byte behind the last one is 0; what needs more text than
// there is gives the code `truncated`, so that the caller can go back to its last good place and
// wait, anything else `malformed`.

import type { InputError, Place } from '../base/errors.ts'
import { NEWLINE } from './lines.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_MAP,
  COLON,
  COMMA,
  MINUS,
  OPEN_LIST,
  OPEN_MAP,
  QUOTE,
  Scanner,
} from './scanner.ts'
import { placeAt } from './source.ts'

export const HASH = 35
export const OPEN_PAREN = 40
export const CLOSE_PAREN = 41
/** What `skipSpace` returns at the end of the text. */
export const END = -1

const PLUS = 43
const SEMICOLON = 59
const UNDERSCORE = 95
const MAX_DEPTH = 10_000

/** byte -> 1 if it ends a token: white space, commas, brackets, quotes, comments, the end */
const DELIMITS = new Uint8Array(256)
for (let c = 0; c <= 32; c++) DELIMITS[c] = 1
for (const c of '",;()[]{}') DELIMITS[c.charCodeAt(0)] = 1

/** Where a scanner stands. */
export interface ScanPlace {
  at: number
  line: number
  lineStart: number
  wide: number
}

export class EdnScanner extends Scanner {
  end = 0 // bytes[end] is 0
  final = false // whether no more text will come
  json = false
  protected readonly whole = 'file'
  private marked = this.place()
  private readonly open: number[] = [] // closing brackets that are due, innermost last

  /** More text: bytes[0 .. end), of which the first `shift` that were there are gone. */
  load(bytes: Uint8Array, end: number, shift: number, final: boolean): void {
    this.bytes = bytes
    this.end = end
    this.final = final
    this.at -= shift
    this.lineStart -= shift
    this.marked.at -= shift
    this.marked.lineStart -= shift
  }

  /** Remembers this place; errors may be about what comes after it only. */
  mark(): void {
    const { marked } = this
    marked.at = this.at
    marked.line = this.line
    marked.lineStart = this.lineStart
    marked.wide = this.wide
  }

  goBack(place: ScanPlace = this.marked): void {
    Object.assign(this, place)
  }

  /** This place, to go back to. */
  place(): ScanPlace {
    return { at: this.at, line: this.line, lineStart: this.lineStart, wide: this.wide }
  }

  /** Skips what means nothing and returns the byte that comes next, or END. */
  skipSpace(): number {
    for (;;) {
      const c = this.skipBlank()
      if (c !== HASH || this.bytes[this.at + 1] !== UNDERSCORE || this.json) return c
      this.at += 2
      this.skipForm()
    }
  }

  /** Skips white space and comments, but not discarded forms. */
  private skipBlank(): number {
    const { bytes } = this
    let p = this.at
    for (;;) {
      const c = bytes[p]!
      if (c === 32 || c === COMMA) p++
      else if (c === NEWLINE) this.newLine(++p)
      else if (c > SEMICOLON || (c > 32 && c < COLON)) break
      else if (c === COLON) {
        if (!this.json) break
        p++
      } else if (c === SEMICOLON) {
        if (this.json) break
        const newline = bytes.indexOf(NEWLINE, p)
        if (newline < 0 || newline >= this.end) {
          this.at = this.final ? this.end : p
          return END
        }
        p = newline
      } else if (c >= 9 && c <= 32) p++
      else break
    }
    this.at = p
    return p < this.end ? bytes[p]! : END
  }

  private newLine(at: number): void {
    this.line++
    this.lineStart = at
    this.wide = 0
  }

  /** Skips a tag such as #inst, if there is one, and returns the byte that comes next. */
  skipTags(): number {
    for (;;) {
      const c = this.skipSpace()
      const next = this.bytes[this.at + 1]!
      if (c !== HASH || this.json || next === OPEN_MAP || next === HASH || next === QUOTE) return c
      this.at++
      this.skipToken()
    }
  }

  /** Skips one form of any kind, with those that are discarded before it. */
  skipForm(): void {
    const { open, bytes } = this
    open.length = 0
    let due = 1 // forms still to skip: a discard before one makes them two
    let depth = 0
    for (;;) {
      const c = this.skipBlank()
      const closes = closingOf(c)
      if (closes !== 0) {
        if (depth === MAX_DEPTH) {
          throw this.fail(`more than ${MAX_DEPTH} brackets are open`, this.at, null, 'too-large')
        }
        open[depth++] = closes
        this.at++
        continue
      }
      if (c === HASH && !this.json) {
        const next = bytes[this.at + 1]!
        if (next === OPEN_MAP || next === QUOTE) this.at++
        else if (next === UNDERSCORE) {
          this.at += 2
          if (depth === 0) due++
        } else if (next === HASH) {
          this.at += 2
          this.skipToken()
          if (depth === 0 && --due === 0) return
        } else {
          this.at++
          this.skipToken()
        }
        continue
      }
      if (c === CLOSE_LIST || c === CLOSE_MAP || c === CLOSE_PAREN) {
        if (depth === 0 || open[depth - 1] !== c) throw this.unexpected('a value')
        depth--
        this.at++
      } else if (c === QUOTE) this.scanString()
      else if (c === END) throw this.unexpected('a value')
      else this.skipToken()
      if (depth === 0 && --due === 0) return
    }
  }

  /** Skips a symbol, keyword, number or character. */
  skipToken(): void {
    const { bytes } = this
    let p = this.at
    // A character literal is a backslash and whatever follows it, brackets included.
    if (bytes[p] === BACKSLASH && p + 1 < this.end) p += 2
    let c = bytes[p]!
    for (; DELIMITS[c] === 0; c = bytes[++p]!) if ((c & 0xc0) === 0x80) this.wide++
    if (p === this.at) throw this.unexpected('a value')
    this.at = p
  }

  /** Reads a string; `at` is at its first quote. */
  scanString(): void {
    const { bytes } = this
    const from = this.at + 1
    let p = from
    let all = 0
    this.escaped = false
    for (let c = bytes[p]!; c !== QUOTE; c = bytes[++p]!) {
      if (c === BACKSLASH) {
        this.escaped = true
        p++
      } else if (c === NEWLINE) this.newLine(p + 1)
      if (p >= this.end) {
        this.at = this.end
        throw this.unexpected('the end of the string')
      }
      all |= c
    }
    this.at = p + 1
    this.textFrom = from
    this.textTo = p
    if (all >= 128) this.countWide(from, p)
  }

  /** Reads a keyword or, in JSON, a string: a name. `at` is at its first byte. */
  scanName(wanted: string): void {
    const { bytes } = this
    const c = bytes[this.at]!
    if (c === QUOTE) {
      this.scanString()
      // Names that were keywords once may have kept their colon.
      if (bytes[this.textFrom] === COLON) this.textFrom++
      return
    }
    if (c !== COLON && DELIMITS[c] === 1) throw this.unexpected(wanted)
    this.textFrom = c === COLON ? this.at + 1 : this.at
    this.escaped = false
    let p = this.textFrom
    let all = 0
    for (let d = bytes[p]!; DELIMITS[d] === 0; d = bytes[++p]!) all |= d
    this.textTo = p
    this.at = p
    if (p >= this.end) throw this.unexpected('the rest of a name')
    if (all >= 128) this.countWide(this.textFrom, p)
  }

  /** Takes nil, in JSON null, and says whether it was there. */
  takeNil(): boolean {
    const { bytes, at } = this
    const word = this.json ? NULL : NIL
    for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false
    if (DELIMITS[bytes[at + word.length]!] === 0) return false
    this.at = at + word.length
    return true
  }

  /** Reads an integer from -2^63 to 2^64 - 1; `what` names it in errors. */
  scanInteger(what: string): void {
    const { bytes } = this
    const start = this.at
    const sign = bytes[start]!
    const first = sign === MINUS || sign === PLUS ? start + 1 : start
    let p = this.digits.scan(bytes, first)
    // EDN has no such integers, and Clojure reads them as octal: 010 would be 8.
    if (bytes[first] === 48 && p > first + 1) {
      throw this.fail('an integer cannot begin with 0', start)
    }
    if (p > first && bytes[p] === 78) p++ // N: as large as it may be
    if (p === first || DELIMITS[bytes[p]!] === 0) {
      this.skipToken()
      throw this.notAnInteger(what, start)
    }
    this.at = p
    this.keepInteger(what, start, sign === MINUS)
  }

  isEnd(at: number): boolean {
    return at >= this.end
  }

  /** An error about the text from bytes[at] on, which is not before the mark. */
  override fail(message: string, at?: number, hint?: string | null, code?: string): InputError {
    let p = at ?? this.at
    while (DELIMITS[this.bytes[p]!] === 0) p++
    // What has not come in full may yet turn out right.
    const isCut = p >= this.end && !this.final
    return super.fail(message, at, hint, isCut ? 'truncated' : code)
  }

  /** Line and column of a byte that is not before the mark. */
  placeOf(at: number): Place {
    const { marked } = this
    const column = marked.at - marked.lineStart - marked.wide + 1
    return placeAt(this.bytes, marked.at, at, marked.line, column)
  }
}

const NIL = [...'nil'].map((c) => c.charCodeAt(0))
const NULL = [...'null'].map((c) => c.charCodeAt(0))

/** The bracket that closes what this one opens, 0 if it opens nothing. */
export function closingOf(c: number): number {
  if (c === OPEN_LIST) return CLOSE_LIST
  if (c === OPEN_MAP) return CLOSE_MAP
  return c === OPEN_PAREN ? CLOSE_PAREN : 0
}
