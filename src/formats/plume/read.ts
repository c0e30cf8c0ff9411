// Plume text, also PolySI's and IsoVista's: one operation a line, `r(key,value,session,txn)`.
//
// Numbers are unsigned 64-bit, kept exactly. A transaction's lines need not stand together; session
// order is the order in which a session's transactions first appear. Transaction -1 is aborted: a
// run of such lines of one session is one aborted transaction, whose reads are dropped (the format
// has no way to tell two aborted transactions apart). The initial value is 0.
//
// The usual line (numbers of at most eight digits) goes through WebAssembly (line-kernel.ts); one
// with larger numbers, or any where there is no WebAssembly, through `parseFast`, which writes
// straight into the builder's columns; any other line through `parseLine`, which explains what is
// wrong. Large values in no order are not looked up while parsing (symbols.ts), unless the value is
// what was last written to the key. Places cost nothing: an operation's line is its arrival plus
// the lines skipped.

import { InputError } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { HistoryBuilder } from '../../history/builder.ts'
import { ABORTED, COMMITTED, type History, NONE, READ, WRITE } from '../../history/history.ts'
import { NewestValues } from '../../history/newest-values.ts'
import { SymbolTable } from '../../history/symbols.ts'
import { Digits, highWord } from '../digits.ts'
import { describeByte, LineParser, NEWLINE } from '../lines.ts'
import { LinePlaces } from '../places.ts'
import { type Draft, NO_TXN, type ParseOptions, type PieceParser, placeAt } from '../source.ts'
import {
  CHANGE_STRIDE,
  KERNEL_BYTES,
  type LineKernel,
  lineKernel,
  SHORTEST_LINE,
  type UsualLines,
} from './line-kernel.ts'

const OPEN = 40 // (
const CLOSE = 41 // )
const COMMA = 44
const MINUS = 45
const LETTER_R = 114
const LETTER_W = 119
/**
 * Lines parsed in one call. A loop that is compiled while it runs is thrown away when it ends, and
 * begins slowly in the next piece of the file; a function that has returned a few times is kept.
 */
const STRETCH_BYTES = 1 << 13
/** From so many bytes on, WebAssembly is worth being made. */
const LEAST_BYTES = 1 << 14
/** Where lines are unusual, so much is parsed before others are looked for. */
const LONGEST_DETOUR = 1 << 20
const SHAPE = 'a line looks like r(key,value,session,txn) or w(key,value,session,txn)'

export class PlumeParser extends LineParser implements PieceParser {
  private readonly builder: HistoryBuilder
  private readonly ids = new SymbolTable(this.idLimit) // transaction id -> symbol
  private readonly idTxn = new IntColumn() // symbol -> txn
  private readonly openAborted = new IntColumn(16) // session -> its open aborted txn, or NONE
  private readonly places: LinePlaces
  private lastId = NONE
  private lastSession = NONE // as numbered in the file
  private lastTxn = NONE
  private readonly newest = new NewestValues()
  private readonly digits = new Digits() // the number last read
  private source: Uint8Array = new Uint8Array(0) // what holds the line that parseLine is at
  private lineStart = 0 // and where it begins there
  private readonly sizeBytes: number
  private detour = 0 // bytes to go before lines may be usual again
  private nextDetour = STRETCH_BYTES

  constructor(options: ParseOptions = {}) {
    super(options)
    this.sizeBytes = options.sizeBytes ?? 0
    this.builder = new HistoryBuilder(0, 0, options.piece?.keys, options.piece?.columns)
    this.places = new LinePlaces(this.lineOf)
    this.builder.values.defer()
  }

  protected nextLine(): number {
    return this.places.lineOf(this.builder.opCount)
  }

  protected parseLines(bytes: Uint8Array, from: number, to: number): void {
    const first = this.builder.opCount === 0
    this.builder.reserveOps(Math.ceil((to - from) / SHORTEST_LINE))
    const kernel = to - from >= LEAST_BYTES ? lineKernel() : null
    let at = from
    while (at < to) {
      const before = at
      if (kernel !== null && this.detour <= 0) {
        at = this.parseUsual(kernel, bytes, at, to)
        continue
      }
      const end = Math.min(at + STRETCH_BYTES, to)
      at = this.parseFast(bytes, at, end)
      if (at < end) at = this.parseLine(bytes, at)
      this.detour -= at - before
    }
    if (first && this.sizeBytes > to) {
      // Lines are of about one length: make room once for the whole file.
      const perByte = this.builder.opCount / (to - from)
      const expected = Math.ceil(this.sizeBytes * perByte * 1.02)
      this.builder.reserveOps(expected)
      const { interned } = this.builder.values
      // Each may come to have a symbol of its own; room takes no memory until it is used.
      if (interned.size > 0) interned.reserve(expected)
    }
  }

  protected build(): History {
    return this.builder.finish(this.places, this.duplicateValues)
  }

  lineTxns(): Int32Array {
    return this.places.byLine(this.builder.opTxn.view(), NO_TXN)
  }

  draft(): Draft {
    this.endLines()
    const { builder, places, openAborted } = this
    const mayGoOn = (txn: number) => openAborted.data[builder.sessionOf(txn)] === txn
    return { builder, places, obstacle: null, outcomes: [], isOpen: () => false, mayGoOn }
  }

  /** Takes lines that another thread has parsed; false if it is in the middle of one. */
  takeLines(found: UsualLines, lines: number): boolean {
    if (!this.isAtLineStart) return false
    this.builder.reserveOps(lines)
    this.adopt(found, lines)
    return true
  }

  /**
   * Parses usual lines, some KERNEL_BYTES of them at most, and returns where it stopped. Where that
   * is at an unusual line, the next ones go another way, the longer the more of them there are.
   */
  private parseUsual(kernel: LineKernel, bytes: Uint8Array, from: number, to: number): number {
    const lines = kernel.parse(bytes, from, to, this.lastId, this.lastSession)
    this.adopt(kernel, lines)
    const at = from + kernel.parsedBytes
    if (at >= Math.min(from + KERNEL_BYTES, to)) this.nextDetour = STRETCH_BYTES
    else {
      this.detour = this.nextDetour
      this.nextDetour = Math.min(this.nextDetour * 2, LONGEST_DETOUR)
    }
    return at
  }

  /** Takes what the kernel found into the builder's columns. */
  private adopt(kernel: UsualLines, lines: number): void {
    const { builder } = this
    const { keys } = builder
    const opTxn = builder.opTxn.data
    const opKey = builder.opKey.data
    const opKind = builder.opKind.data
    const opValue = builder.opValue.data
    const first = builder.opCount
    const { changes, changeCount, keys: lineKey, kinds: lineKind, values: lineValue } = kernel
    let line = 0
    for (let i = 0; i <= changeCount; i++) {
      const end = i < changeCount ? changes[i * CHANGE_STRIDE]! : lines
      const txn = this.lastTxn
      for (; line < end; line++) {
        // One by one, which is faster than `set` out of memory that threads share.
        opTxn[first + line] = txn
        opKey[first + line] = keys.ofSmall(lineKey[line]!)
        opKind[first + line] = lineKind[line]!
        opValue[first + line] = lineValue[line]!
      }
      if (i === changeCount) break
      const id = changes[i * CHANGE_STRIDE + 1]!
      const session = changes[i * CHANGE_STRIDE + 2]!
      this.leave(first + line, id, session, this.nextTxn(first + line, id, session))
    }
    this.setOpCount(first + lines)
  }

  /** Parses usual lines that begin before `to`, or up to the first that is not one; returns where it stopped. */
  private parseFast(b: Uint8Array, from: number, to: number): number {
    const { builder } = this
    const opTxn = builder.opTxn.data
    const opKind = builder.opKind.data
    const opKey = builder.opKey.data
    const opValue = builder.opValue.data
    let n = builder.opCount
    let { lastId, lastSession, lastTxn: txn } = this
    let lineStart = from
    while (lineStart < to) {
      const letter = b[lineStart]!
      if (b[lineStart + 1] !== OPEN || (letter !== LETTER_R && letter !== LETTER_W)) break
      // Any byte from '0' on is taken for a digit; `digits` stays negative if all of them were.
      let digits = -1
      let key = 0
      let value = 0
      let high = NONE // the high word of a value of ten digits or more
      let session = 0
      let id = 0
      let at = lineStart + 2
      let p = at
      let c = b[p++]!
      for (; c >= 48; c = b[p++]!) {
        key = (Math.imul(key, 10) + (c - 48)) | 0
        digits &= c - 58
      }
      if ((p - at - 2) >>> 0 > 8) {
        key = ~this.ofWideKey(b, at, p - at - 1, key)
        if (key >= 0) break
      }
      if (c !== COMMA) break
      at = p
      for (c = b[p++]!; c >= 48; c = b[p++]!) {
        value = (Math.imul(value, 10) + (c - 48)) | 0
        digits &= c - 58
      }
      if ((p - at - 2) >>> 0 > 8) {
        high = highWord(b, at, p - at - 1, value)
        if (high < 0) break
      }
      if (c !== COMMA) break
      at = p
      for (c = b[p++]!; c >= 48; c = b[p++]!) {
        session = (Math.imul(session, 10) + (c - 48)) | 0
        digits &= c - 58
      }
      if (c !== COMMA || (p - at - 2) >>> 0 > 8) break
      at = p
      for (c = b[p++]!; c >= 48; c = b[p++]!) {
        id = (Math.imul(id, 10) + (c - 48)) | 0
        digits &= c - 58
      }
      if (c !== CLOSE || (p - at - 2) >>> 0 > 8 || digits >= 0) break
      if (b[p] === 13) p++
      if (b[p] !== NEWLINE) break
      if (id !== lastId || session !== lastSession) {
        txn = this.nextTxn(n, id, session)
        lastId = id
        lastSession = session
      }
      opTxn[n] = txn
      opKind[n] = letter === LETTER_R ? READ : WRITE
      opKey[n] = key < 0 ? ~key : builder.keys.ofSmall(key)
      opValue[n] = high < 0 ? value : this.ofWideValue(opKind[n]!, opKey[n]!, value, high | 0)
      n++
      lineStart = p + 1
    }
    this.leave(n, lastId, lastSession, txn)
    return lineStart
  }

  private nextTxn(opCount: number, id: number, session: number): number {
    this.setOpCount(opCount)
    return this.txnFor(id, 0, this.builder.sessions.ofSmall(session))
  }

  /** Keeps what the next line is likely to share with the last one. */
  private leave(opCount: number, id: number, session: number, txn: number): void {
    this.setOpCount(opCount)
    this.lastId = id
    this.lastSession = session
    this.lastTxn = txn
  }

  /**
   * The symbol of a key of ten digits or more, NONE if it is no such number.
   * @param low what is left of it in an Int32: its low word
   */
  private ofWideKey(b: Uint8Array, at: number, length: number, low: number): number {
    const high = highWord(b, at, length, low)
    return high < 0 ? NONE : this.builder.keys.ofWords(low, high | 0, false)
  }

  /** The id of a value of ten digits or more. */
  private ofWideValue(kind: number, key: number, low: number, high: number): number {
    if (kind === READ) {
      const known = this.newest.find(key, low, high)
      if (known !== NONE) return known
    }
    const id = this.builder.values.ofWords(low, high, false)
    if (kind === WRITE) this.newest.set(key, low, high, id)
    return id
  }

  /** Parses one line of any kind, or says what is wrong with it; returns where the next begins. */
  private parseLine(b: Uint8Array, start: number): number {
    const { digits } = this
    this.source = b
    this.lineStart = start
    let p = start
    while (b[p] === 32 || b[p] === 9 || b[p] === 13) p++
    if (b[p] === NEWLINE) {
      this.skipLine()
      return p + 1
    }
    p = start
    const letter = b[p]!
    if (letter !== LETTER_R && letter !== LETTER_W) {
      throw this.fail(p, `expected "r" or "w", found ${describeByte(b, p)}`, SHAPE)
    }
    p = this.expect(p + 1, OPEN)
    p = this.parseNumber(p, 'key')
    const key = this.builder.keys.ofWords(digits.low | 0, digits.high | 0, false)
    p = this.parseNumber(this.expect(p, COMMA), 'value')
    const value = this.builder.values.ofWords(digits.low | 0, digits.high | 0, false)
    p = this.parseNumber(this.expect(p, COMMA), 'session')
    const session = this.builder.sessions.ofWords(digits.low | 0, digits.high | 0, false)
    p = this.expect(p, COMMA)
    const aborted = b[p] === MINUS
    const idAt = p
    p = this.parseNumber(aborted ? p + 1 : p, 'transaction')
    if (aborted && (digits.high !== 0 || digits.low !== 1 || p !== idAt + 2)) {
      const hint = 'transaction ids are nonnegative, or -1 for aborted'
      throw this.fail(idAt, 'a transaction id cannot be negative', hint)
    }
    p = this.expect(p, CLOSE)
    if (b[p] === 13) p++
    if (b[p] !== NEWLINE) {
      throw this.fail(p, `unexpected ${describeByte(b, p)} after the operation`, SHAPE)
    }
    this.lastId = NONE
    const txn = aborted
      ? this.abortedFor(session)
      : this.txnFor(digits.low | 0, digits.high, session)
    if (aborted && letter === LETTER_R) this.skipLine()
    else this.builder.addOp(txn, letter === LETTER_R ? READ : WRITE, key, value)
    return p + 1
  }

  /** The transaction of that id, made on first use. */
  private txnFor(low: number, high: number, session: number): number {
    while (this.openAborted.length <= session) this.openAborted.push(NONE)
    this.openAborted.data[session] = NONE
    const known = this.ids.size
    const symbol = this.ids.ofWords(low, high | 0, false)
    if (symbol === known) {
      const label = high === 0 && low >= 0 ? low : this.ids.get(symbol)
      this.idTxn.push(this.builder.addTxn(session, COMMITTED, label))
    }
    const txn = this.idTxn.data[symbol]!
    if (this.builder.sessionOf(txn) !== session) throw this.inTwoSessions(txn, symbol, session)
    return txn
  }

  private abortedFor(session: number): number {
    while (this.openAborted.length <= session) this.openAborted.push(NONE)
    const open = this.openAborted.data[session]!
    if (open !== NONE) return open
    const txn = this.builder.addTxn(session, ABORTED)
    this.openAborted.data[session] = txn
    return txn
  }

  private skipLine(): void {
    this.places.skip(this.builder.opCount)
  }

  private setOpCount(count: number): void {
    const { opTxn, opKind, opKey, opValue } = this.builder
    opTxn.length = count
    opKind.length = count
    opKey.length = count
    opValue.length = count
  }

  /** Reads digits into `digits`; returns where they end. */
  private parseNumber(from: number, what: string): number {
    const end = this.digits.scan(this.source, from)
    if (end === from) {
      const message = `expected a ${what} (decimal digits), found ${describeByte(this.source, end)}`
      throw this.fail(end, message, SHAPE)
    }
    if (this.digits.overflow) {
      const hint = 'the largest number is 18446744073709551615'
      const message = `the ${what} does not fit into 64 bits`
      throw this.fail(from, message, hint, 'out-of-range')
    }
    return end
  }

  private expect(p: number, byte: number): number {
    const { source } = this
    if (source[p] === byte) return p + 1
    const message = `expected "${String.fromCharCode(byte)}", found ${describeByte(source, p)}`
    throw this.fail(p, message, SHAPE)
  }

  private fail(at: number, message: string, hint: string, code = 'malformed'): InputError {
    const place = placeAt(this.source, this.lineStart, at, this.nextLine())
    return new InputError(code, message, place, hint)
  }

  private inTwoSessions(txn: number, symbol: number, session: number): InputError {
    const { sessions, opTxn } = this.builder
    const first = this.places.lineOf(opTxn.view().indexOf(txn))
    const one = sessions.get(this.builder.sessionOf(txn))
    const two = sessions.get(session)
    return new InputError(
      'txn-in-two-sessions',
      `transaction ${this.ids.get(symbol)} is in session ${two} here, in session ${one} at line ${first}`,
      { line: this.nextLine(), column: 1 },
      'transaction ids are global: number transactions through all sessions',
    )
  }
}
