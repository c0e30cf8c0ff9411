import { describe, expect, test } from 'vitest'
import { renderNotation } from '../../src/history/render-notation.ts'
import { CHAIN } from '../../src/levels/levels.ts'
import { generate } from '../../src/pipeline/generate.ts'
import { parseFaults } from '../../src/sim/faults.ts'
import { LAYOUTS } from '../../src/sim/layout.ts'

const WORKLOAD = { shape: 'general' as const, sessions: 5, transactions: 60, ops: 4, keys: 12 }

describe('generate', () => {
  test('gives the same history for the same seed, and another for another', () => {
    for (const level of CHAIN) {
      const store = { level, aborts: 0.1, indeterminates: 0.1, faults: parseFaults('long-fork:2') }
      const text = (seed: number) =>
        renderNotation(generate({ seed, workload: WORKLOAD, store }).history)
      expect(text(3)).toBe(text(3))
      expect(text(3)).not.toBe(text(4))
    }
  })

  test('tells the same transactions in every layout', () => {
    const linesOf = (layout: (typeof LAYOUTS)[number]) => {
      const { history } = generate({ workload: WORKLOAD, layout, times: true })
      return Array.from(history.sessionTxns, (txn) => history.txnStartTime![txn])
    }
    for (const layout of LAYOUTS) expect(linesOf(layout)).toEqual(linesOf('commit'))
  })

  test('orders transactions by their end, by session, or by their start', () => {
    const commit = generate({ workload: WORKLOAD, layout: 'commit' }).history
    expect(isAscending(commit.txnFinishTime!)).toBe(true)
    const session = generate({ workload: WORKLOAD, layout: 'session' }).history
    expect(isAscending(session.txnSession)).toBe(true)
    const { history, opOrder } = generate({ workload: WORKLOAD, layout: 'interleaved' })
    expect(isAscending(history.txnStartTime!)).toBe(true)
    expect(opOrder!.slice().sort()).toEqual(Int32Array.from(opOrder!.keys()))
    // Operations of one transaction keep their order, but others come in between.
    const positions = new Int32Array(history.opCount)
    opOrder!.forEach((op, at) => {
      positions[op] = at
    })
    let split = 0
    for (let op = 1; op < history.opCount; op++) {
      if (history.opTxn[op] !== history.opTxn[op - 1]) continue
      expect(positions[op]).toBeGreaterThan(positions[op - 1]!)
      if (positions[op]! > positions[op - 1]! + 1) split++
    }
    expect(split).toBeGreaterThan(history.opCount / 4)
  })

  test('lets no more sessions be in a transaction at once than asked for', () => {
    for (const [concurrency, atOnce] of [
      [1, 5],
      [0.4, 2],
      [0, 1],
    ] as const) {
      const workload = { ...WORKLOAD, transactions: 200, keys: 500 }
      const { history } = generate({ workload, store: { concurrency } })
      const starts = history.txnStartTime!
      const finishes = history.txnFinishTime!
      const open = Array.from(starts, (start) => {
        let count = 0
        for (let txn = 0; txn < history.txnCount; txn++) {
          if (starts[txn]! <= start && finishes[txn]! >= start) count++
        }
        return count
      })
      expect(Math.max(...open)).toBe(atOnce)
    }
  })

  test('records where each fault struck', () => {
    const faults = parseFaults('lost-update:3,write-skew:2,long-fork')
    const { history, strikes } = generate({ workload: WORKLOAD, store: { level: 'sser', faults } })
    expect(strikes.map((strike) => strike.fault).sort()).toEqual(
      [...Array(3).fill('lost-update'), 'long-fork', ...Array(2).fill('write-skew')].sort(),
    )
    expect(history.annotations.map(({ text }) => text).sort()).toEqual(
      strikes.map(({ fault }) => `${fault} strikes`).sort(),
    )
    const txns = strikes.flatMap((strike) => strike.txns)
    expect(new Set(txns).size).toBe(txns.length)
    for (const { txns, keys } of strikes) {
      for (const txn of txns) {
        const touched = Array.from(
          history.opKey.subarray(history.txnOpStart[txn], history.txnOpStart[txn + 1]),
        )
        expect(keys.some((key) => touched.includes(key))).toBe(true)
      }
    }
  })

  test('refuses faults that do not exist or do not fit', () => {
    const run = (text: string, workload = {}) =>
      generate({ workload: { ...WORKLOAD, ...workload }, store: { faults: parseFaults(text) } })
    expect(() => run('lost-updates')).toThrow('unknown fault "lost-updates"')
    expect(() => run('lost-update:x')).toThrow('bad fault "lost-update:x"')
    expect(() => run('long-fork', { sessions: 3 })).toThrow('long-fork needs 4 sessions')
    expect(() => run('write-skew', { keys: 1 })).toThrow('needs two keys')
    expect(() => run('write-skew', { shape: 'lwt' })).toThrow('larger transactions')
    expect(() => run('lost-update:31')).toThrow('not enough transactions')
    expect(() => run('lost-update', { disjointWrites: true })).toThrow('disjoint writes')
  })
})

function isAscending(numbers: ArrayLike<number>): boolean {
  return Array.from(numbers).every((n, i, all) => i === 0 || all[i - 1]! <= n)
}
