// Writing bytes out fast: one large buffer, flushed into a sink; numbers and texts are put in place
// without strings in between. Keys are rendered once each and copied afterwards.

import type { Sink } from '../files/write.ts'
import type { History } from '../history/history.ts'
import { INTERNED, type Value } from '../history/values.ts'

export type { Sink }

const BUFFER_BYTES = 1 << 20
const SHORT = 128 // units of a text
const encoder = new TextEncoder()

export class ByteWriter {
  /** Hot loops ask for room, then fill the buffer themselves. */
  readonly buffer = new Uint8Array(BUFFER_BYTES)
  length = 0

  constructor(private readonly sink: Sink) {}

  byte(c: number): void {
    if (this.length === BUFFER_BYTES) this.flush()
    this.buffer[this.length++] = c
  }

  /** Text of any length. */
  text(text: string): void {
    const most = 3 * text.length // a unit of UTF-16 takes up to three bytes
    if (most > BUFFER_BYTES) {
      this.copy(encoder.encode(text), 0)
      return
    }
    this.room(most)
    if (text.length <= SHORT && this.ascii(text)) return
    this.length += encoder.encodeInto(text, this.buffer.subarray(this.length)).written
  }

  /** Puts a short text in place, which is much faster than a call of the encoder. */
  private ascii(text: string): boolean {
    const { buffer, length } = this
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit > 127) return false
      buffer[length + i] = unit
    }
    this.length = length + text.length
    return true
  }

  /** bytes[from .. to). */
  copy(bytes: Uint8Array, from: number, to: number = bytes.length): void {
    if (this.length + to - from > BUFFER_BYTES) this.flush()
    if (to - from > BUFFER_BYTES) {
      this.sink(bytes.subarray(from, to))
      return
    }
    const { buffer } = this
    let at = this.length
    if (to - from > 64) {
      buffer.set(bytes.subarray(from, to), at)
      at += to - from
    } else {
      for (let i = from; i < to; i++) buffer[at++] = bytes[i]!
    }
    this.length = at
  }

  /** A nonnegative integer below 2^31. */
  small(n: number): void {
    if (this.length + 10 > BUFFER_BYTES) this.flush()
    this.length = putSmall(this.buffer, this.length, n)
  }

  /** Makes sure that so many bytes fit into the buffer. */
  room(bytes: number): void {
    if (this.length + bytes > BUFFER_BYTES) this.flush()
  }

  flush(): void {
    if (this.length > 0) this.sink(this.buffer.subarray(0, this.length))
    this.length = 0
  }
}

/** Puts the digits of a nonnegative integer below 2^31 at buffer[at]; returns where they end. */
export function putSmall(buffer: Uint8Array, at: number, n: number): number {
  let end = at + 1
  for (let rest = n; rest >= 10; rest = (rest / 10) | 0) end++
  for (let i = end - 1; i >= at; i--) {
    const rest = (n / 10) | 0
    buffer[i] = 48 + n - Math.imul(rest, 10)
    n = rest
  }
  return end
}

/** All keys of a history, rendered once. */
export class RenderedKeys {
  readonly bytes: Uint8Array // the renderings, one after another
  readonly start: Float64Array // key -> where its rendering begins; one more at the end

  constructor(history: History, render: (key: Value, index: number) => string) {
    const chunks: Uint8Array[] = []
    this.start = new Float64Array(history.keyCount + 1)
    const writer = new ByteWriter((bytes) => chunks.push(bytes.slice()))
    for (let key = 0; key < history.keyCount; key++) {
      const text = encoder.encode(render(history.keyName(key), key))
      writer.copy(text, 0)
      this.start[key + 1] = this.start[key]! + text.length
    }
    writer.flush()
    this.bytes = new Uint8Array(this.start[history.keyCount]!)
    let at = 0
    for (const chunk of chunks) {
      this.bytes.set(chunk, at)
      at += chunk.length
    }
  }

  write(writer: ByteWriter, key: number): void {
    writer.copy(this.bytes, this.start[key]!, this.start[key + 1]!)
  }
}

/** Writes a value id: small integers as digits, all else by `render`. */
export function writeValue(
  writer: ByteWriter,
  history: History,
  value: number,
  render: (value: Value) => string,
): void {
  if (value < INTERNED) writer.small(value)
  else writer.text(render(history.values.get(value)))
}

/** A key or value as JSON; integers beyond 2^53 as plain digits. */
export function renderJson(value: Value): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}
