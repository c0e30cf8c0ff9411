import { afterEach, describe, expect, it, vi } from 'vitest'
import { RunLine } from '../../src/cli/run-line.ts'
import type { RunOptions } from '../../src/pipeline/run-options.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

describe('RunLine', () => {
  it('writes a line every ten seconds where there is no terminal', () => {
    vi.useFakeTimers({ toFake: ['performance', 'Date'] })
    const written: string[] = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      written.push(String(text))
      return true
    })
    const line = new RunLine(false)
    const options = { durationMs: 60_000, workload: {} } as unknown as RunOptions
    line.phase('running')
    for (let ms = 200; ms <= 25_000; ms += 200) {
      vi.advanceTimersByTime(200)
      const counts = {
        committed: ms,
        aborted: 0,
        indeterminate: 0,
        failures: new Map(),
        restarts: 0,
      }
      line.progress({ ...counts, elapsedMs: ms }, options)
    }
    line.done()
    expect(written).toEqual([
      'isobar: 10000 transactions, 1000 commits/s, 0 aborted, 0 indeterminate, 10.0 s, 50.0 s left\n',
      'isobar: 20000 transactions, 1000 commits/s, 0 aborted, 0 indeterminate, 20.0 s, 40.0 s left\n',
    ])
  })
})
