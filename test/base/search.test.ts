import { describe, expect, it } from 'vitest'
import { firstWhere, lowerBound } from '../../src/base/search.ts'

describe('searching what is in order', () => {
  const numbers = [1, 3, 3, 3, 7, 9]

  it('finds what a look at each would find, in any part', () => {
    for (const column of [Int32Array.from(numbers), Float64Array.from(numbers)]) {
      for (let from = 0; from <= numbers.length; from++) {
        for (let to = from; to <= numbers.length; to++) {
          for (let number = 0; number <= 10; number++) {
            const seen = numbers.findIndex((each, at) => at >= from && at < to && each >= number)
            const expected = seen < 0 ? to : seen
            expect(lowerBound(column, number, from, to)).toBe(expected)
            expect(firstWhere(from, to, (at) => numbers[at]! >= number)).toBe(expected)
          }
        }
      }
    }
  })

  it('takes the whole column unless told otherwise', () => {
    expect(lowerBound(Int32Array.from(numbers), 8)).toBe(5)
    expect(lowerBound(Int32Array.from(numbers), 10)).toBe(numbers.length)
  })
})
