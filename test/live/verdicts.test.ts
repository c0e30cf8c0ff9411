// What PostgreSQL really gives at each level, found by running it.

import { describe, expect, it } from 'vitest'
import type { RunOutcome } from '../../src/pipeline/run.ts'
import { sample, some } from '../long.ts'
import { type StageOptions, stage, verdictsOf } from '../record/stage.ts'
import { liveServers } from './postgres.ts'

/** Runs until what a level allows has happened: it need not in every run. */
async function untilShown(
  options: StageOptions,
  look: (outcome: RunOutcome) => boolean,
): Promise<void> {
  let isShown = false
  for (let seed = 1; seed <= 6 && !isShown; seed++) {
    isShown = await stage({ ...options, workload: { transactions: some(5000), seed } }, look)
  }
  expect(isShown).toBe(true)
}

describe.each(liveServers())('%s', (_, target) => {
  it('loses updates at READ COMMITTED', async () => {
    const levels = ['rc', 'si'] as const
    const options = { target: target(), dbLevel: 'rc' as const, levels }
    await untilShown(options, (outcome) => {
      expect(outcome.summary.level.granted).toBe('READ COMMITTED')
      expect(verdictsOf(outcome)['rc']).toBe('satisfied')
      const si = outcome.judged!.results.find(({ level }) => level === 'si')!
      return si.anomalies.some(({ name }) => name === 'LostUpdate')
    })
  })

  it('keeps to snapshots at REPEATABLE READ, and skews writes', async () => {
    const options = { target: target(), dbLevel: 'si' as const }
    await untilShown(options, (outcome) => {
      expect(outcome.summary.level.granted).toBe('REPEATABLE READ')
      expect(verdictsOf(outcome)).toMatchObject({ pc: 'satisfied', si: 'satisfied' })
      return verdictsOf(outcome)['ser'] === 'violated'
    })
  })

  it.each(sample(['churn', 'mini', 'general', 'append', 'lwt'] as const, 2))(
    'is serializable at SERIALIZABLE, workload %s',
    async (shape) => {
      const own = {
        shape,
        transactions: 1000,
        ...(shape === 'general' ? { keys: 500, ops: 6 } : {}),
      }
      await stage({ target: target(), workload: own }, (outcome) => {
        expect(outcome.summary.level.granted).toBe('SERIALIZABLE')
        const { ser, si, cc } = verdictsOf(outcome)
        expect({ ser, si, cc }).toEqual({ ser: 'satisfied', si: 'satisfied', cc: 'satisfied' })
        expect(outcome.summary.transactions.committed).toBeGreaterThan(100)
        expect(outcome.summary.time.generationShare).toBeGreaterThan(0)
      })
    },
  )
})
