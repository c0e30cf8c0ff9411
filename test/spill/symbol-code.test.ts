import { describe, expect, it } from 'vitest'
import { IntReader } from '../../src/files/varint.ts'
import type { Symbol64 } from '../../src/history/symbols.ts'
import { SymbolTable } from '../../src/history/symbols.ts'
import { hashBytes, putSymbol, roomFor, SMALL, takeSymbol } from '../../src/spill/symbol-code.ts'

const SYMBOLS: readonly Symbol64[] = [
  null,
  0,
  1,
  63,
  64,
  SMALL - 1,
  SMALL,
  -1,
  2 ** 53 - 1,
  2n ** 63n - 1n,
  -(2n ** 63n),
  2n ** 64n - 1n,
  '',
  '0',
  'x',
  '\uFEFFx',
  'naïve 東京 🙂',
]

const bytesOf = (symbol: Symbol64) => {
  const bytes = new Uint8Array(roomFor(symbol))
  return bytes.subarray(0, putSymbol(bytes, 0, symbol))
}

describe('symbols as bytes', () => {
  it('come back as they were, and fit into the room that is made for them', () => {
    for (const symbol of SYMBOLS) {
      const bytes = bytesOf(symbol)
      const table = new SymbolTable()
      const reader = new IntReader()
      reader.load(bytes)
      expect(takeSymbol(reader, table)).toBe(0)
      expect(reader.at).toBe(bytes.length)
      expect(table.of(symbol), String(symbol)).toBe(0)
    }
  })

  it('are the same for the same symbol, and for no other', () => {
    const seen = new Map(SYMBOLS.map((symbol) => [bytesOf(symbol).join(), symbol]))
    expect(seen.size).toBe(SYMBOLS.length)
    const [one, again] = [bytesOf('x'), bytesOf('x')]
    expect(hashBytes(one, 0, one.length)).toBe(hashBytes(again, 0, again.length))
  })
})
