import { describe, expect, it } from 'vitest'
import { BudgetExceeded } from '../../../src/base/errors.ts'
import { Random } from '../../../src/base/random.ts'
import { minimise } from '../../../src/check/evidence/minimise.ts'

const ITEMS = Array.from({ length: 24 }, (_, i) => i)

/** Enough is whatever has all of one of a few sets. */
function randomSets(seed: number): number[][] {
  const random = new Random(seed)
  return Array.from({ length: 1 + random.below(3) }, () =>
    Array.from({ length: 1 + random.below(5) }, () => random.below(ITEMS.length)),
  )
}

const isEnough = (sets: readonly number[][], kept: readonly number[]) =>
  sets.some((set) => set.every((item) => kept.includes(item)))

describe('minimise', () => {
  it('keeps what is enough, in order, and nothing that can be left out', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const sets = randomSets(seed)
      const left = minimise(ITEMS, (kept) => (isEnough(sets, kept) ? kept : null))
      expect(isEnough(sets, left), `seed ${seed}`).toBe(true)
      expect([...left].sort((a, b) => a - b)).toEqual(left)
      for (const item of left) {
        const without = left.filter((other) => other !== item)
        expect(isEnough(sets, without), `seed ${seed} without ${item}`).toBe(false)
      }
    }
  })

  it('leaves nothing out of what is needed as a whole', () => {
    const all = (kept: readonly number[]) => (kept.length === ITEMS.length ? kept : null)
    expect(minimise(ITEMS, all)).toEqual(ITEMS)
  })

  it('goes on with the fewer that the caller finds to be enough', () => {
    const tried: number[] = []
    const left = minimise(ITEMS, (kept) => {
      tried.push(kept.length)
      return kept.includes(7) ? [7] : null
    })
    expect(left).toEqual([7])
    expect(tried.length).toBeLessThan(6)
  })

  it('leaves it at what is enough when the budget runs out, and passes on other failures', () => {
    for (const most of [0, 1, 5, 12]) {
      let tries = 0
      const left = minimise(ITEMS, (kept) => {
        if (++tries > most) throw new BudgetExceeded('time', [])
        return isEnough([[3, 20]], kept) ? kept : null
      })
      expect(isEnough([[3, 20]], left), `${most} tries`).toBe(true)
    }
    const fail = () => {
      throw new TypeError('a bug')
    }
    expect(() => minimise(ITEMS, fail)).toThrow('a bug')
  })
})
