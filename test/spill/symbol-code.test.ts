import { describe, expect, it } from 'vitest'
import { IntReader } from '../../src/files/varint.ts'
import type { Symbol64 } from '../../src/history/symbols.ts'
import { SymbolTable } from '../../src/history/symbols.ts'
import { NumberSet } from '../../src/spill/number-set.ts'
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

describe('NumberSet', () => {
  it('knows what was added, grows, and says where it may not', () => {
    const set = new NumberSet(1 << 16)
    for (const n of [0, 31, 32, 40_000, 100_000]) {
      expect(set.add(n)).toBe(true)
      expect(set.add(n)).toBe(false)
    }
    expect(set.add(33)).toBe(true)
    expect(set.add(10_000_000)).toBe(null)
    expect(set.add(0)).toBe(false)
  })
})
