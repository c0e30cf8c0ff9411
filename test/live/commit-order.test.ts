// The order of commits by PostgreSQL's own log: what a run records with it, and where it cannot.

import { describe, expect, it } from 'vitest'
import { DatabaseError, UsageError } from '../../src/base/errors.ts'
import { check } from '../../src/check/check.ts'
import { COMMITTED, WRITE } from '../../src/history/history.ts'
import { stage, verdictsOf } from '../record/stage.ts'

const EMBEDDED = { target: 'embedded', commitOrder: true } as const

describe('a run that tells the order of commits', () => {
  it('has a version for every write that took effect, and is judged with it', async () => {
    const options = { ...EMBEDDED, dbLevel: 'si', workload: { transactions: 3000, seed: 5 } }
    await stage(options, (outcome) => {
      expect(outcome.stoppedBy).toBeNull()
      const { history, results } = outcome.judged!
      let known = 0
      for (let op = 0; op < history.opCount; op++) {
        if (history.opKind[op] !== WRITE || history.txnStatus[history.opTxn[op]!] !== COMMITTED)
          continue
        expect(history.versions!.text(op)).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/)
        known++
      }
      expect(known).toBeGreaterThan(100)
      const { si, pc, rc } = verdictsOf(outcome)
      expect({ si, pc, rc }).toEqual({ si: 'satisfied', pc: 'satisfied', rc: 'satisfied' })
      expect(results.every(({ verdict }) => verdict !== 'unknown')).toBe(true)
      expect(check(history, 'ser').verdict).toBe('violated')
    })
  })

  it('keeps its word at SERIALIZABLE while connections are cut', async () => {
    const options = { ...EMBEDDED, fault: 'kill-connection:5%', workload: { transactions: 2000 } }
    await stage(options, (outcome) => {
      expect(outcome.judged!.history.versions).not.toBeNull()
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
    })
  })

  it('refuses what the log does not tell of, before anything is started', async () => {
    const refused = (given: object) => stage({ ...EMBEDDED, ...given }, () => {})
    await expect(refused({ workload: { shape: 'append' } })).rejects.toThrow(UsageError)
    await expect(refused({ workload: { shape: 'tpcc' } })).rejects.toThrow('shape tpcc')
    await expect(refused({ fault: 'kill-server:1s' })).rejects.toThrow('when the server goes down')
    await expect(refused({ levels: ['mixed'] })).rejects.toThrow('level mixed')
    await expect(refused({ target: 'sim:ser' })).rejects.toThrow('does not tell the order')
  })

  it('says how to have a log that tells it', async () => {
    const settings = { serverSettings: { wal_level: 'replica' } }
    const attempt = stage({ ...EMBEDDED, ...settings }, () => {})
    await expect(attempt).rejects.toThrow(DatabaseError)
    await expect(attempt).rejects.toThrow('wal_level is replica')
  })
})
