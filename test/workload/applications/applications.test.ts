// The applications as key-value transactions: sizes, shares of their transactions, and what a store
// that keeps its word makes of them.

import { describe, expect, test } from 'vitest'
import { READ, WRITE } from '../../../src/history/history.ts'
import { checkSync } from '../../../src/library/check-sync.ts'
import { generate } from '../../../src/library/generate.ts'
import { APPLICATION_SHAPES } from '../../../src/workload/parameters.ts'
import { type Plan, PUT, UPDATE } from '../../../src/workload/plan.ts'
import { planWorkload } from '../../../src/workload/workload.ts'

const SIZES = {
  // A warehouse, 10 districts, 30,000 customers, 100,000 items and their stock.
  'tpcc-kv': 1 + 10 + 30_000 + 200_000,
  // 1,000 users of four rows each, and how many there are.
  'twitter-kv': 1 + 4 * 1000,
  // 20 categories, 62 regions, 20,000 users, 200,000 items.
  rubis: 20 + 62 + 20_000 + 200_000,
} as const

function readOnlyShare(plan: Plan): number {
  let count = 0
  for (let txn = 0; txn < plan.txnCount; txn++) {
    const kinds = plan.opKind.subarray(plan.txnOpStart[txn], plan.txnOpStart[txn + 1])
    if (!kinds.includes(WRITE)) count++
  }
  return count / plan.txnCount
}

describe.each(APPLICATION_SHAPES)('%s', (shape) => {
  test('has the rows of its tables at first, and makes others', () => {
    const plan = planWorkload({ shape, transactions: 4000, sessions: 8 })
    expect(plan.rowCount).toBe(SIZES[shape])
    expect(plan.keyCount).toBeGreaterThan(plan.rowCount)
    const made = new Set<number>()
    const wrong: number[] = []
    for (let op = 0; op < plan.opCount; op++) {
      const key = plan.opKey[op]!
      const isRow = key < plan.rowCount
      if (plan.opKind[op] === WRITE) {
        if (plan.opWay[op] !== (isRow ? UPDATE : PUT)) wrong.push(op)
        made.add(key)
      } else {
        // Nobody looks for a row before it was planned to be made.
        if (plan.opKind[op] !== READ || !(isRow || made.has(key))) wrong.push(op)
      }
      if (key >= plan.keyCount) wrong.push(op)
    }
    expect(wrong).toEqual([])
    expect(planWorkload({ shape, transactions: 4000, sessions: 8 })).toEqual(plan)
  })

  test('only reads in the share of its mix', () => {
    const plan = planWorkload({ shape, transactions: 20_000 })
    const expected = { 'tpcc-kv': 0.08, 'twitter-kv': 0.5, rubis: 0.85 }[shape]
    expect(Math.abs(readOnlyShare(plan) - expected)).toBeLessThan(0.02)
  })

  test('takes no settings that its transactions have themselves', () => {
    for (const given of [{ ops: 3 }, { reads: 0.9 }, { distribution: 'hotspot' } as const]) {
      expect(() => planWorkload({ shape, ...given })).toThrow(/transactions are given/)
    }
    expect(() => planWorkload({ shape, disjointWrites: true })).toThrow(/write what others write/)
    expect(() => planWorkload({ shape, mix: [1, 1, 1] })).toThrow(/general shape/)
  })

  test('is serializable on a store that is, and not where an update is lost', async () => {
    const sound = await generate({ shape, transactions: 1000, store: 'ser' })
    expect(checkSync(sound, 'ser').verdict).toBe('satisfied')
    const broken = await generate({
      shape,
      transactions: 1000,
      store: 'ser',
      inject: { 'lost-update': 1 },
    })
    expect(checkSync(broken, 'si').verdict).toBe('violated')
  })
})
