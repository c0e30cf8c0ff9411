import { availableParallelism } from 'node:os'
import { describe, expect, it } from 'vitest'
import type { RunOptions } from '../../src/pipeline/run-options.ts'
import { threadsOf } from '../../src/pipeline/run-threads.ts'
import type { RunWork } from '../../src/pipeline/run-work.ts'
import type { OpenTarget } from '../../src/record/target.ts'
import { type WorkloadParameters, workloadParameters } from '../../src/workload/parameters.ts'

interface Given extends Partial<Pick<RunOptions, 'threads' | 'durationMs' | 'workload'>> {
  parameters?: Partial<WorkloadParameters>
  order?: null
  database?: object
  proxies?: readonly object[]
}

/** How many threads there are; null for the run's own. */
function countOf(given: Given): number | null {
  const { parameters, database, proxies = [], ...options } = given
  const order = given.order === null ? null : { plan: {}, repeats: false }
  const target = {
    database: { name: 'A database', isAudited: true, reach: {}, ...database },
    proxies,
  }
  const asked = { durationMs: null, ownWorkload: null, workload: {}, ...options }
  const threads = threadsOf(
    asked as unknown as RunOptions,
    workloadParameters({ shape: 'mini', ...parameters }),
    { order } as unknown as RunWork,
    target as unknown as OpenTarget,
  )
  return threads?.count ?? null
}

const long = { parameters: { transactions: 30_000, sessions: 8 } }
const usual = availableParallelism() > 1 ? 2 : null

describe('threadsOf', () => {
  it('has two where that pays, and one where a run is short or has few sessions', () => {
    expect(countOf(long)).toBe(usual)
    expect(countOf({ durationMs: 3000 })).toBe(usual)
    expect(countOf({ parameters: { ...long.parameters, transactions: 29_999 } })).toBeNull()
    expect(countOf({ parameters: { ...long.parameters, sessions: 7 } })).toBeNull()
    expect(countOf({ durationMs: 2999 })).toBeNull()
  })

  it('has as many as are asked for', () => {
    expect(countOf({ threads: 3 })).toBe(3)
    expect(countOf({ ...long, threads: 1 })).toBeNull()
    expect(() => countOf({ threads: 9, parameters: { sessions: 8 } })).toThrow(
      'there are more threads than sessions: 8',
    )
  })

  it.each<[Given, string]>([
    [{ order: null }, 'a workload of your own runs in one thread'],
    [{ workload: { shape: 'lwt' } }, 'shape lwt runs in one thread'],
    [{ proxies: [{}] }, 'connections are disturbed in the thread of their sessions'],
    [{ database: { reach: undefined } }, 'A database is driven from one thread'],
    [{ database: { isAudited: false } }, 'on several nodes A database is driven from one thread'],
  ])('has one where sessions have to share it, and refuses more: %j', (given, why) => {
    expect(countOf({ ...long, ...given })).toBeNull()
    expect(() => countOf({ ...given, threads: 2 })).toThrow(`${why}, so that --threads 2 cannot be`)
    expect(countOf({ ...given, threads: 1 })).toBeNull()
  })
})
