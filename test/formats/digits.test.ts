import { describe, expect, it } from 'vitest'
import { highWord } from '../../src/formats/digits.ts'
import { someIntegers } from '../history/integers.ts'

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
