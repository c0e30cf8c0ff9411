import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { isWhole, writeDigits } from '../../src/record/digits.ts'

const LARGEST = Number.MAX_SAFE_INTEGER

function digitsOf(value: number): string {
  const bytes = Buffer.alloc(24, '.')
  const end = writeDigits(bytes, 3, value)
  expect(bytes.toString('latin1', 0, 3) + bytes.toString('latin1', end)).toMatch(/^\.+$/)
  return bytes.toString('latin1', 3, end)
}

describe('writeDigits', () => {
  it('writes what String does, and nothing beside it', () => {
    const values = [0, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 32 + 1, LARGEST - 1, LARGEST]
    for (let power = 1; power < LARGEST; power *= 10) values.push(power - 1, power, power + 1)
    for (const value of values) expect(digitsOf(value)).toBe(String(value))
    const random = new Random(1)
    for (let i = 0; i < 20_000; i++) {
      const value = Math.floor(random.unit() * 2 ** random.below(54))
      expect(digitsOf(value)).toBe(String(value))
    }
  })
})

describe('isWhole', () => {
  it('says which numbers have digits and nothing else', () => {
    for (const value of [0, 7, 2 ** 31, LARGEST]) expect(isWhole(value)).toBe(true)
    for (const value of [-1, 0.5, LARGEST + 1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(isWhole(value)).toBe(false)
    }
  })
})
