import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { type Symbol64, SymbolTable } from '../../src/history/symbols.ts'
import { someIntegers } from './integers.ts'

const wordsOf = (n: bigint) =>
  [Number(BigInt.asIntN(32, n)), Number(BigInt.asIntN(32, n >> 32n))] as const

describe('SymbolTable', () => {
  it('gives every 64-bit integer one symbol, close together or not, and gives it back', () => {
    const table = new SymbolTable()
    const known = new Map<bigint, number>()
    for (const n of someIntegers(1, 200_000)) {
      const symbol = table.ofWords(...wordsOf(n), false)
      if (symbol !== (known.get(n) ?? known.size)) expect.fail(`${n} got ${symbol}`)
      known.set(n, symbol)
    }
    for (const [n, symbol] of known) {
      if (BigInt(table.get(symbol) as number) !== n) expect.fail(`${n} came back as another`)
    }
  })

  it('tells a number from its negative and from its text', () => {
    const table = new SymbolTable()
    const all = [2n ** 64n - 1n, -1, '18446744073709551615', 2 ** 40, -(2 ** 40), `${2 ** 40}`]
    expect(all.map((each) => table.of(each))).toEqual([0, 1, 2, 3, 4, 5])
    expect(all.map((each) => table.of(each))).toEqual([0, 1, 2, 3, 4, 5])
  })
})

describe('SymbolTable that may defer', () => {
  /** Large integers, small ones, negative ones, texts and null, many of them several times. */
  function* someSymbols(seed: number, count: number): Generator<Symbol64> {
    const random = new Random(seed)
    const used: Symbol64[] = []
    for (const n of someIntegers(seed, count)) {
      const again = used.length > 0 && random.below(3) === 0
      const fresh = [n, n, n, n, n, -(n >> 2n), `t${n % 1000n}`, random.below(5000), null]
      const next = again ? used[random.below(used.length)]! : fresh[random.below(fresh.length)]!
      used.push(next)
      yield next
    }
  }

  it('settles on the symbols that a table gives which looks everything up', () => {
    for (const count of [120_000, 300_000]) {
      const table = new SymbolTable()
      const eager = new SymbolTable()
      table.defer()
      const all = [...someSymbols(3, count)]
      const early = all.map((each) => table.of(each))
      const late = all.map((each) => eager.of(each))
      expect(table.size).toBeGreaterThan(eager.size)
      const become = table.settle()!
      expect(table.size).toBe(eager.size)
      expect(early.map((symbol) => become[symbol])).toEqual(late)
      for (const symbol of late) {
        if (table.get(symbol) !== eager.get(symbol)) expect.fail(`symbol ${symbol} changed`)
      }
      // Whoever asks afterwards gets the same symbols, and new ones for what is new.
      const more = [...all.slice(0, 1000).reverse(), ...someSymbols(4, 50_000)]
      expect(more.map((each) => table.of(each))).toEqual(more.map((each) => eager.of(each)))
    }
  })

  it('answers from the small numbers on after it has settled', () => {
    const table = new SymbolTable()
    table.defer()
    const numbers = [...someIntegers(5, 100_000)]
    for (const n of numbers) table.of(n)
    const five = table.of(5)
    const become = table.settle()!
    expect(table.ofSmall(5)).toBe(become[five])
    expect(become[five]).not.toBe(five)
  })

  it('has nothing to settle where integers lie close together', () => {
    const table = new SymbolTable()
    table.defer()
    for (let i = 0; i < 50_000; i++) table.of(2 ** 40 + i)
    expect(table.settle()).toBeNull()
  })
})
