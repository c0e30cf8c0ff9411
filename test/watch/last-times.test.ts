// How far the clocks of sessions had come, where there are more sessions than are remembered.

import { describe, expect, test } from 'vitest'
import { parseHistory } from '../../src/formats/parse.ts'
import { LastTimes } from '../../src/watch/last-times.ts'

/** A transaction of each session, from its first time to its last. */
const timed = (...times: [session: number, start: number, finish: number][]) =>
  parseHistory(
    times
      .map(([session, start, finish]) => {
        const about = { session, start, finish, ops: [['w', 'x', session]] }
        return `${JSON.stringify(about)}\n`
      })
      .join(''),
  )

describe('LastTimes', () => {
  test('knows the latest time of each session, of those that were let go', () => {
    const times = new LastTimes()
    times.add(timed([1, 5, 9], [2, 1, 3]), Uint8Array.of(1, 0))
    expect([1, 2].map((session) => times.before(session))).toEqual([9, Number.NEGATIVE_INFINITY])
    times.add(timed([1, 2, 4]), Uint8Array.of(1))
    expect(times.before(1)).toBe(9)
    expect(LastTimes.restore(times.save()).save()).toEqual(times.save())
  })

  test('doubts early ones once there were too many sessions, and nobody else', () => {
    const times = new LastTimes(3)
    const history = timed([1, 0, 10], [2, 0, 20], [3, 0, 30], [4, 0, 40])
    times.add(history, Uint8Array.of(1, 1, 1, 1))
    expect([1, 2, 3, 4].map((session) => times.before(session))).toEqual([
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      40,
    ])
    expect(times.mayHaveForgotten(timed([1, 30, 31], [4, 1, 2]))).toBe(false)
    expect(times.mayHaveForgotten(timed([1, 29, 31]))).toBe(true)
  })
})
