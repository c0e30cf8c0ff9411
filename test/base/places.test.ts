import { describe, expect, it } from 'vitest'
import { placesByValue } from '../../src/base/places.ts'
import { Random } from '../../src/base/random.ts'

const byComparing = (values: Float64Array) =>
  Array.from(values, (_, i) => i).sort((a, b) => Math.sign(values[a]! - values[b]!) || a - b)

describe('placesByValue', () => {
  it('keeps what is in order already', () => {
    expect([...placesByValue(Float64Array.of(-1, 0, 0, 2))]).toEqual([0, 1, 2, 3])
  })

  it('lets equal numbers stand as they are, 0 and -0 among them', () => {
    expect([...placesByValue(Float64Array.of(1, 0, -0, 1, -1))]).toEqual([4, 1, 2, 0, 3])
    const many = Float64Array.from({ length: 9_000 }, (_, i) => [1, 0, -0, -1][i % 4]!)
    expect([...placesByValue(many)]).toEqual(byComparing(many))
  })

  it.each([10, 2_047, 2_048, 20_000])('sorts %i numbers as comparing does', (count) => {
    const random = new Random(count)
    const kinds = [
      () => random.below(50) - 25,
      () => (random.unit() - 0.5) * 10 ** random.below(300),
      () => 1_700_000_000_000 + random.below(1_000_000) / 1_000,
      () => random.unit() * 5e-324 * random.below(9),
    ]
    for (const kind of kinds) {
      const values = Float64Array.from({ length: count }, kind)
      expect([...placesByValue(values)]).toEqual(byComparing(values))
    }
  })

  it('knows numbers without end', () => {
    const values = Float64Array.from({ length: 3_000 }, (_, i) => (i % 3 === 0 ? Infinity : -i))
    values[7] = -Infinity
    const sorted = Array.from(placesByValue(values), (place) => values[place]!)
    expect(sorted[0]).toBe(-Infinity)
    expect(sorted.slice(2_000).every((value) => value === Infinity)).toBe(true)
    expect(sorted.every((value, i) => i === 0 || sorted[i - 1]! <= value)).toBe(true)
  })

  it('puts what is no number at the end', () => {
    expect([...placesByValue(Float64Array.of(5, NaN, 3))]).toEqual([2, 0, 1])
    const many = Float64Array.from({ length: 5_000 }, (_, i) => (i % 7 === 0 ? NaN : -i))
    const sorted = Array.from(placesByValue(many), (place) => many[place]!)
    const numbers = sorted.filter((value) => !Number.isNaN(value))
    expect(sorted.slice(0, numbers.length)).toEqual(numbers)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  })
})
