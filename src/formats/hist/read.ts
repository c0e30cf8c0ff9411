// dbcop's .hist text: `[x:=1 y==2 z==?]` is a transaction that writes 1 to x, reads 2 from y and
// the initial state from z; a `!` behind it says that it did not commit; `---` stands between
// sessions; `//` begins a comment. Variables are words or unsigned integers, versions unsigned
// integers.

import { InputError } from '../../base/errors.ts'
import { HistoryBuilder } from '../../history/builder.ts'
import { ABORTED, COMMITTED, type History, READ, WRITE } from '../../history/history.ts'
import { Digits } from '../digits.ts'
import { describeByte, NEWLINE } from '../lines.ts'
import { TextPlaces } from '../places.ts'
import { DocumentParser, placeAt } from '../source.ts'

const OPEN = 91 // [
const CLOSE = 93 // ]
const COLON = 58
const EQUALS = 61
const MINUS = 45
const SLASH = 47
const BANG = 33
const QUESTION = 63
const SHAPE = 'a transaction looks like [x:=1 y==2 z==?], sessions are separated by ---'

export class HistParser extends DocumentParser {
  private readonly builder = new HistoryBuilder(0)
  private readonly digits = new Digits()
  private readonly places = new TextPlaces()
  private bytes: Uint8Array = new Uint8Array(1) // the text, then one 0
  private at = 0

  finish(): History {
    this.bytes = this.all()
    const end = this.bytes.length - 1
    let session = 0
    for (let c = this.skipSpace(); this.at < end; c = this.skipSpace()) {
      if (c === OPEN) {
        this.readTxn(this.builder.session(session))
      } else if (c === MINUS) {
        const from = this.at
        while (this.bytes[this.at] === MINUS) this.at++
        if (this.at < from + 3) throw this.unexpected('"---"')
        session++
      } else {
        throw this.unexpected('a transaction')
      }
    }
    return this.builder.finish(this.places, this.options.duplicateValues)
  }

  private readTxn(session: number): void {
    const txn = this.builder.addTxn(session, COMMITTED)
    this.at++
    while (this.skipSpace() !== CLOSE) this.readEvent(txn)
    this.at++
    if (this.bytes[this.at] === BANG) {
      this.builder.setStatus(txn, ABORTED)
      this.at++
    }
  }

  private readEvent(txn: number): void {
    const { bytes, builder } = this
    this.step()
    this.places.add(this.bytes, this.at)
    const key = this.readKey()
    const sign = this.skipSpace()
    if ((sign !== COLON && sign !== EQUALS) || bytes[this.at + 1] !== EQUALS) {
      throw this.unexpected('":=" or "=="')
    }
    this.at += 2
    if (this.skipSpace() === QUESTION && sign === EQUALS) {
      this.at++
      builder.addOp(txn, READ, key, builder.valueId(null))
      return
    }
    this.readNumber('version')
    const value = builder.values.ofWords(this.digits.low | 0, this.digits.high | 0, false)
    builder.addOp(txn, sign === COLON ? WRITE : READ, key, value)
  }

  private readKey(): number {
    const { bytes, builder } = this
    const from = this.at
    while (isWordByte(bytes[this.at]!)) this.at++
    if (this.at === from) throw this.unexpected('a variable')
    if (!isDigit(bytes[from]!)) return builder.keys.ofBytes(bytes, from, this.at)
    this.at = from
    this.readNumber('variable')
    return builder.keys.ofWords(this.digits.low | 0, this.digits.high | 0, false)
  }

  private readNumber(what: string): void {
    const from = this.at
    this.at = this.digits.scan(this.bytes, from)
    if (this.at === from) throw this.unexpected(`a ${what}`)
    if (this.digits.overflow) {
      this.at = from
      throw this.fail(`the ${what} does not fit into 64 bits`, 'out-of-range')
    }
    if (isWordByte(this.bytes[this.at]!)) throw this.unexpected(`the end of the ${what}`)
  }

  /** Skips white space and comments; returns the byte that comes next. */
  private skipSpace(): number {
    const { bytes } = this
    for (;;) {
      const c = bytes[this.at]!
      if (c === SLASH && bytes[this.at + 1] === SLASH) {
        const end = bytes.indexOf(NEWLINE, this.at)
        this.at = end < 0 ? bytes.length - 1 : end
      } else if (c !== 32 && c !== 9 && c !== 13 && c !== NEWLINE) return c
      else this.at++
    }
  }

  private unexpected(wanted: string): InputError {
    if (this.at >= this.bytes.length - 1) {
      return this.fail(`the file ends where ${wanted} must stand`, 'truncated')
    }
    return this.fail(`expected ${wanted}, found ${describeByte(this.bytes, this.at)}`)
  }

  private fail(message: string, code = 'malformed'): InputError {
    return new InputError(code, message, placeAt(this.bytes, 0, this.at, 1), SHAPE)
  }
}

function isDigit(c: number): boolean {
  return c >= 48 && c <= 57
}

function isWordByte(c: number): boolean {
  return isDigit(c) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95
}
