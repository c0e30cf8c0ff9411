// Whatever happens to connections, server and runner, the record stays true: never a false alarm.

import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { readHistory } from '../../src/formats/open.ts'
import { INDETERMINATE } from '../../src/history/history.ts'
import { ServerClock } from '../../src/record/embedded/clock.ts'
import { EmbeddedServer } from '../../src/record/embedded/server.ts'
import type { RunProgress } from '../../src/record/runner.ts'
import { LONG, some } from '../long.ts'
import { eventually, inDirectory, stage, startCli, verdictsOf } from '../record/stage.ts'
import { targetOf, withClient } from './postgres.ts'

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe('faults', () => {
  it(`cut ${some(1000)} connections around COMMIT without a false alarm`, async () => {
    const options = {
      target: 'embedded',
      fault: 'kill-connection:40%',
      workload: { transactions: some(5000), sessions: 10, keys: 30, seed: 4 },
    }
    await stage(options, (outcome) => {
      const { summary, judged } = outcome
      expect(summary.connectionsCut).toBeGreaterThan(some(1000))
      expect(summary.transactions.indeterminate).toBeGreaterThan(some(300))
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied', si: 'satisfied' })
      // Every cut is marked in the record.
      const marks = judged!.history.annotations.filter(({ text }) => /connection is cut/.test(text))
      expect(marks.length).toBeGreaterThan(some(1000))
      expect(new Set(marks.map(({ text }) => text)).size).toBe(5)
      // Of those whose answer was lost, some took effect and were seen, some were not.
      const { txnStatus, txnCounts } = judged!.history
      const counts = [0, 0]
      txnStatus.forEach((status, txn) => {
        if (status === INDETERMINATE) counts[txnCounts[txn]!]!++
      })
      expect(counts[0]).toBeGreaterThan(some(50))
      expect(counts[1]).toBeGreaterThan(some(50))
    })
  })

  it('crash the server again and again without a false alarm', async () => {
    const enough = new AbortController()
    const options = {
      target: 'embedded',
      fault: 'restart-server:0.5s,latency:0-2ms',
      workload: { sessions: 10, keys: 30 },
      durationMs: 60_000,
      enough: enough.signal,
      onProgress: ({ restarts, failures }: RunProgress) => {
        if (restarts > 1 && (failures.get('connection lost') ?? 0) > 5) enough.abort()
      },
    }
    await stage(options, (outcome) => {
      expect(outcome.stoppedBy).toBeNull()
      expect(outcome.summary.serverRestarts).toBeGreaterThan(1)
      const marks = outcome.judged!.history.annotations.map(({ text }) => text)
      expect(marks[0]).toBe('from here on every message takes 0 to 2 ms longer')
      expect(marks).toContain('the server goes down')
      expect(outcome.summary.transactions.failures['connection lost']).toBeGreaterThan(5)
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
    })
  })

  it('kill the server and stop it for a while without a false alarm, each marked', async () => {
    const enough = new AbortController()
    const marks = new Set<string>()
    const options = {
      target: 'embedded',
      fault: 'kill-server:1s,stop-server:0.5s,connection-storm:20',
      workload: { sessions: 10, keys: 30 },
      durationMs: 120_000,
      enough: enough.signal,
      onProgress: ({ restarts, failures, elapsedMs }: RunProgress) => {
        const lost = failures.get('connection lost') ?? 0
        if (restarts > 1 && lost > 5 && elapsedMs > 5000) enough.abort()
      },
    }
    await stage(options, (outcome) => {
      expect(outcome.stoppedBy).toBeNull()
      expect(outcome.summary.serverRestarts).toBeGreaterThan(1)
      for (const { text } of outcome.judged!.history.annotations) marks.add(text)
      expect([...marks].sort()).toEqual([
        'a storm of connections begins',
        'the server goes on',
        'the server is back',
        'the server is killed',
        'the server is stopped',
        'the storm of connections is over',
      ])
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
    })
  })

  it.runIf(LONG && ServerClock.isThere())('set the clock without a false alarm', async () => {
    const server = await EmbeddedServer.start({ setsClock: true })
    try {
      const aheadMs = () =>
        withClient(targetOf(server), async (client) => {
          const { rows } = await client.query('SELECT clock_timestamp() AS now')
          return rows[0].now.getTime() - Date.now()
        })
      // An hour, so that it is none whatever the machine does in between.
      for (const hours of [1, -1, 0]) {
        server.setClock(hours * 3_600_000)
        expect((await aheadMs()) / 3_600_000).toBeCloseTo(hours, 1)
      }
    } finally {
      await server.stop()
    }
    const enough = new AbortController()
    const options = {
      target: 'embedded',
      fault: 'clock:±2s',
      workload: { sessions: 8, keys: 30 },
      durationMs: 120_000,
      enough: enough.signal,
      onProgress: ({ elapsedMs }: RunProgress) => {
        if (elapsedMs > 5000) enough.abort()
      },
    }
    await stage(options, (outcome) => {
      const marks = outcome.judged!.history.annotations.map(({ text }) => text)
      expect(marks.slice(0, 2)).toEqual([
        'the clock of the server is wrong',
        'the clock of the server is right again',
      ])
      expect(outcome.summary.transactions.committed).toBeGreaterThan(20)
      expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied', sser: 'satisfied' })
    })
  })

  it('end a run whose server is gone, with what was recorded until then', async () => {
    const server = await EmbeddedServer.start()
    try {
      const options = {
        target: targetOf(server),
        workload: { sessions: 5 },
        durationMs: 60_000,
        patienceMs: 2000,
        onProgress: ({ committed }: RunProgress) => {
          if (committed > 0 && server.pid > 0) process.kill(server.pid, 'SIGKILL')
        },
      }
      await stage(options, (outcome) => {
        expect(outcome.stoppedBy).toMatchObject({ name: 'DatabaseError' })
        expect(String(outcome.stoppedBy)).toMatch(/127\.0\.0\.1.*ECONNREFUSED/)
        expect(outcome.summary.transactions.committed).toBeGreaterThan(0)
        expect(verdictsOf(outcome)).toMatchObject({ ser: 'satisfied' })
      })
    } finally {
      await server.stop()
    }
  })
})

describe('isobar run', () => {
  it.each([
    ['SIGKILL', null, 'kill-connection:10%'],
    ['SIGINT', 130, 'latency:0-1ms'],
  ] as const)('leaves a true history and nothing else after %s', async (signal, code, fault) => {
    await inDirectory(async (directory) => {
      const out = join(directory, 'run')
      const args = ['run', '--duration', '60s', '--out', out, '--fault', fault, '--keys', '20']
      // The server's account must get through to what lies below.
      chmodSync(directory, 0o711)
      const { child, ended } = startCli(args, { TMPDIR: directory })
      const path = join(out, 'history.jsonl')
      const size = () => (existsSync(path) ? readFileSync(path).length : 0)
      expect(await eventually(() => size() > 100_000, 30_000)).toBe(true)
      const name = readdirSync(directory).find((each) => each.startsWith('isobar-server-'))!
      const home = join(directory, name)
      const server = Number.parseInt(readFileSync(join(home, 'data', 'postmaster.pid'), 'utf8'), 10)
      expect(lives(server) && existsSync(home)).toBe(true)
      child.kill(signal)
      expect((await ended).code).toBe(code)

      expect(await eventually(() => !lives(server) && !existsSync(home))).toBe(true)
      const { history } = await readHistory(path)
      expect(check(history, 'ser').verdict).toBe('satisfied')
    })
  })
})
