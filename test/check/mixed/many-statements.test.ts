// A violation among many SQL transactions is shown by few of them, and is not lost when time runs
// out once it was found.

import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Stage } from '../../../src/base/deadline.ts'
import { judge } from '../../../src/check/judge.ts'
import { generateSql } from '../../../src/pipeline/generate-sql.ts'
import { parseSqlFaults } from '../../../src/sim/sql/faults.ts'
import { certifyMixed } from '../../../src/verdict/certify-mixed.ts'

const TPCC = { shape: 'tpcc', sessions: 10 } as const

afterEach(() => {
  vi.restoreAllMocks()
})

describe('a violation among many statements', () => {
  it('is shown by a few of 2,000 transactions', async () => {
    const workload = { ...TPCC, transactions: 2000, levels: 'si' } as const
    const { history } = generateSql({ workload })
    const [result] = await judge(history, ['ser'])
    expect(result!.verdict).toBe('violated')
    for (const { txns } of result!.anomalies) expect(txns.length).toBeLessThanOrEqual(4)
  })

  const workload = { ...TPCC, transactions: 1600, levels: 'ser' } as const
  const store = { faults: parseSqlFaults('lost-predicate-lock') }
  /** Judges at `mixed` within 1000 ms, so many of which have passed when a violation is found. */
  async function judgeLate(foundAtMs: number) {
    const { history } = generateSql({ workload, store })
    let now = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const onTick = ({ phase }: Stage) => {
      if (phase === 'explaining') now = foundAtMs
    }
    const [result] = await judge(history, ['mixed'], { budgetMs: 1000, onTick })
    return { history, result: result! }
  }

  it('is told of 1,600 transactions that are found to violate mixed at the last moment', async () => {
    const { history, result } = await judgeLate(950)
    expect(result).toMatchObject({ verdict: 'violated', reason: null })
    expect(result.anomalies).not.toEqual([])
    expect(certifyMixed(history, result).problems).toEqual([])
  })

  it('is unknown, but said to be there, where no time is left to show it', async () => {
    const { result } = await judgeLate(1001)
    expect(result.verdict).toBe('unknown')
    expect(result.reason).toContain('no order of 1600 transactions is valid')
  })
})
