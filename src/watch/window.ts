// The part of a growing input that is still held, as text: what was kept of it, then what came
// since. Text, because a line is the shortest form of a transaction, and because parsing it anew
// gives each window its own small tables of keys and values: nothing grows with time.
// Main class: Window.

import { enlarged, FloatColumn } from '../base/grow.ts'
import { UTF8 } from '../base/unicode.ts'
import { JsonScanner } from '../formats/json.ts'
import type { FormatReader } from '../formats/readers.ts'

import type { History } from '../history/history.ts'

const NEWLINE = 10
const PUSH_BYTES = 1 << 20 // parsers make room for what a chunk can hold

export interface Parsed {
  readonly history: History
  readonly lineTxn: Int32Array // line of the text -> the transaction it speaks of, see lineTxns
}

/** Lines put before those of the window, and what they are called. */
export interface Preface {
  readonly lines: readonly string[]
  readonly numbers: readonly number[]
}

export class Window {
  private bytes = new Uint8Array(1 << 16)
  private whole = 0 // bytes that are whole lines
  private used = 0 // bytes, with the beginning of the next line
  private kept = new FloatColumn(16) // line -> its number in the input, of lines that were kept
  private firstNew = 1 // number in the input of the first line behind those

  /** Bytes of whole lines. */
  get byteCount(): number {
    return this.whole
  }

  /** Bytes of a last line whose end has not come. */
  get tornBytes(): number {
    return this.used - this.whole
  }

  push(chunk: Uint8Array): void {
    const needed = this.used + chunk.length
    if (needed > this.bytes.length) {
      this.bytes = enlarged(this.bytes, Math.max(needed, Math.ceil(this.bytes.length * 1.5)))
    }
    this.bytes.set(chunk, this.used)
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) this.whole = this.used + end
    this.used = needed
  }

  /** The number in the input of the n-th line here, both counted from 1. */
  readonly lineOf = (line: number): number => {
    const { kept } = this
    return line <= kept.length ? kept.data[line - 1]! : this.firstNew + line - kept.length - 1
  }

  /** The line here, counted from 0, that has this number in the input. */
  lineNumbered(number: number): number {
    const { kept } = this
    if (number >= this.firstNew) return kept.length + number - this.firstNew
    return kept.view().indexOf(number)
  }

  /**
   * Nothing follows: a last line that no newline ends goes if it is cut short, else it counts, so
   * that what is wrong with it is told. Returns whether it counts.
   */
  endLine({ id }: FormatReader): boolean {
    if (this.tornBytes === 0) return true
    const line = this.bytes.subarray(this.whole, this.used)
    const isTorn = id === 'plume' ? TORN_PLUME.test(UTF8.decode(line)) : isTornJson(line)
    if (isTorn) this.used = this.whole
    else this.push(Uint8Array.of(NEWLINE))
    return !isTorn
  }

  countLines(): number {
    let count = 0
    for (let at = 0; at < this.whole; at++) if (this.bytes[at] === NEWLINE) count++
    return count
  }

  head(byteCount: number): Uint8Array {
    return this.bytes.subarray(0, Math.min(this.used, byteCount))
  }

  /**
   * The history that the whole lines tell.
   * @param preface lines to go before all but the header
   */
  parse(format: FormatReader, preface: Preface | null = null): Parsed {
    const length = this.whole
    const lead = preface === null ? 0 : this.headerBytes()
    const shift = preface?.lines.length ?? 0
    const header = lead > 0 ? 1 : 0
    const lineOf = (line: number): number => {
      if (line <= header || shift === 0) return this.lineOf(line)
      return line <= header + shift
        ? preface!.numbers[line - header - 1]!
        : this.lineOf(line - shift)
    }
    const parser = format.parser({ sizeBytes: length, lineOf })
    parser.push(this.bytes.subarray(0, lead))
    if (shift > 0) parser.push(new TextEncoder().encode(`${preface!.lines.join('\n')}\n`))
    for (let at = lead; at < length; at += PUSH_BYTES) {
      parser.push(this.bytes.subarray(at, Math.min(length, at + PUSH_BYTES)))
    }
    const history = parser.finish()
    return { history, lineTxn: parser.lineTxns!() }
  }

  /** Bytes of the first line if it is a header, which no preface may precede. */
  private headerBytes(): number {
    const end = this.bytes.indexOf(NEWLINE) + 1
    const text = UTF8.decode(this.bytes.subarray(0, end))
    return /^\s*\{[^[]*"isobar"\s*:/.test(text) ? end : 0
  }

  /** Lets go of the whole lines for which `isKept` has 0. */
  keep(isKept: Uint8Array): void {
    const { bytes, whole } = this
    const numbers = new FloatColumn(isKept.length)
    const lastGone = isKept.lastIndexOf(0)
    let line = 0
    let start = 0
    let to = 0
    for (let at = 0; line <= lastGone && at < whole; at++) {
      if (bytes[at] !== NEWLINE) continue
      if (isKept[line]) {
        numbers.push(this.lineOf(line + 1))
        if (to !== start) bytes.copyWithin(to, start, at + 1)
        to += at + 1 - start
      }
      line++
      start = at + 1
    }
    bytes.copyWithin(to, start, whole)
    to += whole - start
    for (; line < isKept.length; line++) numbers.push(this.lineOf(line + 1))
    this.firstNew = this.lineOf(line + 1)
    this.kept = numbers
    bytes.copyWithin(to, whole, this.used)
    this.used = to + this.used - whole
    this.whole = to
  }

  /** All that is needed to go on elsewhere. */
  save(): { text: Uint8Array; lines: number[]; next: number } {
    return {
      text: this.bytes.slice(0, this.used),
      lines: Array.from(this.kept.view()),
      next: this.firstNew,
    }
  }

  static restore(saved: ReturnType<Window['save']>): Window {
    const window = new Window()
    window.push(saved.text)
    for (const number of saved.lines) window.kept.push(number)
    window.firstNew = saved.next
    return window
  }
}

/** The beginning of r(key,value,session,txn). */
const TORN_PLUME = /^[rw](\(((\d+,){0,2}\d*|(\d+,){3}-?\d*))?$/

function isTornJson(line: Uint8Array): boolean {
  return new JsonScanner(false).findTear(line, 1) !== null
}
