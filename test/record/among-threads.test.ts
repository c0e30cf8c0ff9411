import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import {
  type Instant,
  microsecondsBetween,
  Numbers,
  Places,
  RunClock,
} from '../../src/record/among-threads.ts'

const ROUNDS = 2000

/** Tells the time by turns with another thread; what each said, in the order in which it did. */
async function tellByTurns(): Promise<{ shared: number[]; apart: number[] }> {
  const memory = {
    turn: new Int32Array(new SharedArrayBuffer(4)), // even: this thread's
    shared: new Float64Array(new SharedArrayBuffer(ROUNDS * 8)),
    apart: new Float64Array(new SharedArrayBuffer(ROUNDS * 8)),
  }
  const clock = new RunClock()
  const code = `import('tsx/esm/api').then(async ({ register }) => {
    register()
    const { RunClock } = await import(${JSON.stringify(new URL('../../src/record/among-threads.ts', import.meta.url).href)})
    const { workerData } = require('node:worker_threads')
    const { turn, shared, apart } = workerData.memory
    const clock = new RunClock(workerData.origin)
    const own = new RunClock()
    for (let i = 1; i < ${ROUNDS}; i += 2) {
      Atomics.wait(turn, 0, i - 1)
      shared[i] = clock.nowUs()
      apart[i] = own.nowUs()
      Atomics.store(turn, 0, i + 1)
      Atomics.notify(turn, 0)
    }
  })`
  const workerData = { memory, origin: clock.origin }
  const worker = new Worker(code, { eval: true, execArgv: [], workerData })
  const failed = new Promise<never>((_, reject) => worker.once('error', reject))
  await Promise.race([failed, new Promise((resolve) => worker.once('online', resolve))])
  for (let i = 0; i < ROUNDS; i += 2) {
    memory.shared[i] = clock.nowUs()
    memory.apart[i] = memory.shared[i]!
    Atomics.store(memory.turn, 0, i + 1)
    Atomics.notify(memory.turn, 0)
    if (i === 0) {
      // The other thread is not to be kept from starting.
      while (Atomics.load(memory.turn, 0) === 1) {
        await Promise.race([failed, new Promise((resolve) => setTimeout(resolve, 5))])
      }
    } else Atomics.wait(memory.turn, 0, i + 1, 60_000)
  }
  await worker.terminate()
  return { shared: [...memory.shared], apart: [...memory.apart] }
}

const isAscending = (times: readonly number[]) =>
  times.every((t, i) => i === 0 || t >= times[i - 1]!)

describe('RunClock', () => {
  it('tells two threads times that can be compared, where both have one origin', async () => {
    const told = await tellByTurns()
    expect(told.shared.every(Number.isInteger)).toBe(true)
    expect(isAscending(told.shared)).toBe(true)
    expect(isAscending(told.apart)).toBe(false)
  })
})

describe('microsecondsBetween', () => {
  const origin: Instant = [5, 999_999_999]
  it.each([
    [[5, 999_999_999], 0],
    [[6, 0], 0],
    [[6, 998], 0],
    [[6, 999], 1],
    [[6, 1998], 1],
    [[7, 999_999_998], 1_999_999],
    [[7, 999_999_999], 2_000_000],
  ] as const)('of the instant %j is %i', (instant, expected) => {
    expect(microsecondsBetween(origin, instant)).toBe(expected)
  })

  it('never tells a later instant as an earlier one', () => {
    let last = -1
    for (let ns = 0; ns < 30_000; ns += 7) {
      const now = microsecondsBetween(origin, [6 + Math.floor(ns / 10_000), ns % 1000])
      if (ns % 10_000 === 0) last = now
      expect(now).toBeGreaterThanOrEqual(last)
    }
  })
})

describe('Numbers', () => {
  it('are dealt among threads so that none comes twice and none is left out', () => {
    const dealt = [0, 1, 2].map((place) => new Numbers(7 + place, 3))
    const all = dealt.flatMap((own) => Array.from({ length: 100 }, () => own.next()))
    expect(all.sort((a, b) => a - b)).toEqual(Array.from({ length: 300 }, (_, i) => 7 + i))
  })

  it('are all of them, in order, where there is one thread', () => {
    const own = new Numbers(1, 1)
    expect([own.next(), own.next(), own.next()]).toEqual([1, 2, 3])
  })
})

describe('Places', () => {
  it('are taken by so many, whichever thread they are in, and given back', () => {
    const here = new Places()
    const there = new Places(here.shared)
    expect([here.take(2), there.take(2), here.take(2), there.take(2)]).toEqual([
      ...[true, true, false, false],
    ])
    there.leave()
    expect([here.take(2), there.take(2)]).toEqual([true, false])
  })
})
