import { describe, expect, it } from 'vitest'
import { Looks } from '../../src/fleet/looks.ts'

/** The looks at a night that goes on at a pace: their number, and how late the last one is. */
function watch(jobs: number, msPerJob: number): { looks: number; lateMs: number } {
  const looks = new Looks()
  let ms = 0
  for (let count = 1; ; count++) {
    const done = Math.min(jobs, Math.floor(ms / msPerJob))
    if (done === jobs) return { looks: count, lateMs: ms - jobs * msPerJob }
    ms += looks.next(ms, done, jobs)
  }
}

describe('Looks', () => {
  it('sees the end of a night soon, whether it is short or long', () => {
    for (const [jobs, msPerJob] of [
      [20, 4],
      [1000, 4],
      [10_000, 4],
      [80, 700],
    ] as const) {
      // How far the job is that is being done, nobody can tell.
      expect(watch(jobs, msPerJob).lateMs).toBeLessThanOrEqual(Math.max(100, msPerJob / 2))
    }
  })

  it('looks once a second while much is left', () => {
    expect(watch(10_000, 4).looks).toBeLessThan(40 + 20)
    expect(watch(1, 60_000).looks).toBeLessThan(60 + 10)
  })

  it('looks on when more is done than was known of', () => {
    const looks = new Looks()
    looks.next(0, 0, 0)
    for (let second = 1; second < 10; second++) {
      expect(looks.next(1000 * second, 100 * second, 0)).toBeGreaterThanOrEqual(50)
    }
  })
})
