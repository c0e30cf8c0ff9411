// Text that is put together piece by piece and goes to a file: its bytes, in one buffer that is
// used again. Strings would be made of every number and every piece, and translated in the end; a
// processor whose caches the server has just used pays for all that they touch. Main class:
// TextBuffer.

import { isWhole, MOST_DIGITS, writeDigits } from './digits.ts'

const FIRST_SIZE_BYTES = 1024

export class TextBuffer {
  bytes = Buffer.alloc(FIRST_SIZE_BYTES)
  /** How many of the bytes are text. */
  end = 0

  /** Text of our own making: of plain letters alone. */
  ascii(text: string): void {
    this.reserve(text.length)
    const { bytes, end } = this
    for (let i = 0; i < text.length; i++) bytes[end + i] = text.charCodeAt(i)
    this.end = end + text.length
  }

  /** Any text. */
  text(text: string): void {
    this.reserve(3 * text.length) // at most three bytes for a unit of UTF-16
    this.end += this.bytes.write(text, this.end, 'utf8')
  }

  /** As String() has it. */
  number(value: number): void {
    if (!isWhole(value)) return this.ascii(String(value))
    this.reserve(MOST_DIGITS)
    this.end = writeDigits(this.bytes, this.end, value)
  }

  append(other: TextBuffer): void {
    this.reserve(other.end)
    other.bytes.copy(this.bytes, this.end, 0, other.end)
    this.end += other.end
  }

  private reserve(count: number): void {
    if (this.end + count <= this.bytes.length) return
    const larger = Buffer.alloc(Math.max(2 * this.bytes.length, this.end + count))
    this.bytes.copy(larger, 0, 0, this.end)
    this.bytes = larger
  }
}
