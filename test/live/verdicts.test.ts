// What PostgreSQL really gives at each level, found by running it.

import { describe, expect, it } from 'vitest'
import { stage, verdictsOf } from '../record/stage.ts'
import { liveServers } from './postgres.ts'

const workload = { transactions: 5000, seed: 1 }

describe.each(liveServers())('%s', (_, target) => {
  it('loses updates at READ COMMITTED', async () => {
    const levels = ['rc', 'si'] as const
    const options = { target: target(), dbLevel: 'rc' as const, levels, workload }
    await stage(options, (outcome) => {
      expect(outcome.summary.level.granted).toBe('READ COMMITTED')
      expect(verdictsOf(outcome)).toEqual({ rc: 'satisfied', si: 'violated' })
      const si = outcome.judged!.results.find(({ level }) => level === 'si')!
      expect(si.anomalies.map(({ name }) => name)).toContain('LostUpdate')
    })
  })

  it('keeps to snapshots at REPEATABLE READ, and skews writes', async () => {
    const options = { target: target(), dbLevel: 'si' as const, workload }
    await stage(options, (outcome) => {
      expect(outcome.summary.level.granted).toBe('REPEATABLE READ')
      expect(verdictsOf(outcome)).toMatchObject({
        pc: 'satisfied',
        si: 'satisfied',
        ser: 'violated',
      })
    })
  })

  it.each(['churn', 'mini', 'general', 'append', 'lwt'] as const)(
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
