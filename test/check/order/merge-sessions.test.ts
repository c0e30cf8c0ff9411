import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { check } from '../../../src/check/check.ts'
import { buildBaseOrder } from '../../../src/check/order/base-order.ts'
import { mergeSessions } from '../../../src/check/order/merge-sessions.ts'
import { findStaleReads } from '../../../src/check/order/stale-reads.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { parseNotation } from '../../../src/history/notation.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { FAULTS } from '../../../src/sim/faults.ts'

const WORKLOAD = {
  shape: 'general' as const,
  sessions: 20,
  transactions: 20_000,
  ops: 8,
  keys: 10_000,
}

describe('mergeSessions', () => {
  it('leaves few reads stale on a history told session by session', () => {
    const { history } = generate({ seed: 3, workload: WORKLOAD, layout: 'session' })
    const reads = checkReads(history)
    const { order, stale } = mergeSessions(history, reads)
    expect(order.length).toBe(history.txnCount)
    expect(stale.read.length).toBeLessThan(0.025 * reads.foreignReadCount)
  })

  it('finds the stale reads that a replay of its order finds', () => {
    const { history } = generate({ seed: 4, workload: WORKLOAD, layout: 'session' })
    const reads = checkReads(history)
    const base = buildBaseOrder(history, reads, Deadline.none())
    const { read, newer, newerStart } = findStaleReads(history, reads, base)
    expect(read.length).toBeGreaterThan(0)
    expect(base.stale.read).toEqual(read)
    expect(base.stale.newer).toEqual(newer)
    expect(base.stale.newerStart).toEqual(newerStart)
  })

  it('ends early on a cycle, and only then', () => {
    const cyclic = parseNotation('s1: w(x,1) r(y,1)\ns2: w(y,1) r(x,1)\ns3: w(z,1)')
    expect(mergeSessions(cyclic, checkReads(cyclic)).order.length).toBe(1)
    const free = parseNotation('s1: w(x,1) r(y,1)\ns2: w(y,1) r(x,0)\ns3: w(z,1)')
    expect(mergeSessions(free, checkReads(free)).order.length).toBe(3)
  })
})

describe('the order mended round by round', () => {
  // Told session by session the order has to be mended, told by commits it is right at once.
  for (const level of ['rc', 'ra', 'cc'] as const) {
    for (const store of ['rc', 'ra', 'cc', 'ser'] as const) {
      it(`judges ${level} alike in both layouts, store ${store}`, () => {
        for (let seed = 1; seed <= 6; seed++) {
          const workload = {
            shape: 'general' as const,
            sessions: 8,
            transactions: 1500,
            ops: 6,
            keys: 60 + 40 * seed,
          }
          const fault = seed % 3 === 0 ? [{ fault: FAULTS[seed % FAULTS.length]!, count: 3 }] : []
          const given = { seed, workload, store: { level: store, faults: fault } }
          const [a, b] = (['commit', 'session'] as const).map((layout) =>
            check(generate({ ...given, layout }).history, level, { all: true }),
          )
          expect(b!.verdict).toBe(a!.verdict)
          expect(tally(b!)).toEqual(tally(a!))
          expect(b!.certificate?.verified).toBe(true)
        }
      })
    }
  }
})

/** How often each anomaly was found. */
function tally({ anomalies }: ReturnType<typeof check>): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { name } of anomalies) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
