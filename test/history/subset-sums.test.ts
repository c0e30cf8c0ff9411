// What is known of the parts of a sum, beside all subsets, or all sums where there are too many.

import { describe, expect, it } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { findParts, IN, OPEN } from '../../src/history/subset-sums.ts'

const OUT = 0
const PLENTY = 1e9

/** Every subset that adds up to the total, laid over each other. */
function bySubsets(numbers: readonly number[], total: number): number[] | null {
  let [inAll, inSome, isFound] = [-1, 0, false]
  for (let subset = 0; subset < 1 << numbers.length; subset++) {
    let sum = 0
    for (let i = 0; i < numbers.length; i++) if (subset & (1 << i)) sum += numbers[i]!
    if (sum !== total) continue
    isFound = true
    inAll &= subset
    inSome |= subset
  }
  if (!isFound) return null
  return numbers.map((_, i) => (inAll & (1 << i) ? IN : inSome & (1 << i) ? OPEN : OUT))
}

/** Sums of the numbers but for one, by a set: whether the total is among them with it or without. */
function bySums(numbers: readonly number[], total: number): number[] | null {
  const parts = numbers.map((number, left) => {
    let sums = new Set([0])
    numbers.forEach((each, i) => {
      if (i !== left) sums = new Set([...sums, ...[...sums].map((sum) => sum + each)])
    })
    const [within, without] = [sums.has(total - number), sums.has(total)]
    return within && without ? OPEN : within ? IN : without ? OUT : null
  })
  return parts.includes(null) ? null : (parts as number[])
}

function found(numbers: readonly number[], total: number, left = PLENTY): number[] | null {
  const parts = findParts(numbers, total, { left })
  return parts && [...parts]
}

describe('findParts', () => {
  it('agrees with all subsets of up to 14 numbers', () => {
    const random = new Random(1)
    const seen = [0, 0, 0, 0]
    for (let round = 0; round < 1500; round++) {
      const count = random.below(random.chance(0.1) ? 15 : 10)
      const most = [3, 10, 40, 1000, 1e6, 1e12][random.below(6)]!
      const numbers = Array.from({ length: count }, () => 1 + random.below(most))
      const all = numbers.reduce((sum, each) => sum + each, 0)
      const some = numbers.reduce((sum, each) => sum + (random.chance(0.5) ? each : 0), 0)
      for (const total of [0, 1, some, some + 1, all - some, all - 1, all, all + 1]) {
        const expected = bySubsets(numbers, total)
        for (const part of expected ?? [3]) seen[part]!++
        expect(found(numbers, total), `${numbers} to ${total}`).toEqual(expected)
      }
    }
    expect(Math.min(...seen)).toBeGreaterThan(1000)
  })

  it('agrees with sets of sums of many numbers', () => {
    const random = new Random(2)
    const seen = [0, 0, 0, 0]
    for (let round = 0; round < 60; round++) {
      const count = 10 + random.below(20)
      const step = 1 + random.below(4) * random.below(30)
      const large = round % 2 === 0 ? [] : [997, 1009 + random.below(9)]
      const few = () => step * (1 + random.below(random.chance(0.5) ? 4 : 12))
      const numbers = [...Array.from({ length: count }, few), ...large]
      const all = numbers.reduce((sum, each) => sum + each, 0)
      const some = numbers.reduce((sum, each) => sum + (random.chance(0.7) ? each : 0), 0)
      for (const total of [some, some - 1, numbers[0]! + numbers[1]!, all - numbers[2]!]) {
        const expected = bySums(numbers, total)
        for (const part of expected ?? [3]) seen[part]!++
        expect(found(numbers, total), `${numbers} to ${total}`).toEqual(expected)
      }
    }
    expect(Math.min(...seen)).toBeGreaterThan(30)
  })

  it('follows thousands of numbers', () => {
    const even = Array.from({ length: 800 }, (_, i) => 2 * (i + 1))
    expect(found(even, 100_001)).toBeNull()
    expect(found([...even, 1], 100_001)).toEqual([...even.map(() => OPEN), IN])
    expect(found([...even, 1], 100_000)).toEqual([...even.map(() => OPEN), OUT])
  })

  it('tells numbers near 2^53 apart', () => {
    const most = Number.MAX_SAFE_INTEGER
    expect(found([most, most - 1, 1], most)).toEqual([OPEN, OPEN, OPEN])
    expect(found([most, most - 1, 2], most)).toEqual([IN, OUT, OUT])
    expect(found([most, most - 2, 1], most - 1)).toEqual([OUT, IN, IN])
    expect(found([most - 1, most - 2], most)).toBeNull()
  })

  it('leaves open what takes more than may be spent, and spends no more', () => {
    const numbers = Array.from({ length: 40 }, (_, i) => 1000 + i * i)
    const effort = { left: 1000 }
    expect([...findParts(numbers, 7014, effort)!]).toEqual(numbers.map(() => OPEN))
    expect(found(numbers, 1001)).toEqual(numbers.map((each) => (each === 1001 ? IN : OUT)))
    const spent = { left: PLENTY }
    findParts(numbers, 20_000, spent)
    expect(PLENTY - spent.left).toBeLessThan((3 * 40 * 20_000) / 32 + 10_000)
    expect([...findParts([1, 2, 4], 5, { left: 0 })!]).toEqual([OPEN, OPEN, OPEN])
  })
})
