import { expect, test } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { NumberSet } from '../../src/spill/number-set.ts'

test('knows what was added, close together or far apart', () => {
  const random = new Random(7)
  for (const bound of [100, 100_000, 2 ** 31, 2 ** 32]) {
    const [numbers, known] = [new NumberSet(Number.POSITIVE_INFINITY), new Set<number>()]
    for (let round = 0; round < 3000; round++) {
      const n = random.below(bound)
      expect(numbers.has(n)).toBe(known.has(n))
      expect(numbers.add(n)).toBe(!known.has(n))
      known.add(n)
      const other = random.below(bound)
      expect(numbers.has(other)).toBe(known.has(other))
    }
  }
})

test('has room for one number that is far from many others', () => {
  const numbers = new NumberSet(1 << 20)
  let added = 0
  for (let n = 0; n < 1_000_000; n++) if (numbers.add(n)) added++
  expect(added).toBe(1_000_000)
  expect(numbers.add(1_000_000_000)).toBe(true)
  expect(numbers.has(1_000_000_000)).toBe(true)
  expect(numbers.has(999_999_999)).toBe(false)
})

test('says that there is no room, and forgets nothing', () => {
  const numbers = new NumberSet(1 << 16)
  const taken: number[] = []
  let n = 0
  while (numbers.add(n) !== null) {
    taken.push(n)
    n += 100_003
    expect(taken.length).toBeLessThan(1000)
  }
  expect(taken.length).toBeGreaterThan(2)
  expect(numbers.has(n)).toBe(false)
  expect(taken.every((each) => numbers.has(each))).toBe(true)
})
