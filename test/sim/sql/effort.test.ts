// How many rows a simulated store looks at: as many for each transaction, however many there are.

import { afterEach, describe, expect, it, vi } from 'vitest'
import { StoredTable } from '../../../src/sim/sql/rows.ts'
import { simulateSql } from '../../../src/sim/sql/simulate.ts'
import type { SqlShape } from '../../../src/workload/sql/parameters.ts'
import { planSql } from '../../../src/workload/sql/workload.ts'

/** Rows looked at for each transaction. */
function effortOf(shape: SqlShape, transactions: number, keys: number): number {
  const plan = planSql({ shape, transactions, warehouses: transactions / 250, keys, levels: 'si' })
  let rows = 0
  const candidates = StoredTable.prototype.candidates
  vi.spyOn(StoredTable.prototype, 'candidates').mockImplementation(function (
    this: StoredTable,
    at,
  ) {
    const found = candidates.call(this, at)
    rows += found.length
    return found
  })
  simulateSql(plan, { seed: 1 })
  vi.restoreAllMocks()
  return rows / transactions
}

describe('a simulated store', () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it.each([
    ['tpcc', 10, 10],
    ['tpcc-pc', 10, 10],
    ['twitter', 20, 80],
  ] as const)('looks at no more rows for each of many transactions: %s', (shape, few, many) => {
    const effort = effortOf(shape, 500, few)
    expect(effortOf(shape, 2000, many) / effort).toBeLessThan(1.5)
  })
})
