// A fleet that another isobar made: its tables, or what is in its queue.

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { awaitEnd, submit } from '../../src/fleet/coordinate.ts'
import type { Fleet } from '../../src/fleet/fleet.ts'
import { readPlan } from '../../src/fleet/read-plan.ts'
import { isobar, startIsobar } from '../cli/command.ts'
import { makeHome, openIn } from './stage.ts'

const home = makeHome()
const data = join(home, 'data')
let fleet: Fleet

beforeAll(async () => {
  fleet = await openIn(data)
}, 120_000)
afterAll(() => fleet?.close())

const work = ['fleet', 'work', '--until-done', '--data', data, '--jobs', '1', '--lease', '1s']

/** Queues a night as an isobar would that has another version of the queue. */
async function submitAs(version: number) {
  const { store, queue } = fleet
  const text = 'targets: [sim:ser]\nparameters: {transactions: 5}\nseeds: 1..3\n'
  const plan = readPlan(text, `version ${version}`)
  const inner = queue as unknown as { queue: { addBulk(jobs: { data: object }[]): unknown } }
  const addBulk = inner.queue.addBulk.bind(inner.queue)
  inner.queue.addBulk = (jobs) =>
    addBulk(jobs.map((job) => ({ ...job, data: { ...job.data, version } })))
  const { night } = await submit(store, queue, { plan, files: [], version: 'test' })
  inner.queue.addBulk = addBulk
  return night
}

describe('isobar fleet', () => {
  it('drops bundles of an older isobar, and queues their jobs again', async () => {
    const { store, queue } = fleet
    const night = await submitAs(0)
    const worker = startIsobar(work, home)
    await awaitEnd(store, queue, night.id, new AbortController().signal, () => {})
    expect(await worker).toBe(0)
    expect(await store.count(night.id)).toMatchObject({ done: 3, satisfied: 3 })
  }, 180_000)

  it('leaves bundles of a newer isobar in the queue, and says so', async () => {
    const { store, queue } = fleet
    const night = await submitAs(7)
    const before = await queue.countOpen()
    const refused = isobar(work)
    expect([refused.code, refused.err]).toEqual([
      4,
      expect.stringMatching(/the queue is of version 7, and this is 1\nhint: .*newer isobar/),
    ])
    const after = await queue.countOpen()
    expect(after.waiting + after.active).toBe(before.waiting + before.active)
    expect(await store.count(night.id)).toMatchObject({ done: 0, failed: 0 })
    await store.setNight(night.id, 'cancelled')
  }, 180_000)

  it('refuses tables of another version, and changes nothing in them', async () => {
    const { connection } = fleet.store
    await connection.ask('update isobar_fleet.about set version = 99')
    const { code, err } = isobar(['fleet', 'status', '--data', data])
    expect([code, err]).toEqual([
      4,
      expect.stringMatching(/is of version 99, and this is 1\nhint: use the isobar that made it/),
    ])
    expect(await connection.ask('select version from isobar_fleet.about')).toEqual([
      { version: 99 },
    ])
  }, 180_000)
})
