// The argument of docs/beyond-memory.md, by brute force, from the definitions alone: what is forced
// against an order comes from stale reads, and every cycle lies within one connected stretch of the
// intervals that such edges span. And the certificate's twin: orders are accepted on disk exactly
// where they are in memory.

import { afterAll, describe, expect, it } from 'vitest'
import { Random } from '../../../src/base/random.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { Scratch } from '../../../src/files/scratch.ts'
import { type History, INITIAL, NONE, WRITE } from '../../../src/history/history.ts'
import { certifyOnDisk } from '../../../src/spill/certify-on-disk.ts'
import { orderOf } from '../../../src/spill/commit-order.ts'
import { partition } from '../../../src/spill/partition.ts'
import { certifyCommitOrder } from '../../../src/verdict/certify-order.ts'
import { draftsFor, SAMPLED } from '../../small/compare.ts'
import { causes, isSnapshotOrder, type Pair, PLAIN } from './definitions.ts'
import { Files, TINY, tell } from './told.ts'

const LEVELS = ['rc', 'ra', 'cc'] as const
const CERTIFIED = [...LEVELS, 'si', 'ser'] as const

function closure(count: number, pairs: readonly Pair[]): boolean[][] {
  const reach = Array.from({ length: count }, () => new Array<boolean>(count).fill(false))
  for (const [a, b] of pairs) reach[a]![b] = true
  for (let k = 0; k < count; k++) {
    for (let a = 0; a < count; a++) {
      if (reach[a]![k]) for (let b = 0; b < count; b++) if (reach[k]![b]) reach[a]![b] = true
    }
  }
  return reach
}

interface Forced {
  readonly from: number
  readonly to: number
  readonly read: number
}

/** All that the level forces: t2 before t1 where t3 read x from t1 and t2, which writes x, shows. */
function forcedBy(
  history: History,
  opSource: Int32Array,
  level: (typeof LEVELS)[number],
): Forced[] {
  const { txnCount, opCount, opTxn, opKind, opKey, txnSession, txnOpStart } = history
  const hb = closure(txnCount, causes(history, opSource))
  const forced: Forced[] = []
  for (let read = 0; read < opCount; read++) {
    const to = opSource[read]!
    if (to === NONE) continue
    const reader = opTxn[read]!
    for (let from = 0; from < txnCount; from++) {
      const writes = Array.from(opKey.subarray(txnOpStart[from]!, txnOpStart[from + 1]!)).some(
        (key, i) => key === opKey[read] && opKind[txnOpStart[from]! + i] === WRITE,
      )
      if (!writes || from === to || from === reader) continue
      const readsBefore = (limit: number) => {
        for (let op = txnOpStart[reader]!; op < limit; op++) if (opSource[op] === from) return true
        return false
      }
      const isBefore = txnSession[from] === txnSession[reader] && from < reader
      const shows =
        level === 'rc'
          ? readsBefore(read)
          : level === 'ra'
            ? isBefore || readsBefore(txnOpStart[reader + 1]!)
            : hb[from]![reader]!
      if (shows) forced.push({ from, to, read })
    }
  }
  return forced
}

/** A seeded order that contains the pairs; null if there is none. */
function someOrder(count: number, pairs: readonly Pair[], random: Random): number[] | null {
  const order: number[] = []
  const left = new Set(Array.from({ length: count }, (_, i) => i))
  while (left.size > 0) {
    const free = [...left].filter((b) => !pairs.some(([a, c]) => c === b && left.has(a)))
    if (free.length === 0) return null
    const next = random.pick(free)
    order.push(next)
    left.delete(next)
  }
  return order
}

describe('what is forced against an order', () => {
  it('comes from stale reads, and its cycles lie within one stretch', () => {
    let cyclic = 0
    const shape = { ...PLAIN, txns: 9, sessions: 4, keys: 3 }
    for (const options of [
      { stride: SAMPLED * 10 },
      { families: [], seeds: SAMPLED === 1 ? 5000 : 200, shape },
    ]) {
      for (const { draft, source } of draftsFor(options)) {
        const history = tell(draft, 1)
        if (history === null || history.txnCounts.includes(0)) continue
        const { opSource } = checkReads(history)
        const random = new Random(cyclic + 1)
        const pairs = causes(history, opSource)
        const order = someOrder(history.txnCount, pairs, random)
        if (order === null) continue
        for (const level of LEVELS) cyclic += expectClaim(history, opSource, order, level, source)
      }
    }
    expect(cyclic).toBeGreaterThan(20)
  }, 600_000)
})

function expectClaim(
  history: History,
  opSource: Int32Array,
  order: readonly number[],
  level: (typeof LEVELS)[number],
  source: string,
): number {
  const { txnCount, opTxn } = history
  const at = (txn: number) => (txn === INITIAL ? -1 : order.indexOf(txn))
  const forced = forcedBy(history, opSource, level)
  const back = forced.filter(({ from, to }) => at(from) > at(to))
  // Stale: between what was read and the reader somebody wrote the key, and `from` is such a one.
  for (const { from, to, read } of back) {
    expect(at(from) > at(to) && at(from) < at(opTxn[read]!), source).toBe(true)
  }
  const spans = back.map(({ from, to }): Pair => [at(to), at(from)]).sort((a, b) => a[0] - b[0])
  const stretches: Pair[] = []
  for (const [low, high] of spans) {
    const last = stretches.at(-1)
    if (last && low <= last[1]) last[1] = Math.max(last[1], high)
    else stretches.push([low, high])
  }
  const all = [...causes(history, opSource), ...forced.map(({ from, to }): Pair => [from, to])]
  const reach = closure(
    txnCount,
    all.filter(([, to]) => to >= 0),
  )
  let cyclic = 0
  for (let a = 0; a < txnCount; a++) {
    for (let b = 0; b < txnCount; b++) {
      if (!reach[a]![b] || !reach[b]![a]) continue
      cyclic++
      const inside = stretches.some(([low, high]) =>
        [at(a), at(b)].every((position) => position >= low && position <= high),
      )
      expect(inside, `${source}: a cycle of ${level} lies within one stretch`).toBe(true)
    }
  }
  return cyclic
}

describe('certifyOnDisk', () => {
  const files = new Files()
  afterAll(() => files.remove())

  it('accepts the orders that are accepted in memory, and no others', () => {
    const seen = { accepted: 0, refused: 0 }
    const shape = { ...PLAIN, txns: 7, sessions: 3, keys: 2 }
    const seeds = SAMPLED === 1 ? 2000 : 24
    for (const { draft, source } of draftsFor({ families: [], seeds, firstSeed: 50, shape })) {
      const history = tell(draft, 3)
      if (history === null) continue
      const scratch = new Scratch(files.directory)
      const spilled = partition(files.native(history), scratch, TINY, { memoryBytes: 2 ** 20 })
      const random = new Random(seen.accepted + 1)
      const so = causes(history, new Int32Array(0))
      const all = causes(history, checkReads(history).opSource)
      for (const pairs of [[], so.slice(0, -1), so, all, all]) {
        const order = Int32Array.from(someOrder(history.txnCount, pairs, random) ?? [])
        if (order.length !== history.txnCount) continue
        for (const level of CERTIFIED) {
          const inMemory = () => certifyCommitOrder(history, level, order).length === 0
          const expected = level === 'si' ? isSnapshotOrder(history, order) : inMemory()
          const { problems, gaveUp } = certifyOnDisk(spilled, level, orderOf(order), {
            scratch,
            onStep: () => {},
          })
          expect(gaveUp).toBeNull()
          expect(problems.length === 0, `${source} at ${level}: ${problems}`).toBe(expected)
          seen[expected ? 'accepted' : 'refused']++
        }
      }
      scratch.close()
    }
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(20)
  }, 600_000)
})
