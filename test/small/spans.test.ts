// Counters, sets, range reads and compare-and-sets that failed without telling what they found,
// against brute force: a level is satisfied if some way to read the history as one of registers
// satisfies it by the axioms. Every verdict is certified on the way. More seeds: npm run fuzz --
// --only counters, untold, ranges, sets (test/fuzz/brute-force.ts).

import { describe, expect, it } from 'vitest'
import { type CompareOptions, draftsFor, SAMPLED, sampled } from './compare.ts'
import { Confirmed, isDrawn } from './confirmed.ts'
import type { Draft } from './draft.ts'
import { type Bounds, everyTiming } from './enumerate.ts'
import {
  allCounters,
  allRanges,
  allSets,
  compareWays,
  JUDGED,
  KINDS,
  type Kind,
  type Orders,
  withRanges,
} from './spans.ts'

const SPANS = 'counters, range reads, untold compare-and-sets'

function compare(kind: Kind, wanted: CompareOptions, orders: Orders) {
  const counts = { satisfied: 0, violated: 0, unknown: 0, compared: 0, open: 0 }
  const confirmed = new Confirmed(SPANS)
  let seed = 0
  for (const { draft, source } of draftsFor(wanted)) {
    const made = kind(draft, seed++)
    if (made === null) continue
    counts.compared++
    if (made.history.writers !== null) counts.open++
    try {
      compareWays(made, orders).forEach((verdict, i) => {
        counts[verdict]++
        confirmed.add(JUDGED[i]!, isDrawn(source), verdict)
      })
    } catch (error) {
      throw new Error(source, { cause: error })
    }
  }
  confirmed.tell()
  return counts
}

const SESSIONS = { sessionOrder: true, realTime: false }

/** What each read returns, and how much each write adds, is gone through in all ways. */
const COUNTERS: readonly Bounds[] = [
  { txns: 2, maxOps: 3, maxTotalOps: 4, keys: 1 },
  { txns: 2, maxOps: 2, maxTotalOps: 4, keys: 2 },
  { txns: 3, maxOps: 2, maxTotalOps: 4, keys: 2 },
]

/** Each set of reads that are ranges, too. */
const RANGES: readonly Bounds[] = [
  { txns: 2, maxOps: 2, maxTotalOps: 4, keys: 2 },
  { txns: 3, maxOps: 2, maxTotalOps: 4, keys: 2 },
]

describe.each([
  ['counters', COUNTERS, allCounters],
  ['ranges', RANGES, allRanges],
  ['sets', RANGES, allSets],
] as const)('%s', (_, families, all) => {
  it('are judged as brute force does: every small history', () => {
    const counts = { satisfied: 0, violated: 0, unknown: 0, compared: 0 }
    const confirmed = new Confirmed(SPANS)
    const stride = SAMPLED === 1 ? 1 : 2 * SAMPLED
    let number = 0
    for (const bounds of families) {
      for (const made of all(bounds)) {
        if (number++ % stride > 0 || made === null) continue
        counts.compared++
        compareWays(made, SESSIONS).forEach((verdict, i) => {
          counts[verdict]++
          confirmed.add(JUDGED[i]!, false, verdict)
        })
      }
    }
    confirmed.tell()
    expect(counts.satisfied).toBeGreaterThan(counts.compared)
    expect(counts.violated).toBeGreaterThan(counts.compared)
  }, 600_000)
})

const TIMED: readonly Bounds[] = [
  { txns: 2, maxOps: 2, maxTotalOps: 4, keys: 1 },
  { txns: 3, maxOps: 2, maxTotalOps: 4, keys: 2 },
]

describe.each([
  ['counters', allCounters],
  ['ranges', allRanges],
  ['sets', allSets],
] as const)('%s in time', (_, all) => {
  it('are judged as brute force does: timings of small histories', () => {
    const levels = JUDGED.filter((level) => /^(?:strong-si|ser\+lin|sser|lin)$/.test(level))
    const counts = { satisfied: 0, violated: 0, unknown: 0, compared: 0 }
    const confirmed = new Confirmed(SPANS)
    let number = 0
    const stride = SAMPLED === 1 ? 4 : 8 * SAMPLED
    const some = (draft: Draft) => [...everyTiming(draft)].filter(() => number++ % stride === 0)
    for (const bounds of TIMED) {
      for (const made of all(bounds, some)) {
        if (made === null) continue
        counts.compared++
        compareWays(made, SESSIONS, levels).forEach((verdict, i) => {
          counts[verdict]++
          confirmed.add(levels[i]!, false, verdict)
        })
      }
    }
    confirmed.tell()
    expect(counts.satisfied).toBeGreaterThan(50)
    expect(counts.violated).toBeGreaterThan(50)
  }, 600_000)
})

describe.each(KINDS)('%s', (made, kind, shape) => {
  it('are judged as brute force does on small histories', () => {
    const small: Kind = (draft, seed) =>
      kind({ ...draft, initial: kind === withRanges ? null : draft.initial }, seed)
    const counts = compare(small, { stride: SAMPLED === 1 ? 320 : 40 * SAMPLED }, SESSIONS)
    expect(counts.satisfied).toBeGreaterThan(100)
    expect(counts.violated).toBeGreaterThan(100)
  })

  it.each<[string, number, Orders, object]>([
    ['random histories', 600, SESSIONS, {}],
    ['times', 400, SESSIONS, { times: true }],
    ['real time', 240, { sessionOrder: true, realTime: true }, { times: true }],
    ['no session order', 200, { sessionOrder: false, realTime: false }, {}],
  ])('are judged as brute force does: %s', (name, seeds, orders, more) => {
    const wanted = { families: [], seeds: sampled(seeds), shape: { ...shape, ...more } }
    const counts = compare(kind, wanted, orders)
    expect(counts.satisfied).toBeGreaterThan(counts.compared)
    expect(counts.violated).toBeGreaterThan(counts.compared)
    if (made !== 'ranges' && made !== 'sets' && name === 'random histories') {
      expect(counts.open).toBeGreaterThan(counts.compared / 10)
    }
  })
})
