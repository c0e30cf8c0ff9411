// Levels without session order, and those that Jepsen names, against brute force.

import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { findRequest } from '../../src/levels/words.ts'
import { isPl2 } from './adya.ts'
import {
  type CompareOptions,
  compareWithOracle,
  draftsFor,
  FEWER,
  SAMPLED,
  sampled,
} from './compare.ts'
import { buildHistory, type Draft, renderDraft } from './draft.ts'
import { INIT, judge, type Situation, settle } from './judge.ts'
import { isAcyclic, ORACLE_LEVELS, type OracleLevel, profileOf } from './oracle.ts'

function decide(history: History, level: OracleLevel) {
  const result = check(history, level, { sessionOrder: false })
  if (result.verdict !== 'unknown') expect(result.certificate?.verified).toBe(true)
  return result.verdict
}

describe('check without session order', () => {
  it.each<[string, CompareOptions]>([
    ['small histories', { stride: (SAMPLED === 1 ? 61 : 122) * FEWER }],
    ['random histories', { families: [], seeds: sampled(4000) }],
    ['random histories of lists', { families: [], seeds: sampled(2000), shape: { lists: 1 } }],
  ])('agrees with brute force on %s', (_, options) => {
    const outcome = compareWithOracle(decide, ORACLE_LEVELS, { ...options, sessionOrder: false })
    expect(outcome.disagreement).toBeNull()
    for (const level of ORACLE_LEVELS) expect(outcome.violated[level]).toBeGreaterThan(sampled(160))
    for (const level of ORACLE_LEVELS)
      expect(outcome.satisfied[level]).toBeGreaterThan(sampled(160))
  })
})

const situationOf = (draft: Draft) => judge(draft, settle(draft), { sessionOrder: false })

describe('pl-2', () => {
  it('agrees with brute force, and is what Jepsen calls read committed', () => {
    const counts = { true: 0, false: 0 }
    const rewriting = { rewrites: true, wild: 0.4, maxOps: 4, keys: 1 }
    const choices: CompareOptions[] = [
      { families: [], seeds: sampled(6000) },
      { families: [], seeds: sampled(4000), shape: rewriting },
      { families: [], seeds: sampled(3000), shape: { ...rewriting, lists: 1, keys: 2 } },
      { stride: 97 * FEWER },
    ]
    for (const options of choices) {
      for (const { draft, source } of draftsFor(options)) {
        const expected = isPl2(draft)
        const result = check(buildHistory(draft), findRequest('read-committed')!)
        expect(result.certificate?.verified).toBe(true)
        expect(result.verdict, `${source}\n${renderDraft(draft)}`).toBe(
          expected ? 'satisfied' : 'violated',
        )
        counts[`${expected}`]++
      }
    }
    expect(Math.min(counts.true, counts.false)).toBeGreaterThan(500)
  })

  it.each([
    ['an intermediate read', 's1: w(x,9) r(x,1)\ns2: w(x,1) w(x,2)', ['IntermediateRead']],
    ['a whole version', 's1: w(x,9) r(x,1)\ns2: w(x,1)', []],
    ['a circle', 's1: w(x,9) r(x,1)\ns2: r(x,9) w(x,1)', ['CircularInformationFlow']],
    ['a circle of one', 's1: w(x,9) r(x,8) w(x,8)', []],
    [
      'part of what was appended',
      's1: append(x,9) r(x,[1])\ns2: append(x,1) append(x,2)',
      ['IntermediateRead'],
    ],
    ['all of what was appended', 's1: append(x,9) r(x,[1,2])\ns2: append(x,1) append(x,2)', []],
    ['an aborted write', 's1: w(x,9) r(x,1)\ns2: w(x,1) [aborted]', ['AbortedRead']],
  ])('judges what a transaction reads over its own write: %s', (_, notation, names) => {
    const result = check(parseNotation(notation), 'pl-2')
    expect(result.anomalies.map(({ name }) => name)).toEqual(names)
    expect(result.certificate?.verified).toBe(true)
  })

  it('is weaker than rc', () => {
    for (const { draft } of draftsFor({ families: [], seeds: sampled(3000), firstSeed: 9000 })) {
      const rc = profileOf(draft, { sessionOrder: false }).rc
      if (rc === 'satisfied') expect(isPl2(draft)).toBe(true)
    }
  })
})

/**
 * Monotonic atomic view, by the phenomena it forbids (Bailis et al.): G0, G1 and observed
 * transaction vanishes, for some order of the versions of every key. Reads that contradict their
 * own transaction are left to read consistency.
 */
function monotonicAtomicView(situation: Situation): boolean {
  if (situation.offences.length > 0) return false
  const keys = [...situation.writers.keys()]
  const orders = new Map<string, number[]>() // key -> its writers, oldest first
  const before = situation.wr.map((mask, txn) => mask | situation.ww[txn]!)
  const tryKey = (at: number): boolean => {
    if (at === keys.length) return isAcyclic(before) && !vanishes(situation, orders)
    const writers: number[] = []
    for (let txn = 0; txn < situation.count; txn++) {
      if ((situation.writers.get(keys[at]!)! & (1 << txn)) !== 0) writers.push(txn)
    }
    for (const order of permutations(writers)) {
      if (order.includes(INIT) && order[0] !== INIT) continue
      orders.set(keys[at]!, order)
      const kept = before.slice()
      for (let i = 1; i < order.length; i++) before[order[i]!]! |= 1 << order[i - 1]!
      const works = tryKey(at + 1)
      kept.forEach((mask, txn) => {
        before[txn] = mask
      })
      if (works) return true
    }
    return false
  }
  return tryKey(0)
}

/** A transaction read from another one, and later an older version of what that one wrote. */
function vanishes(situation: Situation, orders: ReadonlyMap<string, number[]>): boolean {
  return situation.reads.some((later) =>
    situation.reads.some((earlier) => {
      if (earlier.reader !== later.reader || earlier.op >= later.op) return false
      const order = orders.get(later.key)!
      return order.indexOf(earlier.from) > order.indexOf(later.from)
    }),
  )
}

function* permutations(items: readonly number[]): Generator<number[]> {
  if (items.length === 0) yield []
  for (const [i, first] of items.entries()) {
    const rest = [...items.slice(0, i), ...items.slice(i + 1)]
    for (const others of permutations(rest)) yield [first, ...others]
  }
}

describe('monotonic atomic view', () => {
  it('is read committed without session order', () => {
    const counts = { satisfied: 0, violated: 0 }
    for (const options of [{ families: [], seeds: sampled(3000) }, { stride: 151 }]) {
      for (const { draft, source } of draftsFor(options)) {
        const situation = situationOf(draft)
        if (situation.count > 7) continue
        const verdict = profileOf(draft, { sessionOrder: false }).rc
        const expected = monotonicAtomicView(situation) ? 'satisfied' : 'violated'
        expect(expected, `${source}\n${renderDraft(draft)}`).toBe(verdict)
        counts[expected]++
      }
    }
    expect(Math.min(counts.satisfied, counts.violated)).toBeGreaterThan(300)
  })
})
