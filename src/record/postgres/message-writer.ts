// Messages of PostgreSQL's protocol, one behind the other in one buffer that is used again: its
// bytes must have been sent before the next ones are written, which is so where each exchange waits
// for its answer. Main class: MessageWriter.

import { isWhole, MOST_DIGITS, writeDigits } from '../digits.ts'

const BIND = 0x42 // B
const EXECUTE = 0x45 // E
const PARSE = 0x50 // P
const SYNC = 0x53 // S

const FIRST_SIZE_BYTES = 1024
/** Texts of up to so many units are written here, where the call into Node would take longer. */
const SHORT = 32
/** All of Execute: of the portal without a name, and of all its rows. */
const EXECUTE_ALL = [EXECUTE, 0, 0, 0, 9, 0, 0, 0, 0, 0]

export class MessageWriter {
  /** Behind what was written, there may be older bytes. */
  bytes = Buffer.alloc(FIRST_SIZE_BYTES)
  private end = 0

  /** Prepares a statement under a name. */
  parse(name: string, text: string, types: readonly number[]): void {
    const start = this.begin(PARSE)
    this.string(name)
    this.string(text)
    this.int16(types.length)
    for (const type of types) this.int32(type)
    this.close(start)
  }

  /** Runs a prepared statement; values go and come as text. */
  execute(name: string, values: readonly (string | number | null)[]): void {
    const bind = this.begin(BIND)
    this.string('') // portal
    this.string(name)
    this.int16(0) // formats of values: all as text
    this.int16(values.length)
    for (const value of values) this.value(value)
    this.int16(0) // formats of columns
    this.close(bind)
    this.reserve(EXECUTE_ALL.length)
    for (const byte of EXECUTE_ALL) this.bytes[this.end++] = byte
  }

  /** Demands an answer. How many bytes were written in all; the next message begins anew. */
  finish(): number {
    this.close(this.begin(SYNC))
    const { end } = this
    this.end = 0
    return end
  }

  private begin(kind: number): number {
    this.reserve(5)
    const start = this.end + 1
    this.bytes[this.end] = kind
    this.end += 5
    return start
  }

  private close(start: number): void {
    this.put32(this.end - start, start)
  }

  private value(value: string | number | null): void {
    if (value === null) return this.int32(-1)
    if (typeof value === 'number') return this.number(value)
    this.reserve(4 + 3 * value.length) // at most three bytes for a unit of UTF-16
    const length = this.text(value, this.end + 4)
    this.put32(length, this.end)
    this.end += 4 + length
  }

  private number(value: number): void {
    if (!isWhole(value)) return this.value(String(value))
    this.reserve(4 + MOST_DIGITS)
    const start = this.end + 4
    const end = writeDigits(this.bytes, start, value)
    this.put32(end - start, this.end)
    this.end = end
  }

  private string(text: string): void {
    this.reserve(3 * text.length + 1)
    this.end += this.text(text, this.end)
    this.bytes[this.end++] = 0
  }

  /** Returns how many bytes it takes. */
  private text(text: string, at: number): number {
    if (text.length > SHORT) return this.bytes.write(text, at, 'utf8')
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit > 0x7f) return this.bytes.write(text, at, 'utf8')
      this.bytes[at + i] = unit
    }
    return text.length
  }

  private int16(value: number): void {
    this.reserve(2)
    this.bytes[this.end++] = value >> 8
    this.bytes[this.end++] = value
  }

  private int32(value: number): void {
    this.reserve(4)
    this.put32(value, this.end)
    this.end += 4
  }

  private put32(value: number, at: number): void {
    this.bytes[at] = value >> 24
    this.bytes[at + 1] = value >> 16
    this.bytes[at + 2] = value >> 8
    this.bytes[at + 3] = value
  }

  private reserve(count: number): void {
    if (this.end + count <= this.bytes.length) return
    const larger = Buffer.alloc(Math.max(2 * this.bytes.length, this.end + count))
    this.bytes.copy(larger, 0, 0, this.end)
    this.bytes = larger
  }
}
