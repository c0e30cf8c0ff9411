// Fixed-width integers in byte streams, for the binary formats. Their errors have no lines: the
// place is line 1, and the column is the byte, counted from 1.

import { InputError } from '../base/errors.ts'
import { type SymbolTable, toWords } from '../history/symbols.ts'
import type { Value, ValueTable } from '../history/values.ts'
import type { ByteWriter } from './sink.ts'

/** A 64-bit integer as it was read; `high` is signed. */
export interface Int64 {
  low: number
  high: number
}

export function internInt64(table: SymbolTable | ValueTable, { low, high }: Int64): number {
  return table.ofWords(low, high, high < 0)
}

export function int64ToValue({ low, high }: Int64): number | bigint {
  const near = high * 4294967296 + (low >>> 0)
  if (Number.isSafeInteger(near)) return near
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

/** Writes a signed 64-bit integer; anything but an integer as 0. */
export function writeInt64(writer: ByteWriter, value: Value, bigEndian: boolean): void {
  const { low, high } = toWords(typeof value === 'string' || value === null ? 0 : value)
  const words = bigEndian ? [high, low] : [low, high]
  for (const word of words) {
    for (let i = 0; i < 4; i++) writer.byte((word >>> (bigEndian ? 24 - 8 * i : 8 * i)) & 255)
  }
}

export function badByte(at: number, message: string, code = 'malformed'): InputError {
  return new InputError(code, `${message} (byte ${at})`, { line: 1, column: at + 1 })
}
