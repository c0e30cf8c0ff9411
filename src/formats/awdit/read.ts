// AWDIT's test text: one `r key value` or `w key value` a line, transactions separated by a line of
// `-`, sessions by a line of `=`. Numbers are unsigned 64-bit. There are no aborted transactions,
// no names, and no initial value: a read of what nobody wrote is a thin-air read.

import { InputError } from '../../base/errors.ts'
import { HistoryBuilder } from '../../history/builder.ts'
import { COMMITTED, type History, NONE, READ, WRITE } from '../../history/history.ts'
import { Digits } from '../digits.ts'
import { describeByte, LineParser, NEWLINE } from '../lines.ts'
import { LinePlaces } from '../places.ts'
import { placeAt } from '../source.ts'

const EQUALS = 61
const MINUS = 45
const LETTER_R = 114
const LETTER_W = 119
const SHAPE = 'lines are "r key value", "w key value", "-" (next transaction), "=" (next session)'

export class AwditParser extends LineParser {
  private readonly builder = new HistoryBuilder(undefined)
  private readonly places = new LinePlaces()
  private readonly digits = new Digits()
  private session = 0
  private lineStart = 0
  private txn = NONE // the open transaction

  protected nextLine(): number {
    return this.places.lineOf(this.builder.opCount)
  }

  protected parseLines(bytes: Uint8Array, from: number, to: number): void {
    let at = from
    while (at < to) at = this.parseLine(bytes, at)
  }

  protected build(): History {
    return this.builder.finish(this.places, this.duplicateValues)
  }

  private parseLine(b: Uint8Array, start: number): number {
    const first = b[start]!
    this.lineStart = start
    if (first === LETTER_R || first === LETTER_W) {
      let p = this.parseNumber(b, start + 1, 'key')
      const key = this.builder.keys.ofWords(this.digits.low | 0, this.digits.high | 0, false)
      p = this.parseNumber(b, p, 'value')
      const value = this.builder.values.ofWords(this.digits.low | 0, this.digits.high | 0, false)
      const end = this.endLine(b, p)
      if (this.txn === NONE) {
        this.txn = this.builder.addTxn(this.builder.session(this.session), COMMITTED)
      }
      this.builder.addOp(this.txn, first === LETTER_R ? READ : WRITE, key, value)
      return end
    }
    let p = start
    if (first === EQUALS || first === MINUS) {
      while (b[p] === first) p++
      this.txn = NONE
      if (first === EQUALS) this.session++
    }
    const end = this.endLine(b, p)
    this.places.skip(this.builder.opCount)
    return end
  }

  private parseNumber(b: Uint8Array, from: number, what: string): number {
    let p = from
    while (b[p] === 32 || b[p] === 9) p++
    const end = this.digits.scan(b, p)
    if (p === from || end === p) {
      throw this.fail(b, p, `expected a ${what} (decimal digits), found ${describeByte(b, p)}`)
    }
    if (this.digits.overflow) {
      throw this.fail(b, p, `the ${what} does not fit into 64 bits`, 'out-of-range')
    }
    return end
  }

  private endLine(b: Uint8Array, from: number): number {
    let p = from
    while (b[p] === 32 || b[p] === 9 || b[p] === 13) p++
    if (b[p] !== NEWLINE) throw this.fail(b, p, `unexpected ${describeByte(b, p)}`)
    return p + 1
  }

  private fail(b: Uint8Array, at: number, message: string, code = 'malformed'): InputError {
    return new InputError(code, message, placeAt(b, this.lineStart, at, this.nextLine()), SHAPE)
  }
}
