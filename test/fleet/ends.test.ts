// How nights and workers end: whoever writes the last result ends the night, what is being filled
// is not over, and a worker that is told to end takes nothing with it.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { awaitEnd, submit } from '../../src/fleet/coordinate.ts'
import { findServer } from '../../src/fleet/data-directory.ts'
import type { Fleet } from '../../src/fleet/fleet.ts'
import {
  type Bundle,
  type DoBundle,
  type FleetQueue,
  Refused,
  type WorkOptions,
} from '../../src/fleet/queue.ts'
import { readPlan } from '../../src/fleet/read-plan.ts'
import { FleetWorker } from '../../src/fleet/worker.ts'
import { isobar, startIsobar } from '../cli/command.ts'
import { freePort } from './redis-server.ts'
import { jobProgram, makeHome, openIn } from './stage.ts'

const BIN = resolve(import.meta.dirname, '../../bin/isobar.js')
const home = makeHome()
const data = join(home, 'data')
const command = (...args: string[]) => isobar(['fleet', ...args, '--data', data])
let fleet: Fleet

beforeAll(async () => {
  fleet = await openIn(data)
}, 120_000)
afterAll(() => fleet?.close())

function put(name: string, text: string): string {
  const path = join(home, name)
  writeFileSync(path, text)
  return path
}

const planOf = (name: string, more = '') =>
  readPlan(`histories: .\nlevels: [si]\nname: ${name}\n${more}`, name)

/** Queues files in the queue of nobody: bundles are handed out by the test. */
async function submitFiles(name: string, files: readonly string[]) {
  const none = { add: async () => {} } as unknown as FleetQueue
  const { night } = await submit(fleet.store, none, { plan: planOf(name), files, version: 'test' })
  return night
}

/** A worker that does the bundles that it is given here. */
function workerOf(allowed: readonly string[] | null): { worker: FleetWorker; give: DoBundle } {
  let give: DoBundle | null = null
  const queue = {
    work: (doBundle: DoBundle) => {
      give = doBundle
      return { close: async () => {} }
    },
  }
  const worker = new FleetWorker(fleet.store, queue as unknown as FleetQueue, optionsOf(allowed))
  return { worker, give: give! }
}

const optionsOf = (allowed: readonly string[] | null, leaseMs = 5000) => {
  return { atOnce: 1, leaseMs, allowed, leavesRefused: true, command: jobProgram() }
}

function bundleOf(night: number, ...numbers: number[]): Bundle {
  return { version: 1, night, numbers, refusals: 0 }
}
const stateOf = async (id: number) => (await fleet.store.findNight(id))!.state

describe('a night', () => {
  it('ends with its last result, whoever looks on', async () => {
    const night = await submitFiles('last', [put('a', 's: w(x,1)'), put('b', 's: w(x,2)')])
    const { worker, give } = workerOf(null)
    await give(bundleOf(night.id, 1), false)
    expect(await stateOf(night.id)).toBe('queued')
    await give(bundleOf(night.id, 0), false)
    expect(await stateOf(night.id)).toBe('done')
    await worker.close()
  }, 180_000)

  it('is not over while it is being filled', async () => {
    const { store, queue } = fleet
    const night = await store.makeNight(planOf('filling'), 'hash', 'test')
    expect(command('status', '--fail')).toMatchObject({ code: 3 })
    expect(command('retry')).toMatchObject({
      code: 2,
      err: expect.stringContaining(`night ${night.id} is being filled`),
    })
    const looks = new AbortController()
    const seen = await awaitEnd(store, queue, night.id, looks.signal, () => looks.abort())
    expect(seen.state).toBe('filling')
    // Cancelled by somebody else before all of it is queued.
    await store.setNight(night.id, 'cancelled')
    await store.endFilling(night.id, 5)
    expect(await store.findNight(night.id)).toMatchObject({ state: 'cancelled', jobs: 5 })
  }, 180_000)
})

describe('a worker', () => {
  it('leaves what it may not run to others, and gives up in the end', async () => {
    const { store, queue } = fleet
    const text = 'targets: [sim:ser]\nparameters: {transactions: 5, sessions: 2}\nseeds: 1..2\n'
    const plan = readPlan(`${text}attempts: 1\n`, 'refused')
    const { night } = await submit(store, queue, { plan, files: [], version: 'test' })
    const narrow = workerOf(['embedded'])
    const last = { ...bundleOf(night.id, 1), refusals: 40 }
    await expect(narrow.give({ ...last, refusals: 39 }, true)).rejects.toThrow(Refused)
    await narrow.give(last, true)
    expect(await store.count(night.id)).toMatchObject({ done: 1, failed: 1 })

    // The queue hands it out again, and no try was used up.
    const seen: number[] = []
    const watched = {
      work: (give: DoBundle, working: WorkOptions) =>
        queue.work((bundle, isLastTry) => {
          seen.push(bundle.refusals)
          return give(bundle, isLastTry)
        }, working),
    }
    const options = optionsOf(['embedded'], 1000)
    const refusing = new FleetWorker(store, watched as unknown as FleetQueue, options)
    while (!seen.includes(1)) await pause(50)
    await refusing.close()
    const wide = new FleetWorker(store, queue, optionsOf(['sim:*'], 1000))
    await awaitEnd(store, queue, night.id, new AbortController().signal, () => {})
    for (const worker of [narrow.worker, wide]) await worker.close()
    expect(await store.count(night.id)).toMatchObject({ done: 2, satisfied: 1 })
  }, 180_000)

  it('says nothing of what its own end cuts off, so that no try is used up', async () => {
    const files = ['1-endless', '2-endless'].map((name) => put(name, 's: w(x,1)'))
    const night = await submitFiles('cut', files)
    const { worker, give } = workerOf(null)
    let said = 0
    for (const number of [0, 1]) {
      const note = () => said++
      give(bundleOf(night.id, number), true).then(note, note)
    }
    await worker.close()
    // What it had begun to ask for is answered by now.
    for (let i = 0; i < 10; i++) await fleet.store.count(night.id)
    expect([said, (await fleet.store.count(night.id)).done]).toEqual([0, 0])
    await fleet.store.setNight(night.id, 'cancelled')
  }, 180_000)

  it('ends at once when it is told to, with bundles at hand, and another does them', async () => {
    const { store, queue } = fleet
    const text = 'targets: [sim:ser]\nseeds: 1..3\nattempts: 1\nname: told\nduration: 1s\n'
    const plan = readPlan(text, 'told')
    const { night } = await submit(store, queue, { plan, files: [], version: 'test' })
    const place = ['--data', data, '--jobs', '1', '--lease', '2s']
    const child = spawn(process.execPath, [BIN, 'fleet', 'work', ...place], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    while ((await queue.countOpen()).active < 2) await pause(20)
    child.kill('SIGTERM')
    expect(await ended).toEqual([143, null])
    expect(await startIsobar(['fleet', 'work', '--until-done', ...place], home)).toBe(0)
    expect(await store.count(night.id)).toMatchObject({ done: 3, failed: 0 })
  }, 120_000)
})

describe('isobar fleet', () => {
  it('makes no fleet where it is only asked about one', () => {
    const nowhere = join(home, 'nowhere')
    for (const action of [['status'], ['report', join(home, 'site')], ['cancel'], ['retry']]) {
      const { code, err } = isobar(['fleet', ...action, '--data', nowhere])
      expect([code, err]).toEqual([4, expect.stringContaining(`there is no fleet in ${nowhere}`)])
    }
    expect(existsSync(nowhere)).toBe(false)
  }, 180_000)

  it('ends when there is no Redis where the queue should be', async () => {
    const queue = `redis://127.0.0.1:${await freePort()}`
    const places = ['--queue', queue, '--results', findServer(data), '--patience', '1s']
    const { code, err } = isobar(['fleet', 'status', ...places])
    expect([code, err]).toEqual([4, expect.stringMatching(/the queue cannot be used: .*REFUSED/)])
  }, 180_000)

  it('says that it waits for a server that is not there', async () => {
    const queue = `postgres://127.0.0.1:${await freePort()}/fleet`
    const { code, err } = isobar(['fleet', 'status', '--queue', queue, '--patience', '3s'])
    expect([code, err]).toEqual([
      4,
      expect.stringContaining("waiting for the fleet's server, at most 3s"),
    ])
  }, 180_000)
})
