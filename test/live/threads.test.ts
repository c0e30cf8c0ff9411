// Sessions in several threads: what they record is one history, as true as that of one thread.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { InternalError } from '../../src/base/errors.ts'
import { addTo } from '../../src/base/maps.ts'
import { check } from '../../src/check/check.ts'
import { readHistory } from '../../src/formats/open.ts'
import { type History, INDETERMINATE } from '../../src/history/history.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import { NO_FAULTS } from '../../src/record/faults.ts'
import { PostgresDatabase } from '../../src/record/postgres/database.ts'
import { Recorder } from '../../src/record/recorder.ts'
import { type RunProgress, runSessions } from '../../src/record/runner.ts'
import { startThread } from '../../src/record/threads.ts'
import { PlannedWork } from '../../src/record/work.ts'
import { planWorkload } from '../../src/workload/workload.ts'
import { some } from '../long.ts'
import { eventually, inDirectory, stage, startCli, verdictsOf } from '../record/stage.ts'
import { targetOf } from './postgres.ts'

let server: EmbeddedServer
beforeAll(async () => {
  server = await EmbeddedServer.start()
})
afterAll(() => server.stop())

const workload = { shape: 'mini', sessions: 8, keys: 20, transactions: some(8000) } as const

/** How many sessions of the history have transactions. */
function busySessions(history: History): number {
  return new Set(history.txnSession).size
}

/** Recorded transactions by how they ended: as the history has them. */
function countsIn(path: string) {
  const fates = new Map<number, string>()
  for (const line of readFileSync(path, 'utf8').split('\n').slice(1, -1)) {
    const { pending, outcome, id, status, audit } = JSON.parse(line)
    if (audit) continue
    if (pending !== undefined) fates.set(pending, 'indeterminate')
    else if (id !== undefined) fates.set(id, status)
    else if (outcome !== undefined && fates.has(outcome)) fates.set(outcome, status)
  }
  const count = (fate: string) => [...fates.values()].filter((each) => each === fate).length
  const [committed, aborted] = [count('committed'), count('aborted')]
  return { recorded: fates.size, committed, aborted, indeterminate: count('indeterminate') }
}

describe('a run with two threads', () => {
  // Write skews at si are rare where they are not aimed at.
  const { sessions, transactions } = workload
  const aimed = { shape: 'aimed', aim: 'write-skew', sessions, transactions } as const
  it.each([
    ['ser', workload, 'satisfied', 'satisfied'],
    ['si', aimed, 'violated', 'satisfied'],
    ['rc', workload, 'violated', 'violated'],
  ] as const)('at %s is judged as one with one thread', async (dbLevel, given, ser, si) => {
    for (const threads of [1, 2]) {
      const options = { target: targetOf(server), dbLevel, threads, workload: given }
      await stage(options, (outcome) => {
        const { summary, judged, paths } = outcome
        expect(verdictsOf(outcome)).toMatchObject({ rc: 'satisfied', si, ser })
        expect(summary.threads).toBe(threads)
        expect(summary.audits).toBe(1)
        expect(summary.transactions).toMatchObject(countsIn(paths.history))
        expect(summary.transactions.recorded).toBe(workload.transactions)
        expect(busySessions(judged!.history)).toBe(workload.sessions + 1) // and the audit
        expect(summary.concurrency.conflicting).toBeGreaterThan(some(400))
        if (dbLevel !== 'rc') return
        const names = judged!.results.flatMap(({ anomalies }) => anomalies.map(({ name }) => name))
        expect(names).toContain('LostUpdate')
      })
    }
  })

  it('does the same in each session, from the same seed', async () => {
    const keysOf = (threads: number) =>
      stage({ target: targetOf(server), dbLevel: 'rc', threads, workload }, ({ paths }) => {
        const sessions = new Map<number, string[]>()
        for (const line of readFileSync(paths.history, 'utf8').split('\n').slice(1, -1)) {
          const { session, ops, audit } = JSON.parse(line)
          if (ops === undefined || audit) continue
          const done = ops.map(([kind, key]: [string, number]) => `${kind}${key}`).join(' ')
          addTo(sessions, session, done)
        }
        return sessions
      })
    const [one, two] = [await keysOf(1), await keysOf(2)]
    expect(one.size).toBe(workload.sessions)
    for (const [session, done] of one) {
      const others = two.get(session)!
      expect(others).toHaveLength(done.length)
      // A transaction that a deadlock ended did no more than it had come to.
      for (const [i, other] of others.entries()) {
        const [less, more] = [done[i]!, other].toSorted((a, b) => a.length - b.length)
        expect(more!.slice(0, less!.length)).toBe(less)
      }
    }
    const whole = [...one].flatMap(([id, done]) =>
      done.filter((each, i) => each === two.get(id)![i]),
    )
    expect(whole.length).toBeGreaterThan(0.9 * workload.transactions)
  })

  it('runs lists, rows that come and go, retired keys, and SQL', async () => {
    const run = (shape: 'append' | 'churn' | 'twitter' | 'tpcc', durationMs: number | null) => {
      const isSql = shape === 'twitter' || shape === 'tpcc'
      const size = isSql ? { transactions: 120 } : { keys: 10, transactions: some(4000) }
      const given = { shape, sessions: 6, ...(durationMs === null ? size : {}) }
      const dbLevel = isSql ? 'ser+rc' : 'ser'
      const options = { target: targetOf(server), threads: 2, dbLevel, workload: given, durationMs }
      return stage(options, (outcome) => {
        const verdicts = verdictsOf(outcome)
        expect({ shape, verdict: verdicts[isSql ? 'mixed' : 'ser'] }).toEqual({
          ...{ shape, verdict: 'satisfied' },
        })
        expect(outcome.summary.transactions).toMatchObject(countsIn(outcome.paths.history))
        return outcome.summary.transactions.recorded
      })
    }
    for (const shape of ['append', 'churn', 'twitter', 'tpcc'] as const) {
      expect(await run(shape, null)).toBeGreaterThan(100)
    }
    expect(await run('append', 1500)).toBeGreaterThan(100)
  })

  it('keeps to a rate, all threads together', async () => {
    const options = { target: targetOf(server), threads: 2, durationMs: 2000, rate: 100 }
    await stage({ ...options, workload: { sessions: 8 } }, ({ summary }) => {
      expect(summary.transactions.recorded).toBeGreaterThan(100)
      expect(summary.transactions.recorded).toBeLessThan(310)
    })
  })

  it('has no more transactions stay open than one thread would', async () => {
    const options = { target: targetOf(server), threads: 2, durationMs: 1500 }
    const given = { shape: 'mini', sessions: 10, keys: 100, reads: 1 } as const
    await stage({ ...options, fault: 'pause:20%:0.5s', workload: given }, ({ paths }) => {
      const open: [number, number][] = []
      for (const line of readFileSync(paths.history, 'utf8').split('\n').slice(1, -1)) {
        const { mark, start } = JSON.parse(line)
        if (mark?.startsWith('a transaction stays open')) open.push([start, start + 490_000])
      }
      expect(open.length).toBeGreaterThan(2)
      for (const [start] of open) {
        expect(open.filter(([from, to]) => from <= start && start < to).length).toBeLessThan(3)
      }
    })
  })
})

describe('faults with two threads', () => {
  it('kill and stop the server without a false alarm, and what was acknowledged stays', async () => {
    const enough = new AbortController()
    const options = {
      target: 'embedded',
      threads: 2,
      fault: 'kill-server:1s,stop-server:0.5s',
      workload: { sessions: 10, keys: 30 },
      durationMs: 120_000,
      enough: enough.signal,
      onProgress: ({ restarts, failures, elapsedMs }: RunProgress) => {
        const lost = failures.get('connection lost') ?? 0
        if (restarts > 1 && lost > 5 && elapsedMs > 4000) enough.abort()
      },
    }
    await stage(options, (outcome) => {
      const { summary, judged, paths } = outcome
      expect(outcome.stoppedBy).toBeNull()
      expect(summary.threads).toBe(2)
      expect(summary.audits).toBeGreaterThan(1)
      expect(summary.transactions.indeterminate).toBeGreaterThan(0)
      expect(summary.transactions).toMatchObject(countsIn(paths.history))
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
      // Sessions went on under ids that nobody else has.
      expect(busySessions(judged!.history)).toBeGreaterThan(11)
      expect(judged!.history.annotations.map(({ text }) => text)).toContain('the server is killed')
    })
  })

  it('let a run be ended in the middle, with a whole file', async () => {
    const stop = new AbortController()
    const options = {
      ...{ target: targetOf(server), threads: 2, signal: stop.signal, durationMs: 60_000 },
      onProgress: ({ committed }: RunProgress) => {
        if (committed > 200) stop.abort()
      },
    }
    await stage(options, async ({ judged, stoppedBy, summary, paths }) => {
      expect(stoppedBy).toBe('signal')
      expect(judged).toBeNull()
      const { history } = await readHistory(paths.history)
      expect(readFileSync(paths.history, 'utf8').endsWith('\n')).toBe(true)
      expect(history.txnCount).toBe(summary.transactions.recorded)
      expect(check(history, 'ser').verdict).toBe('satisfied')
    })
  })

  it('leave a history that can be judged when the process is killed', async () => {
    await inDirectory(async (directory) => {
      const out = join(directory, 'run')
      const path = join(out, 'history.jsonl')
      const { child, ended } = startCli([
        'run',
        '--threads',
        '2',
        '--duration',
        '60s',
        '--out',
        out,
      ])
      const isGoing = () => existsSync(path) && readFileSync(path, 'utf8').length > 300_000
      expect(await eventually(isGoing)).toBe(true)
      child.kill('SIGKILL')
      await ended
      const { history } = await readHistory(path)
      expect(history.txnStatus.includes(INDETERMINATE)).toBe(true)
      expect(busySessions(history)).toBeGreaterThan(20)
      expect(check(history, 'ser').verdict).toBe('satisfied')
    })
  })
})

describe('a thread that dies', () => {
  it('ends the run as an error; what it recorded stays and can be judged', async () => {
    const database = await PostgresDatabase.open(server.address)
    try {
      await inDirectory(async (directory) => {
        const path = join(directory, 'history.jsonl')
        const recorder = new Recorder(path)
        const plan = planWorkload({ ...workload, transactions: 100_000 })
        const workers: ReturnType<typeof startThread>[] = []
        const { stoppedBy, committed } = await runSessions({
          ...{ database, recorder, work: new PlannedWork(plan), tables: [], isLightweight: false },
          ...{ level: 'ser', sessions: 8, seed: 1, durationMs: null, rate: null, retries: 0 },
          ...{ faults: NO_FAULTS, proxies: [], patienceMs: 20_000, makers: {}, signal: null },
          onProgress: ({ committed: soFar }) => {
            if (soFar > 200) for (const worker of workers) worker.terminate()
          },
          threads: {
            count: 2,
            work: { plan, repeats: false },
            start: (orders) => {
              const worker = startThread(orders)
              workers.push(worker)
              return worker
            },
          },
        })
        recorder.close()
        expect(stoppedBy).toBeInstanceOf(InternalError)
        expect((stoppedBy as Error).message).toBe('a thread of the run has ended')
        expect(committed).toBeGreaterThan(100)
        const { history } = await readHistory(path)
        // What it was in the middle of is told as what nobody knows the end of.
        expect(history.txnStatus.includes(INDETERMINATE)).toBe(true)
        expect(history.txnCount).toBeGreaterThanOrEqual(committed)
        expect(check(history, 'ser').verdict).toBe('satisfied')
      })
    } finally {
      await database.close()
    }
  })

  it('ends it before it has begun, with what it threw', async () => {
    const database = await PostgresDatabase.open(server.address)
    try {
      await inDirectory(async (directory) => {
        const recorder = new Recorder(join(directory, 'history.jsonl'))
        const plan = planWorkload({ ...workload, transactions: 100 })
        const run = runSessions({
          ...{ database, recorder, work: new PlannedWork(plan), tables: [], isLightweight: false },
          ...{ level: 'ser', sessions: 8, seed: 1, durationMs: null, rate: null, retries: 0 },
          ...{ faults: NO_FAULTS, proxies: [], patienceMs: 20_000, makers: {}, signal: null },
          onProgress: null,
          threads: {
            count: 2,
            work: { plan, repeats: false },
            start: (orders) => startThread({ ...orders, reach: { kind: 'none', places: [] } }),
          },
        })
        await expect(run).rejects.toThrow(/not a function/)
        recorder.close()
      })
    } finally {
      await database.close()
    }
  })
})
