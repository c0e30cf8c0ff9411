// A broken database is a finding, never a crash of ours: rows that come twice or not at all, behind
// the recorder's back, and commits that a server acknowledges before they are safe.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMITTED } from '../../src/history/history.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import type { RunOutcome } from '../../src/pipeline/run.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import type { PostgresTarget } from '../../src/record/postgres/target.ts'
import { sample } from '../long.ts'
import { midway, stage } from '../record/stage.ts'
import { targetOf, withClient } from './postgres.ts'

let server: EmbeddedServer
let target: PostgresTarget
beforeAll(async () => {
  // Commits wait in memory for as long as they may.
  const settings = { wal_writer_delay: '10s', wal_writer_flush_after: '1GB', wal_buffers: '64MB' }
  server = await EmbeddedServer.start({ settings })
  target = targetOf(server)
})
afterAll(() => server.stop())

const names = ({ judged }: RunOutcome, level: LevelId) =>
  judged!.results.find((result) => result.level === level)!.anomalies.map(({ name }) => name)

describe('a server that loses commits', () => {
  const runs = [
    ['churn', 'rc'],
    ['append', 'rc'],
    ['tpcc', 'mixed'],
  ] as const
  it.each(sample(runs, 2))(
    'is found out by %s, at every level, and whose commit it was',
    async (shape, level) => {
      const role = (setting: string) =>
        withClient(target, (client) => client.query(`ALTER ROLE ${server.user} ${setting}`))
      await role('SET synchronous_commit = off')
      // More than once: what the server had written just before a crash is not lost.
      const crashes = midway(shape === 'tpcc' ? 30 : 200, () => server.restart(), 3)
      const options = {
        target,
        dbLevel: 'rc',
        workload: { shape, sessions: 5 },
        levels: [level],
        durationMs: 60_000,
        ...crashes.options,
      }
      try {
        await stage(options, async (outcome) => {
          expect(await crashes.done()).toBe(3)
          expect(names(outcome, level)[0]).toBe('LostCommit')
          const { history, results, verdict } = outcome.judged!
          const [lost, audit] = results[0]!.anomalies[0]!.txns
          expect(history.txnStatus[lost!]).toBe(COMMITTED)
          expect([history.txnAudit![lost!], history.txnAudit![audit!]]).toEqual([0, 1])
          const { story } = verdict.results[0]!.anomalies[0]!
          expect(story).toContain(`the commit of ${history.txnName(lost!)} is gone`)
          expect(outcome.summary.audits).toBeGreaterThanOrEqual(2)
        })
      } finally {
        await role('RESET synchronous_commit')
      }
    },
  )

  it('is not what a server is that keeps them', async () => {
    const crash = midway(100, () => server.restart())
    const workload = { sessions: 5 }
    const options = { target, workload, durationMs: 60_000, ...crash.options }
    await stage(options, async (outcome) => {
      expect(await crash.done()).toBe(1)
      expect(outcome.summary.verdicts).toMatchObject({ rc: 'satisfied', ser: 'satisfied' })
      expect(outcome.summary.audits).toBeGreaterThanOrEqual(2)
    })
  })
})

describe('a table that changes behind our back', () => {
  const second = 'INSERT INTO isobar_registers SELECT * FROM isobar_registers'
  const changes = [
    ['two rows', 'mini', 'DuplicateRow', second],
    ['two rows', 'append', 'DuplicateRow', second],
    ['two rows', 'lwt', 'DuplicateRow', second],
    ['no row', 'mini', 'VanishedRow', 'DELETE FROM isobar_registers WHERE k < 5'],
    ['no row', 'append', 'VanishedRow', 'DELETE FROM isobar_registers WHERE k < 1000'],
  ] as const
  it.each(sample(changes, 2))(
    'shows %s under one key of %s: %s',
    async (_, shape, name, statement) => {
      const change = midway(100, () =>
        withClient(target, (client) =>
          client.query(`BEGIN; LOCK TABLE isobar_registers;
          ALTER TABLE isobar_registers DROP CONSTRAINT isobar_registers_pkey;
          ${statement}; COMMIT`),
        ),
      )
      const workload = { shape, sessions: 4, keys: 10 }
      const options = {
        target,
        dbLevel: 'rc',
        workload,
        durationMs: 60_000,
        ...change.options,
      }
      await stage(options, async (outcome) => {
        expect(await change.done()).toBe(1)
        expect(outcome.stoppedBy).toBeNull()
        expect(names(outcome, 'rc')).toContain(name)
        expect(names(outcome, 'ser')).toContain(name)
      })
    },
  )
})
