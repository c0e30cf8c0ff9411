// PostgreSQL knows nothing of a night that is newer than its statistics, and takes it for empty.
// What is asked of such a night must cost the same as of any other.

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findServer } from '../../src/fleet/data-directory.ts'
import type { Fleet } from '../../src/fleet/fleet.ts'
import type { FileJob } from '../../src/fleet/job.ts'
import { readOverview } from '../../src/fleet/overview.ts'
import { readPlan } from '../../src/fleet/read-plan.ts'
import type { JobResult } from '../../src/fleet/result.ts'
import { FleetStore } from '../../src/fleet/store.ts'
import { makeHome, openIn } from './stage.ts'

const JOBS = 600
const DONE = 300
const data = join(makeHome(), 'data')
let fleet: Fleet

beforeAll(async () => {
  fleet = await openIn(data)
}, 120_000)
afterAll(() => fleet?.close())

const occurrence = {
  ...{ level: 'si', fingerprint: 'f', anomalies: 'LostUpdate', transactions: 3, notation: '' },
  verdict: {},
}
const result = {
  ...{ outcome: 'violated', reason: null, blame: null, verdicts: { si: 'violated' } },
  ...{ measures: null, occurrences: [occurrence], elapsedMs: 1, history: null },
} as unknown as JobResult

/** A night half of whose jobs have a result. */
async function fill(store: FleetStore): Promise<number> {
  const plan = readPlan('histories: .\nlevels: [si]\n', 'half')
  const { id } = await store.makeNight(plan, 'hash', 'test')
  const numbers = Array.from({ length: JOBS }, (_, number) => number)
  const file = { kind: 'file', path: 'x', levels: ['si'], part: null, input: null }
  const job = file as FileJob
  await store.addInputs(id, new Map(numbers.map((number) => [number, Buffer.from('s: w(x,1)')])))
  await store.addJobs(
    ...[id, 0],
    numbers.map(() => job),
  )
  await store.endFilling(id, JOBS)
  await store.addResults(
    ...[id, 'test'],
    numbers.slice(0, DONE).map((number) => [number, result] as const),
  )
  return id
}

const openStore = () => FleetStore.open(findServer(data), {}, 60_000)

/** Rows of the fleet's tables that indexes and scans have led to so far. */
async function rowsRead(): Promise<number> {
  const store = await openStore()
  const [{ count }] = (await store.connection.ask<{ count: number }>(
    `select sum(coalesce(idx_tup_fetch, 0) + seq_tup_read)::int as count
     from pg_stat_user_tables where schemaname = 'isobar_fleet'`,
  )) as [{ count: number }]
  await store.close()
  return count
}

/** What was read in between; connections say so when they end. */
async function costOf(work: (store: FleetStore) => Promise<unknown>): Promise<number> {
  await pause(500)
  const before = await rowsRead()
  const store = await openStore()
  await work(store)
  await store.close()
  await pause(500)
  return (await rowsRead()) - before
}

describe('FleetStore', () => {
  it('reads little of a night of which the server has no statistics', async () => {
    await fill(fleet.store)
    await fleet.store.connection.ask('analyze')
    const night = await fill(fleet.store)
    const numbers = Array.from({ length: 20 }, (_, i) => DONE + i)
    const taking = await costOf(async (store) => {
      expect((await store.takeOpen(night, numbers)).map(({ number }) => number)).toEqual(numbers)
    })
    const queueing = await costOf(async (store) => {
      for await (const page of store.openJobs(night)) expect(page.length).toBe(JOBS - DONE)
    })
    const reporting = await costOf(async (store) => {
      await readOverview(store, (await store.findNight(night))!)
    })
    expect(taking).toBeLessThan(5 * numbers.length)
    expect(queueing).toBeLessThan(5 * JOBS)
    expect(reporting).toBeLessThan(30 * JOBS)
  }, 120_000)
})
