// Orders for rc, ra and cc that leave reads stale, of histories large enough for every way in which
// the certifier judges them: small and large transactions, few and many sessions. Each order is
// accepted exactly when the axiom, tried read by read and writer by writer, accepts it; a certifier
// with one rule broken is caught.

import { describe, expect, it } from 'vitest'
import { FAMILIES, type Family, linesOf } from '../../bench/hard-families.ts'
import { Random } from '../../src/base/random.ts'
import { checkLevels } from '../../src/check/check.ts'
import { PlumeParser } from '../../src/formats/plume/read.ts'
import { afterAsReads } from '../../src/history/after-as-reads.ts'
import type { History } from '../../src/history/history.ts'
import { withoutSessionOrder } from '../../src/history/sessionless.ts'
import { certifyCommitOrder } from '../../src/verdict/certify-order.ts'
import { buildHistory, renderDraft } from '../small/draft.ts'
import { INIT, judge, type Situation, settle } from '../small/judge.ts'
import { satisfiesAxiom } from '../small/oracle.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'

const LEVELS = ['rc', 'ra', 'cc'] as const
type Level = (typeof LEVELS)[number]
type Certify = (history: History, level: Level, order: Int32Array) => boolean

const certify: Certify = (history, level, order) => {
  // Replays take reads for session order that goes beyond sessions.
  const replayed = history.after === null ? history : afterAsReads(history, level === 'ra').history
  return certifyCommitOrder(replayed, level, order).length === 0
}

interface Sample {
  readonly history: History
  readonly situation: Situation
  readonly name: string
  readonly orders: Int32Array[]
}

/** Orders that contain so, wr and ww: one that was found or any, and some a move away from it. */
function ordersOf(history: History, situation: Situation, random: Random): Int32Array[] {
  const txns = situation.txnOf.flatMap((number, txn) => (number > 0 ? [txn] : []))
  const must = situation.so.map((mask, t) => mask | situation.wr[t]! | situation.ww[t]!)
  const precedes = (a: number, b: number) =>
    ((must[situation.txnOf[b]!]! >> situation.txnOf[a]!) & 1) === 1
  const results = checkLevels(history, LEVELS, { certify: false })
  const orders = results.flatMap(({ proof }) =>
    proof?.kind === 'commit-order' ? [Array.from(proof.order)] : [],
  )
  if (orders.length === 0) {
    const order: number[] = []
    while (order.length < txns.length) {
      const ready = txns.filter(
        (txn) => !order.includes(txn) && txns.every((t) => !precedes(t, txn) || order.includes(t)),
      )
      if (ready.length === 0) return []
      order.push(random.pick(ready))
    }
    orders.push(order)
  }
  const moved = orders.slice()
  for (let i = 0; i < 12; i++) {
    const order = random.pick(moved).slice()
    const from = random.below(order.length)
    const [txn] = order.splice(from, 1)
    let [low, high] = [from, from]
    while (low > 0 && !precedes(order[low - 1]!, txn!)) low--
    while (high < order.length && !precedes(txn!, order[high]!)) high++
    order.splice(low + random.below(high - low + 1), 0, txn!)
    moved.push(order)
  }
  return moved.map((order) => Int32Array.from(order))
}

function* samples(seeds: number): Generator<Sample> {
  for (let seed = 1; seed <= seeds; seed++) {
    const random = new Random(seed)
    const shape = shapeOf(seed, {
      sessions: random.pick([1, 2, 3, 8, 20]),
      txns: 8 + random.below(20),
      maxOps: random.pick([3, 6, 30, 60]),
      keys: random.pick([1, 2, 4, 8, 40]),
      style: 'blind',
      sight: random.pick(['prefix', 'causal', 'causal', 'any'] as const),
      freshness: random.pick([0.9, 0.97, 1]),
      lists: random.pick([0, 0, 0.5, 1]),
      initial: 0,
      lead: 0,
      thinAir: 0,
      wild: 0,
      // Many versions of one key, of few sessions.
      ...(seed % 4 === 0 ? { sessions: random.pick([1, 2]), keys: 1, txns: 28, maxOps: 3 } : {}),
    })
    // What spells out the initial state would only shift the numbers of transactions.
    const { lead: _, ...draft } = randomHistory(seed, shape)
    const situation = judge(draft, settle(draft), { sessionOrder: true })
    if (situation.offences.length > 0 || situation.count < 3) continue
    const history = buildHistory(draft)
    const orders = ordersOf(history, situation, random)
    yield { history, situation, name: `seed ${seed}\n${renderDraft(draft)}`, orders }
  }
}

function holds({ situation }: Sample, level: Level, order: Int32Array): boolean {
  const before = new Array<number>(situation.count).fill(0)
  let placed = 1 << INIT
  for (const txn of order) {
    before[situation.txnOf[txn]!] = placed
    placed |= 1 << situation.txnOf[txn]!
  }
  return satisfiesAxiom(situation, before, level)
}

const CANARIES: Record<string, Certify> = {
  'knows no sessions': (history, level, order) =>
    certify(withoutSessionOrder(history), level, order),
  'takes ra for rc': (history, level, order) =>
    certify(history, level === 'ra' ? 'rc' : level, order),
  'takes cc for ra': (history, level, order) =>
    certify(history, level === 'cc' ? 'ra' : level, order),
  'takes rc for ra': (history, level, order) =>
    certify(history, level === 'rc' ? 'ra' : level, order),
}

describe('orders that leave reads stale', () => {
  it('are accepted exactly when the axiom accepts them', () => {
    const accepted = { rc: 0, ra: 0, cc: 0 }
    const rejected = { rc: 0, ra: 0, cc: 0 }
    const sleeping = new Set(Object.keys(CANARIES))
    for (const sample of samples(800)) {
      for (const level of LEVELS) {
        for (const order of sample.orders) {
          const expected = holds(sample, level, order)
          const name = `${level} ${order} of ${sample.name}`
          expect(certify(sample.history, level, order), name).toBe(expected)
          ;(expected ? accepted : rejected)[level]++
          for (const canary of sleeping) {
            const isCaught = CANARIES[canary]!(sample.history, level, order) !== expected
            if (isCaught) sleeping.delete(canary)
          }
        }
      }
    }
    expect([...sleeping]).toEqual([])
    for (const level of LEVELS) {
      expect(accepted[level], level).toBeGreaterThan(500)
      expect(rejected[level], level).toBeGreaterThan(500)
    }
  })
})

describe('the hardest families', () => {
  const build = (family: Family, side: number, change = (line: string) => line) => {
    const text = [...linesOf(family, side)].flat().map(change).join('\n')
    const parser = new PlumeParser()
    parser.push(new TextEncoder().encode(`${text}\n`))
    return parser.finish()
  }

  it('satisfy what the graph without triangles satisfies', () => {
    const satisfied = { edges: 'rc ra cc', 'one-session': 'rc', nodes: 'rc ra' }
    for (const family of FAMILIES) {
      const results = checkLevels(build(family, 9), LEVELS)
      const names = results.filter(({ verdict }) => verdict === 'satisfied').map((r) => r.level)
      expect(names.join(' '), family).toBe(satisfied[family])
    }
  })

  it('violate every level once an edge closes a triangle', () => {
    // An edge between nodes 0 and 1, which are on one side: each also writes the other's key.
    const side = 5
    const lines = [...linesOf('edges', side)]
    lines[0]!.push('w(1,1,0,0)')
    lines[1]!.push('w(0,2,1,1)')
    const parser = new PlumeParser()
    parser.push(new TextEncoder().encode(`${lines.flat().join('\n')}\n`))
    const results = checkLevels(parser.finish(), LEVELS)
    expect(results.map(({ verdict }) => verdict)).toEqual(['violated', 'violated', 'violated'])
  })
})
