// The runner and the recorder over the simulated store, where every schedule is drawn from a seed.

import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { run as runCli } from '../../src/cli/main.ts'
import { type History, READ } from '../../src/history/history.ts'
import { CHAIN } from '../../src/levels/levels.ts'
import type { RunProgress } from '../../src/record/runner.ts'
import { stage, verdictsOf } from './stage.ts'

/** Values written, in order of appearance. */
function writtenValues(history: History): number[] {
  const values: number[] = []
  for (let op = 0; op < history.opCount; op++) {
    if (history.opKind[op] !== READ) values.push(Number(history.valueOf(op)))
  }
  return values
}

const small = { transactions: 400, sessions: 5, keys: 10 }

describe('run', () => {
  it('lets transactions rest between two operations, but not beyond its end', async () => {
    const workload = { shape: 'mini', transactions: 4, sessions: 1, reads: 1 } as const
    const options = { target: 'sim:ser', fault: 'pause:100%:0.2s', workload }
    await stage(options, ({ summary, judged }) => {
      const marks = judged!.history.annotations.map(({ text }) => text)
      expect(marks).toEqual(Array.from({ length: 4 }, () => 'a transaction stays open for 0.2 s'))
      expect(summary.transactions.committed).toBe(4)
      expect(summary.time.runMs).toBeGreaterThan(200)
    })
    // By a clock that stands still, a rest would never end by itself.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(0)
    const forever = { ...options, workload: { sessions: 2 }, durationMs: 300 }
    await stage(forever, ({ summary }) => {
      expect(summary.transactions.recorded).toBeGreaterThan(0)
    }).finally(() => clock.mockRestore())
  })

  it.each(CHAIN)('finds a simulated store at %s as good as it says', async (level) => {
    await stage({ target: `sim:${level}`, dbLevel: level, workload: small }, (outcome) => {
      const verdicts = verdictsOf(outcome)
      for (const weaker of CHAIN.slice(0, CHAIN.indexOf(level) + 1)) {
        expect(verdicts[weaker]).toBe('satisfied')
      }
    })
  })

  it.each([
    ['sim:si+lost-update:20%', 'si'],
    ['sim:ser+write-skew:80%', 'ser'],
    ['sim:ser+aborted-read:20%', 'rc'],
    ['sim:sser+lost-write:20%', 'ra'],
  ] as const)('finds the fault of %s', async (target, level) => {
    const workload = { ...small, transactions: 2000 }
    await stage({ target, dbLevel: 'si', workload, levels: [level] }, (outcome) => {
      expect(verdictsOf(outcome)).toEqual({ [level]: 'violated' })
    })
  })

  it('writes no value twice, tries aborted transactions again with new values', async () => {
    const options = { target: 'sim:ser', workload: { ...small, keys: 3 }, retries: 5 }
    await stage(options, ({ judged, summary }) => {
      const values = writtenValues(judged!.history)
      expect(new Set(values).size).toBe(values.length)
      expect(summary.transactions.aborted).toBeGreaterThan(100)
      expect(summary.transactions.recorded).toBeGreaterThan(400)
      expect(judged!.history.txnCount).toBe(summary.transactions.recorded)
      expect(summary.transactions.failures).toEqual({ conflict: summary.transactions.aborted })
    })
  })

  it('runs the same operations from the same seed, others from another', async () => {
    const opsOf = (seed: number) =>
      stage({ target: 'sim:ser', workload: { ...small, seed } }, ({ paths }) =>
        readFileSync(paths.history, 'utf8').match(/"ops":.*\]\]/g),
      )
    const [first, again, other] = [await opsOf(3), await opsOf(3), await opsOf(4)]
    expect(again).toEqual(first)
    expect(other).not.toEqual(first)
  })

  it('records lightweight transactions one by one', async () => {
    const workload = { ...small, shape: 'lwt' as const, keys: 2 }
    await stage({ target: 'sim:sser', dbLevel: 'sser', workload }, (outcome) => {
      const { history } = outcome.judged!
      for (let txn = 0; txn < history.txnCount; txn++) {
        expect(history.txnOpStart[txn + 1]! - history.txnOpStart[txn]!).toBeLessThanOrEqual(2)
      }
      expect(verdictsOf(outcome)).toMatchObject({ sser: 'satisfied', lin: 'satisfied' })
      expect(outcome.summary.transactions.recorded).toBe(history.txnCount)
      expect(outcome.summary.transactions.failures['changed']).toBeGreaterThan(0)
    })
  })

  it('reads every list at the end of a workload of appends', async () => {
    const workload = { ...small, shape: 'append' as const, keys: 3 }
    await stage({ target: 'sim:ser', workload }, (outcome) => {
      expect(verdictsOf(outcome)['ser']).toBe('satisfied')
      expect(outcome.judged!.history.txnCount).toBeGreaterThan(400)
    })
  })

  it('keeps to a rate and to a duration', async () => {
    const options = { target: 'sim:ser', workload: { sessions: 4 }, durationMs: 1500, rate: 100 }
    await stage(options, ({ summary }) => {
      const { recorded } = summary.transactions
      const { runMs } = summary.time
      expect(runMs).toBeGreaterThanOrEqual(1500)
      expect(recorded).toBeGreaterThan(0)
      expect(recorded).toBeLessThan((100 * runMs) / 1000 + 10)
    })
  })

  it('stops when told to, with a history that can be judged', async () => {
    const stop = new AbortController()
    const options = {
      target: 'sim:ser',
      workload: { transactions: 1e6 },
      signal: stop.signal,
      onProgress: ({ committed }: RunProgress) => {
        if (committed > 0) stop.abort()
      },
    }
    await stage(options, ({ judged, stoppedBy, summary }) => {
      expect(judged).toBeNull()
      expect(stoppedBy).toBe('signal')
      expect(summary.transactions.recorded).toBeGreaterThan(0)
    })
  })

  it('runs a workload of one’s own and stops with its error', async () => {
    const own = (run: (n: number) => void) => ({
      target: 'sim:ser',
      workload: { transactions: 50, sessions: 2, keys: 4 },
      ownWorkload: {
        path: 'own.js',
        run: async (session: number, _: unknown, transaction: { write(key: number): unknown }) => {
          run(session)
          await transaction.write(session)
        },
      },
    })
    await stage(
      own(() => {}),
      ({ judged, summary }) => {
        expect(judged!.history.opCount).toBe(50)
        expect(summary.workload).toMatchObject({ shape: 'own', module: 'own.js' })
      },
    )
    const failing = own(() => {
      throw new Error('oops')
    })
    await expect(stage(failing, () => {})).rejects.toThrow('the workload itself failed: oops')
    const tooFew = { ...own(() => {}), workload: { transactions: 50, sessions: 2, keys: 1 } }
    await expect(stage(tooFew, () => {})).rejects.toThrow('the workload uses key 1; keys are')
  })

  it('refuses a number of transactions together with a duration', async () => {
    const options = { target: 'sim:ser', workload: small, durationMs: 100 }
    await expect(stage(options, () => {})).rejects.toThrow(/not both/)
  })
})

describe('isobar run', () => {
  const cases: [args: string[], code: number, says: RegExp][] = [
    [['sim:ser', '--wrokload', 'mini'], 2, /unknown option.*--wrokload/],
    [['sim:ser', '--workload', 'maxi'], 2, /unknown workload "maxi"/],
    [['sim:ser', '--sessions', 'many'], 2, /--sessions takes a number/],
    [['sim:ser', '--seed', '-1'], 2, /--seed takes a whole number/],
    [['sim:ser', '--fault', 'latency:1ms'], 2, /no connections/],
    [['sim:ser', '--db-level', 'best'], 2, /unknown level "best"/],
    [['embedded', '--db-level', 'pc'], 2, /it offers rc \(READ COMMITTED\)/],
    [['nowhere'], 2, /unknown target "nowhere"/],
    [['postgres://me:secret@127.0.0.1:1/x'], 4, /me@127\.0\.0\.1:1\/x: .*ECONNREFUSED/],
    [['postgres://h/x', '--password-file', '/does/not/exist'], 2, /password file/],
  ]
  it.each(cases)('answers %j with %i', async (args, code, says) => {
    let printed = ''
    const print = (text: unknown) => {
      printed += text
      return true
    }
    const spies = [process.stdout, process.stderr].map((stream) =>
      vi.spyOn(stream, 'write').mockImplementation(print),
    )
    const ended = await runCli(['run', ...args])
    for (const spy of spies) spy.mockRestore()
    expect(printed).toMatch(says)
    expect(printed).not.toContain('secret')
    expect(ended).toBe(code)
  })
})
