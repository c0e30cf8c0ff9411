// Keys, values and names as bytes: exact, and short for small integers. Equal symbols have equal
// bytes. Main functions: putSymbol, takeSymbol.

import { UTF8 } from '../base/unicode.ts'
import { type IntReader, putInt } from '../files/varint.ts'
import { type Symbol64, toWords } from '../history/symbols.ts'
import { INTERNED } from '../history/values.ts'

/** Integers below it are twice themselves; what is odd says what follows. As of value ids. */
export const SMALL = INTERNED
const NULL = 1
const POSITIVE = 3 // two words
const NEGATIVE = 5 // two words
const TEXT = 7 // its length, its UTF-8
const encoder = new TextEncoder()

/** The most bytes that `putSymbol` takes. */
export function roomFor(symbol: Symbol64): number {
  return typeof symbol === 'string' ? 16 + 3 * symbol.length : 9
}

export function isSmall(symbol: Symbol64): symbol is number {
  return typeof symbol === 'number' && symbol >= 0 && symbol < SMALL
}

/** As `putSymbol`, of a small integer. */
export function putSmall(bytes: Uint8Array, at: number, symbol: number): number {
  return putInt(bytes, at, 2 * symbol)
}

/** Returns where it ends. */
export function putSymbol(bytes: Uint8Array, at: number, symbol: Symbol64): number {
  if (isSmall(symbol)) return putSmall(bytes, at, symbol)
  if (symbol === null) return putInt(bytes, at, NULL)
  if (typeof symbol === 'string') {
    const text = encoder.encode(symbol)
    const from = putInt(bytes, putInt(bytes, at, TEXT), text.length)
    bytes.set(text, from)
    return from + text.length
  }
  const { low, high, negative } = toWords(symbol)
  bytes[at] = negative ? NEGATIVE : POSITIVE
  for (let i = 0; i < 4; i++) {
    bytes[at + 1 + i] = low >>> (8 * i)
    bytes[at + 5 + i] = high >>> (8 * i)
  }
  return at + 9
}

/** Where symbols go, by the form they have. */
export interface SymbolSink {
  ofSmall(n: number): number
  ofWords(low: number, high: number, negative: boolean): number
  of(symbol: Symbol64): number
}

/** Reads a symbol; returns its number in the sink. */
export function takeSymbol(reader: IntReader, sink: SymbolSink): number {
  const n = reader.int()
  if (n % 2 === 0) return sink.ofSmall(n / 2)
  if (n === NULL) return sink.of(null)
  if (n === TEXT) {
    const length = reader.int()
    const from = reader.at
    reader.at += length
    return sink.of(UTF8.decode(reader.bytes.subarray(from, reader.at)))
  }
  const { bytes, at } = reader
  reader.at += 8
  return sink.ofWords(wordAt(bytes, at), wordAt(bytes, at + 4), n === NEGATIVE)
}

function wordAt(b: Uint8Array, at: number): number {
  return b[at]! | (b[at + 1]! << 8) | (b[at + 2]! << 16) | (b[at + 3]! << 24)
}

/** A number that equal bytes share. */
export function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let h = 0x811c9dc5
  for (let i = from; i < to; i++) h = Math.imul(h ^ bytes[i]!, 0x01000193)
  h ^= h >>> 15
  h = Math.imul(h, 0x2c1b3c6d)
  return (h ^ (h >>> 13)) >>> 0
}
