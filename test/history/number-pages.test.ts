import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { highWord } from '../../src/formats/digits.ts'
import { SymbolTable } from '../../src/history/symbols.ts'

const wordsOf = (n: bigint) =>
  [Number(BigInt.asIntN(32, n)), Number(BigInt.asIntN(32, n >> 32n))] as const

/** Counters behind a session, lone large numbers, numbers around the ends of words. */
function* someIntegers(seed: number, count: number): Generator<bigint> {
  const random = new Random(seed)
  const any = () => (BigInt(random.below(2 ** 31)) << 33n) | BigInt(random.below(2 ** 31))
  for (let i = 0; i < count; i++) {
    yield [
      (BigInt(random.below(50)) << 40n) + BigInt(i >> 3),
      any(),
      (1n << BigInt(22 + random.below(42))) + BigInt(random.below(5)) - 2n,
    ][random.below(3)]!
  }
}

describe('SymbolTable', () => {
  it('gives every 64-bit integer one symbol, close together or not, and gives it back', () => {
    const table = new SymbolTable()
    const known = new Map<bigint, number>()
    for (const n of someIntegers(1, 200_000)) {
      const symbol = table.ofWords(...wordsOf(n), false)
      expect(symbol).toBe(known.get(n) ?? known.size)
      known.set(n, symbol)
    }
    for (const [n, symbol] of known) expect(BigInt(table.get(symbol) as number)).toBe(n)
  })

  it('tells a number from its negative and from its text', () => {
    const table = new SymbolTable()
    const all = [2n ** 64n - 1n, -1, '18446744073709551615', 2 ** 40, -(2 ** 40), `${2 ** 40}`]
    expect(all.map((each) => table.of(each))).toEqual([0, 1, 2, 3, 4, 5])
    expect(all.map((each) => table.of(each))).toEqual([0, 1, 2, 3, 4, 5])
  })
})

describe('highWord', () => {
  const highOf = (text: string) => {
    const low = Number(BigInt.asIntN(32, BigInt(text)))
    return highWord(new TextEncoder().encode(text), 0, text.length, low)
  }

  it('is exact for numbers of 10 to 20 digits', () => {
    for (const n of someIntegers(2, 50_000)) {
      if (n < 10n ** 9n) continue
      expect(highOf(`${n}`)).toBe(Number(n >> 32n))
    }
    for (let length = 10; length <= 19; length++) {
      for (const n of [10n ** BigInt(length) - 1n, 10n ** BigInt(length - 1)]) {
        expect(highOf(`${n}`)).toBe(Number(n >> 32n))
      }
    }
    expect(highOf('00000000000000000007')).toBe(0)
  })

  it('refuses what needs 65 bits', () => {
    expect(highOf(`${2n ** 64n - 1n}`)).toBe(2 ** 32 - 1)
    expect(highOf(`${2n ** 64n}`)).toBe(-1)
    expect(highOf('99999999999999999999')).toBe(-1)
    expect(highOf('000000000000000000007')).toBe(-1)
  })
})
