// Proofs of satisfied strong levels against brute force: every order of the transactions, and every
// sequence of snapshots and commits, is accepted exactly when the axioms accept it.

import { describe, expect, it } from 'vitest'
import { afterAsReads } from '../../src/history/after-as-reads.ts'
import type { History } from '../../src/history/history.ts'
import { certifyCut } from '../../src/verdict/certify-cut.ts'
import { certifyCommitOrder } from '../../src/verdict/certify-order.ts'
import { certifySnapshots } from '../../src/verdict/certify-snapshots.ts'
import { LONG, some } from '../long.ts'
import { draftsFor } from '../small/compare.ts'
import { buildHistory, renderDraft } from '../small/draft.ts'
import { permutations } from '../small/graph-forms.ts'
import { INIT, judge, type Situation, settle } from '../small/judge.ts'
import { type OracleLevel, profileOf, satisfiesAxiom } from '../small/oracle.ts'

interface Sample {
  readonly history: History
  readonly situation: Situation
  readonly counting: number[]
  readonly name: string
}

function* samples(maxTxns: number): Generator<Sample> {
  const lists = { families: [], seeds: 400, shape: { lists: 1, txns: 3, sessions: 2 } }
  for (const options of [{ stride: 300, seeds: 600 }, lists]) {
    for (const { draft: drawn, source } of draftsFor(options)) {
      // What spells out the initial state has no place in an order.
      const { lead: _, ...draft } = drawn
      const situation = judge(draft, settle(draft), { sessionOrder: true })
      const counting = situation.txnOf.flatMap((number, txn) => (number > 0 ? [txn] : []))
      if (counting.length > maxTxns || counting.length === 0) continue
      const name = `${source}\n${renderDraft(draft)}`
      // Replays take reads for session order that goes beyond sessions.
      const built = buildHistory(draft)
      const history = built.after === null ? built : afterAsReads(built, false).history
      yield { history, situation, counting, name }
    }
  }
}

/** Whether the axioms of the level hold under this commit order. */
function holds({ situation }: Sample, level: OracleLevel, order: readonly number[]): boolean {
  if (situation.offences.length > 0) return false
  if (level === 'sser' && situation.rt === null) return false
  const before = new Array<number>(situation.count).fill(0)
  let placed = 1 << INIT
  for (const txn of order) {
    const number = situation.txnOf[txn]!
    before[number] = placed
    placed |= 1 << number
  }
  const must = situation.so.map((mask, t) => mask | situation.wr[t]! | situation.ww[t]!)
  if (must.some((mask, t) => (mask & before[t]!) !== mask)) return false
  return satisfiesAxiom(situation, before, level)
}

/** Every sequence in which each transaction takes a snapshot and commits later. */
function* sequences(txns: readonly number[]): Generator<number[]> {
  const events: number[] = []
  const done = new Map(txns.map((txn) => [txn, 0]))
  function* extend(): Generator<number[]> {
    if (events.length === 2 * txns.length) yield events
    for (const txn of txns) {
      const stage = done.get(txn)!
      if (stage === 2) continue
      done.set(txn, stage + 1)
      events.push(2 * txn + stage)
      yield* extend()
      events.pop()
      done.set(txn, stage)
    }
  }
  yield* extend()
}

describe('certifyCommitOrder', () => {
  it('accepts exactly the orders that satisfy ser and sser', () => {
    const count = { accepted: 0, rejected: 0 }
    for (const sample of samples(4)) {
      for (const order of permutations(sample.counting)) {
        for (const level of ['ser', 'sser'] as const) {
          const problems = certifyCommitOrder(sample.history, level, Int32Array.from(order))
          const expected = holds(sample, level, order)
          expect(problems.length === 0, `${level} ${order} of ${sample.name}`).toBe(expected)
          count[expected ? 'accepted' : 'rejected']++
        }
      }
    }
    expect(count.accepted).toBeGreaterThan(500)
    expect(count.rejected).toBeGreaterThan(500)
  })

  it('rejects orders that leave out, repeat or invent a transaction', () => {
    for (const sample of samples(3)) {
      const order = Int32Array.from(sample.counting)
      for (const level of ['pc', 'si', 'ser', 'sser'] as const) {
        const { history } = sample
        expect(certifyCommitOrder(history, level, order.slice(1))).not.toEqual([])
        expect(certifyCommitOrder(history, level, Int32Array.of(...order, order[0]!))).not.toEqual(
          [],
        )
        expect(certifyCommitOrder(history, level, Int32Array.of(...order, 99))).not.toEqual([])
      }
    }
  })
})

describe('certifyCut', () => {
  it('accepts exactly the histories that satisfy ci', () => {
    const count = { satisfied: 0, violated: 0, unknown: 0 }
    for (const options of [
      { stride: LONG ? 20 : 60, seeds: some(1500, 2) },
      { families: [], seeds: 500, shape: { lists: 1 } },
    ]) {
      for (const { draft, source } of draftsFor(options)) {
        const { ci } = profileOf(draft)
        const problems = certifyCut(buildHistory(draft))
        const name = `${source}\n${renderDraft(draft)}`
        expect(problems.length === 0, name).toBe(ci === 'satisfied')
        count[ci]++
      }
    }
    expect(count.satisfied).toBeGreaterThan(500)
    expect(count.violated).toBeGreaterThan(300)
  })
})

describe('certifySnapshots', () => {
  it('accepts a sequence only if its commits satisfy the axioms, and one for each such order', () => {
    let accepted = 0
    for (const sample of samples(3)) {
      for (const level of ['pc', 'si'] as const) {
        const proved = new Set<string>()
        for (const events of sequences(sample.counting)) {
          const problems = certifySnapshots(sample.history, level, Int32Array.from(events))
          if (problems.length > 0) continue
          const order = events.filter((event) => event % 2 === 1).map((event) => event >> 1)
          expect(holds(sample, level, order), `${level} ${events} of ${sample.name}`).toBe(true)
          proved.add(order.join())
        }
        for (const order of permutations(sample.counting)) {
          if (!holds(sample, level, order)) continue
          expect(proved.has(order.join()), `${level} ${order} of ${sample.name}`).toBe(true)
          accepted++
        }
      }
    }
    expect(accepted).toBeGreaterThan(500)
  })

  it('rejects sequences that leave out, repeat or invent an event', () => {
    for (const { history, counting } of samples(3)) {
      const events = counting.flatMap((txn) => [2 * txn, 2 * txn + 1])
      const spoilt = [
        ...events.map((_, i) => events.filter((_, j) => j !== i)),
        ...events.map((event) => [...events, event]),
        [...events, 198, 199],
        [...events].reverse(),
      ]
      for (const level of ['pc', 'si'] as const) {
        for (const wrong of spoilt) {
          expect(certifySnapshots(history, level, Int32Array.from(wrong))).not.toEqual([])
        }
      }
    }
  })

  it('proves no other level', () => {
    for (const level of ['rc', 'cc', 'ser', 'sser'] as const) {
      for (const { history, counting } of samples(1)) {
        const events = Int32Array.from(counting.flatMap((txn) => [2 * txn, 2 * txn + 1]))
        expect(certifySnapshots(history, level, events)).not.toEqual([])
      }
    }
  })
})
