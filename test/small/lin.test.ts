// Linearizability of lightweight transactions against a brute-force linearizer, every verdict
// certified; and the same operations through the formats.

import { describe, expect, it } from 'vitest'
import { Deadline } from '../../src/base/deadline.ts'
import { check } from '../../src/check/check.ts'
import { chooseWriters } from '../../src/check/writers/choose-writers.ts'
import { findContrary, guessLinear } from '../../src/check/writers/guess-linear.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { renderNotation } from '../../src/history/render-notation.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import { LONG, some } from '../long.ts'
import {
  type AtomicTxn,
  buildAtomicHistory,
  everyOneKeyHistory,
  isAtomic,
  randomAtomicTxns,
} from './atomic.ts'
import { Confirmed } from './confirmed.ts'
import { COLLAPSES, type Collapse } from './duplicates.ts'
import {
  buildLightHistory,
  isLinearizable,
  isLinearizableByChain,
  randomLightOps,
} from './linearizer.ts'

describe('check at lin', () => {
  it('agrees with the brute-force linearizer on 20,000 histories, if asked', () => {
    const count = { satisfied: 0, violated: 0, unknown: 0 }
    const confirmed = new Confirmed('compare-and-set')
    for (let seed = 1; seed <= some(20_000, 10); seed++) {
      const ops = randomLightOps(seed)
      const history = buildLightHistory(ops)
      const result = check(history, 'lin')
      const truth = isLinearizable(ops) ? 'satisfied' : 'violated'
      expect(isLinearizableByChain(ops)).toBe(isLinearizable(ops))
      expect(result.verdict, `seed ${seed}\n${renderNotation(history)}`).toBe(truth)
      expect(result.certificate?.verified).toBe(true)
      count[result.verdict]++
      confirmed.add('lin', true, truth)
    }
    confirmed.tell()
    expect(count.satisfied).toBeGreaterThan(some(3000, 10))
    expect(count.violated).toBeGreaterThan(some(3000, 10))
  })

  it('rejects a proof that leaves out or repeats an operation', () => {
    let rejected = 0
    for (let seed = 1; seed <= 300; seed++) {
      const history = buildLightHistory(randomLightOps(seed))
      const result = check(history, 'lin')
      if (result.proof?.kind !== 'commit-order') continue
      const order = [...result.proof.order]
      for (let i = 0; i < order.length; i++) {
        const wrong = order.filter((_, j) => j !== i)
        const proof = { kind: 'commit-order' as const, order: Int32Array.from(wrong) }
        expect(certifyPlain(history, { ...result, proof }).problems).not.toEqual([])
        proof.order = Int32Array.from([...order, order[i]!])
        expect(certifyPlain(history, { ...result, proof }).problems).not.toEqual([])
        rejected++
      }
    }
    expect(rejected).toBeGreaterThan(100)
  })

  const verdict = (notation: string) => check(parseNotation(`initial null\n${notation}`), 'lin')

  it('reports two that succeeded on one version', () => {
    const result = verdict('a: insert(x,1) [0,1]\nb: cas(x,1,2) [2,3]\nc: cas(x,1,3) [2,3]')
    expect(result.anomalies.map(({ name }) => name)).toEqual(['LostUpdate'])
    expect(verdict('a: insert(x,1) [0,1]\nb: cas(x,1,2) [2,3]\nc: cas(x,2,3) [2,3]').verdict).toBe(
      'satisfied',
    )
  })

  it('reports a stale read, and one from the future', () => {
    const stale = verdict('a: insert(x,1) [0,1]\nb: cas(x,1,2) [2,3]\nc: r(x,1) [4,5]')
    expect(stale.anomalies.map(({ name }) => name)).toEqual(['StaleRead'])
    const early = verdict('a: r(x,1) [0,1]\nb: insert(x,1) [2,3]')
    expect(early.anomalies.map(({ name }) => name)).toEqual(['G1c'])
    const failed = verdict('a: insert(x,1) [0,1]\nb: cas(x,1,2) [2,3]\nc: cas(x,7,8,1) [4,5]')
    expect(failed.verdict).toBe('violated')
  })

  it('lets an indeterminate operation take effect late or never', () => {
    const late = 'a: insert(x,1) [0,1]\nb: cas(x,1,2) [indeterminate start=2]\nc: r(x,1) [8,9]'
    expect(verdict(late).verdict).toBe('satisfied')
    expect(verdict(`${late}\nd: r(x,2) [10,11]`).verdict).toBe('satisfied')
    expect(verdict(`${late}\nd: r(x,2) [4,5]`).verdict).toBe('violated')
  })

  it('judges chains alone where there are no times', () => {
    expect(verdict('a: insert(x,1)\nb: cas(x,1,2)')).toMatchObject({
      verdict: 'unknown',
      reason: 'the history has no times',
    })
    expect(verdict('a: insert(x,1)\nb: cas(x,1,2)\nc: cas(x,1,3)').verdict).toBe('violated')
  })

  it('knows no session order, unlike sser', () => {
    const history = parseNotation('initial null\ns1: r(x,1) [0,3] | insert(x,1) [3,5]')
    expect(check(history, 'lin').verdict).toBe('satisfied')
    expect(check(history, 'sser').verdict).toBe('violated')
  })
})

/** Writes of equal values, read or not; what nobody wrote stays so. */
function collapsed(txns: readonly AtomicTxn[], by: Collapse): AtomicTxn[] {
  return txns.map((txn) => ({
    ...txn,
    ops: txn.ops.map(([kind, key, value]) => [kind, key, value < 90 ? by(value) : value] as const),
  }))
}

describe('check at lin, where values are written twice', () => {
  const confirmed = new Confirmed('values written twice')

  /** Counts verdicts, and how often the search itself says that there is no order. */
  function compare(histories: Iterable<{ txns: AtomicTxn[]; source: string }>) {
    const count = { satisfied: 0, violated: 0, contrary: 0, few: 0 }
    for (const { txns, source } of histories) {
      const history = buildAtomicHistory(txns, true)
      // What became a part of the initial transaction is another history.
      if (history.writers === null || history.txnIsInitial.includes(1)) continue
      const truth = isAtomic(txns) ? 'satisfied' : 'violated'
      const { verdict, certificate } = chooseWriters(history, { level: 'lin' })
      expect([verdict, certificate?.verified], `${source}\n${renderNotation(history)}`).toEqual([
        truth,
        true,
      ])
      count[truth]++
      confirmed.add('lin', source.startsWith('seed'), truth)
      const guess = guessLinear(history, Deadline.none())
      if (guess === null) continue
      expect('contrary' in guess, `${source}\n${renderNotation(history)}`).toBe(
        truth !== 'satisfied',
      )
      if (!('contrary' in guess)) continue
      const reads = findContrary(history, guess.contrary, Deadline.none())
      count.contrary++
      if (reads.length < history.writers.reads.length) count.few++
    }
    return count
  }

  it('agrees with brute force on small histories of one key', () => {
    function* small() {
      let number = 0
      for (const txns of everyOneKeyHistory()) {
        if (number++ % (LONG ? 1 : 40) !== 0) continue
        for (const by of COLLAPSES) yield { txns: collapsed(txns, by), source: `small ${number}` }
      }
    }
    const count = compare(small())
    expect(Math.min(...Object.values(count))).toBeGreaterThan(50)
  })

  it('agrees with brute force on random histories', () => {
    function* drawn() {
      for (let seed = 1; seed <= some(20_000, 10); seed++) {
        const by = COLLAPSES[seed % COLLAPSES.length]!
        yield { txns: collapsed(randomAtomicTxns(seed), by), source: `seed ${seed}` }
      }
    }
    const count = compare(drawn())
    expect(Math.min(...Object.values(count))).toBeGreaterThan(50)
    confirmed.tell()
  })
})

describe('lightweight operations', () => {
  it('come back from the notation', () => {
    const text = [
      's1: insert(x,1) | cas(x,1,2) | cas(x,1,5,2) | insert(x,7,2)',
      's2: r(x,2) cas(y,null,"a b") [aborted]',
      '',
    ].join('\n')
    const history = parseNotation(`initial null\n${text}`)
    expect(renderNotation(history)).toBe(`initial null\n${text}`)
    expect(history.opCount).toBe(2 + 2 + 1 + 1 + 3)
  })

  it('are judged at every level as the reads and writes they amount to', () => {
    const light = 's1: insert(x,1)\ns2: cas(x,1,2)\ns3: cas(x,1,3) | cas(x,5,6,3)'
    const plain = 's1: r(x,null) w(x,1)\ns2: r(x,1) w(x,2)\ns3: r(x,1) w(x,3) | r(x,3)'
    for (const level of ['rc', 'cc', 'pc', 'si', 'ser'] as const) {
      const a = check(parseNotation(`initial null\n${light}`), level)
      const b = check(parseNotation(`initial null\n${plain}`), level)
      expect(a.verdict).toBe(b.verdict)
      expect(a.anomalies).toEqual(b.anomalies)
    }
  })
})
