// Real time within windows, against chains of instants through the whole history.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../../src/base/deadline.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { CyclicParts } from '../../../src/check/versions/cyclic-parts.ts'
import { buildOrderedGraph, Successions } from '../../../src/check/versions/ordered-graph.ts'
import { TimeWindows } from '../../../src/check/versions/time-windows.ts'
import type { TimeScope } from '../../../src/history/history.ts'
import { shareKey } from '../../../src/history/key-uses.ts'
import { finishesBefore } from '../../../src/history/real-time.ts'
import { generate } from '../../../src/pipeline/generate.ts'
import { some } from '../../long.ts'

type Store = 'ser' | 'si' | 'pc'

const CASES: readonly [TimeScope, 1 | 2][] = [
  ['all', 1],
  ['all', 2],
  ['by-key', 1],
]

/** Lists of a store that keeps a level. */
function historyOf(level: Store, seed: number) {
  const workload = { shape: 'append', transactions: 60, sessions: 6, keys: 40, ops: 3 } as const
  return generate({ seed, workload, store: { level } }).history
}

function judge(store: Store, seed: number, scope: TimeScope, width: 1 | 2) {
  const history = historyOf(store, seed)
  const deadline = Deadline.none()
  const reads = checkReads(history)
  const successions = new Successions(history, reads.versions!)
  const partsOf = (realTime: TimeScope | null) => {
    const options = { width, sessions: true, realTime, exclusive: width === 2, overwrites: true }
    return new CyclicParts(buildOrderedGraph(history, reads, successions, options)!)
  }
  const [plain, full] = [partsOf(null), partsOf(scope)]
  const windows = new TimeWindows(history, plain, scope, deadline)
  return { history, plain: plain.graph, full, windows, deadline }
}

/** The transactions in cycles. */
function cyclic(parts: CyclicParts, deadline: Deadline): number[] {
  const { graph } = parts
  const nodes = parts.find(new Set(), deadline).flatMap((edges) => edges.map((e) => graph.from[e]!))
  const txns = nodes.filter((node) => node < graph.width * graph.txnCount)
  return [...new Set(txns.map((node) => Math.floor(node / graph.width)))].sort((a, b) => a - b)
}

describe('TimeWindows', () => {
  it('leaves the same transactions in cycles, and orders those that have none', () => {
    const seen = { cyclic: 0, ordered: 0 }
    for (let seed = 0; seed < some(80); seed++) {
      for (const store of ['ser', 'si', 'pc'] as const) {
        for (const [scope, width] of CASES) {
          const { history, plain, full, windows, deadline } = judge(store, seed, scope, width)
          const expected = cyclic(full, deadline)
          expect(cyclic(new CyclicParts(windows.graph), deadline)).toEqual(expected)
          const order = windows.findOrder()
          expect(order === null).toBe(expected.length > 0)
          if (order === null) {
            seen.cyclic++
            continue
          }
          seen.ordered++
          const at = new Int32Array(order.length)
          order.forEach((node, place) => {
            at[node] = place
          })
          for (let e = 0; e < plain.edgeCount; e++) {
            expect(at[plain.from[e]!]).toBeLessThan(at[plain.to[e]!]!)
          }
          for (let a = 0; a < history.txnCount; a++) {
            for (let b = 0; b < history.txnCount; b++) {
              if (!finishesBefore(history, a, b)) continue
              if (scope === 'by-key' && !shareKey(history, a, b)) continue
              expect(at[width * a + width - 1]).toBeLessThan(at[width * b]!)
            }
          }
        }
      }
    }
    expect(Math.min(seen.cyclic, seen.ordered)).toBeGreaterThan(20)
  })
})
