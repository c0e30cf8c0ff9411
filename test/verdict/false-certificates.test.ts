// Certificates that say what is not so, each next to a true one. All of them were accepted once.

import { describe, expect, it } from 'vitest'
import { check, checkLevels } from '../../src/check/check.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import type { History } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { certifyResult } from '../../src/verdict/certify.ts'
import { certifyPlain } from '../../src/verdict/certify-plain.ts'
import type { Anomaly, Edge, LevelResult } from '../../src/verdict/verdict.ts'
import { randomSql } from '../small/random-sql.ts'
import { historyOfSql } from '../small/sql-draft.ts'
import { afterInitial, op, rt, rw, so, wr, ww } from './edges.ts'
import { throughFile } from './through-file.ts'

function claim(level: LevelId, ...anomalies: Anomaly[]): LevelResult {
  return {
    level,
    verdict: 'violated',
    reason: null,
    impliedBy: null,
    algorithm: 'forged',
    elapsedMs: 0,
    stages: {},
    anomalies,
    proof: null,
    certificate: null,
  }
}

function anomaly(name: Anomaly['name'], parts: Partial<Anomaly>): Anomaly {
  return { name, count: 1, txns: [0], earlier: [], ops: [], edges: [], cases: [], ...parts }
}

const problemsOf = (history: History, result: LevelResult) => certifyPlain(history, result).problems

/** Whether the claim passes; what a level really is decides the checker. */
function expectFalse(history: History, result: LevelResult): void {
  const options = { sessionOrder: result.sessionOrder !== false }
  expect(check(history, result.level, options).verdict).not.toBe(result.verdict)
  expect(problemsOf(history, result)).not.toEqual([])
}

describe('certifyPlain refuses', () => {
  it('a read that differs from an earlier one of its own write, told backwards', () => {
    const history = parseNotation('s1: r(x,0) w(x,1) r(x,1)')
    const ops = [op(history, 'r(x,1)'), op(history, 'r(x,0)')]
    for (const level of ['ci', 'ra', 'cc', 'si'] as const) {
      expectFalse(history, claim(level, anomaly('NonRepeatableRead', { ops })))
    }
    const wrong = parseNotation('s1: w(x,1) r(x,1) r(x,0)')
    const result = check(wrong, 'ci')
    expect(result.anomalies.map(({ name }) => name)).toContain('NonRepeatableRead')
  })

  it('reads that differ in a transaction that aborted', () => {
    const history = parseNotation('s1: w(x,1)\ns2: r(x,0) r(x,1) [aborted]')
    const ops = [op(history, 'r(x,0)'), op(history, 'r(x,1)')]
    const found = anomaly('NonRepeatableRead', { ops, txns: [1, 0] })
    expectFalse(history, claim('ra', found))
    const committed = parseNotation('s1: w(x,1)\ns2: r(x,0) r(x,1)')
    expect(problemsOf(committed, claim('ra', found))).toEqual([])
  })

  it('lists that only aborted readers saw in different orders', () => {
    const appends = 's1: append(x,1)\ns2: append(x,2)\ns3: r(x,[1,2])\n'
    const history = parseNotation(`${appends}s4: r(x,[2,1]) [aborted]`)
    const ops = [op(history, 'r(x,[2,1])'), op(history, 'r(x,[1,2])')]
    const found = anomaly('IncompatibleOrder', { ops, txns: [3, 2] })
    expectFalse(history, claim('rc', found))
    expectFalse(history, claim('rc', { ...found, ops: ops.toReversed() }))
    const committed = parseNotation(`${appends}s4: r(x,[2,1])`)
    expect(problemsOf(committed, claim('rc', found))).toEqual([])
  })

  it('an order of versions that only an aborted reader saw', () => {
    const history = parseNotation('s1: append(x,1) | append(x,2)\ns2: r(x,[2,1]) [aborted]')
    const shown = op(history, 'r(x,[2,1])')
    const order = ww(history, op(history, 'append(x,2)'), op(history, 'append(x,1)'), {
      premises: [],
    })
    order.ops.push(shown)
    expectFalse(history, claim('rc', anomaly('G0', { edges: [so(0, 1), order], txns: [0, 1] })))
    const committed = parseNotation('s1: append(x,1) | append(x,2)\ns2: r(x,[2,1])')
    const found = anomaly('G0', { edges: [so(0, 1), order], txns: [0, 1] })
    expect(problemsOf(committed, claim('rc', found))).toEqual([])
  })

  /** Each reads what the other wrote; the second follows the first in its session. */
  const circle = (...edges: Edge[]) =>
    anomaly('CircularInformationFlow', { edges, txns: [...new Set(edges.map(({ from }) => from))] })

  it('cut isolation violated by a circle', () => {
    const history = parseNotation('s1: w(x,1) r(y,1)\ns2: r(x,1) w(y,1)')
    const found = circle(wr(history, op(history, 'r(x,1)')), wr(history, op(history, 'r(y,1)')))
    expectFalse(history, claim('ci', found))
    expect(problemsOf(history, claim('rc', found))).toEqual([])
  })

  it('pl-2 violated by session order', () => {
    const history = parseNotation('s1: r(x,1) | w(x,1)')
    const found = circle(so(0, 1), wr(history, op(history, 'r(x,1)')))
    expectFalse(history, claim('pl-2', found))
    expect(problemsOf(history, claim('rc', found))).toEqual([])
    expectFalse(history, { ...claim('rc', found), sessionOrder: false })
  })

  it('linearizability violated by session order', () => {
    const history = parseNotation('s1: r(x,1) [0,3] | w(x,1) [3,5]')
    const found = circle(so(0, 1), wr(history, op(history, 'r(x,1)')))
    expectFalse(history, claim('lin', found))
    expect(problemsOf(history, claim('sser', found))).toEqual([])
  })

  it('names and counts that do not fit', () => {
    const history = parseNotation('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)\ns3: r(y,7) r(z,7)')
    const result = check(history, 'ser')
    expect(problemsOf(history, result)).toEqual([])
    const [thin, lost] = result.anomalies
    expect([thin?.name, thin?.count, lost?.name]).toEqual(['ThinAirRead', 2, 'LostUpdate'])
    const wrong: Partial<Anomaly>[][] = [
      [{ count: 1 }, {}],
      [{ count: 3 }, {}],
      [{ name: 'AbortedRead' }, {}],
      [{ txns: [0] }, {}],
      [{ ops: [...thin!.ops, 0] }, {}],
      [{}, { count: 0 }],
      [{}, { count: history.opCount + 1 }],
      [{}, { name: 'WriteSkew' }],
      [{}, { name: 'G2-item' }],
      [{}, { name: 'ThinAirRead' }],
    ]
    for (const [first, second] of wrong) {
      const anomalies = [
        { ...thin!, ...first },
        { ...lost!, ...second },
      ]
      expect(
        problemsOf(history, { ...result, anomalies }),
        JSON.stringify([first, second]),
      ).not.toEqual([])
    }
  })

  it('a verdict with the evidence of the other', () => {
    const good = parseNotation('s1: w(x,1)\ns2: r(x,1)')
    const bad = parseNotation('s1: w(x,1)\ns2: r(x,2)')
    for (const level of ['rc', 'ser'] as const) {
      const [satisfied, violated] = [check(good, level), check(bad, level)]
      expect(problemsOf(good, satisfied)).toEqual([])
      expect(problemsOf(good, { ...satisfied, anomalies: violated.anomalies })).not.toEqual([])
      expect(problemsOf(good, { ...satisfied, verdict: 'violated' })).not.toEqual([])
      expect(problemsOf(bad, { ...violated, proof: satisfied.proof })).not.toEqual([])
    }
  })
})

describe('certifyPlain without all times refuses', () => {
  const TIMED =
    'initial 0\ns1: w(x,1) [start=0 finish=1]\ns2: w(y,1) [start=2 finish=3]\n' +
    's3: r(y,1) r(x,0) [start=0 finish=9]\n'
  const COMPLETE = `${TIMED}s4: r(z,0) [start=0 finish=9]`
  const MISSING = [`${TIMED}s4: r(z,0)`, `${TIMED}s4: r(z,0) [start=0]`]

  it('real time respected', () => {
    for (const level of ['rc', 'cc', 'ser', 'strong-session-pl-1'] as const) {
      const timeless = parseNotation('s1: w(x,1)\ns2: r(x,1)')
      const proved = { ...check(timeless, level), realTime: true as const }
      expect(problemsOf(timeless, proved), level).toEqual(['the history has no times'])
    }
    const complete = check(parseNotation(COMPLETE), { level: 'ra', realTime: true })
    expect(problemsOf(parseNotation(COMPLETE), complete)).toEqual([])
    for (const text of MISSING) {
      expect(problemsOf(parseNotation(text), complete)).toEqual(['the history has no times'])
    }
  })

  it('linearizability violated by the clock of other keys', () => {
    for (const text of [COMPLETE, ...MISSING]) {
      const history = parseNotation(text)
      const [w, r] = [op(history, 'w(x,1)'), op(history, 'r(x,0)')]
      const missed = rw(history, r, afterInitial(history, w))
      const edges = [rt(0, 1), wr(history, op(history, 'r(y,1)')), missed]
      const found = anomaly('StaleRead', { edges, txns: [0, 1, 2] })
      expectFalse(history, claim('ser+lin', found))
      expect(problemsOf(history, claim('sser', found))).toEqual([])
    }
  })
})

describe('certifyResult', () => {
  it('verifies verdicts on every kind of history, and leaves them as they are', async () => {
    const plain = parseNotation('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)')
    const sql = historyOfSql(randomSql(5))
    for (const [history, other, results] of [
      [plain, 'mixed', checkLevels(plain, ['ci', 'rc', 'si', 'ser'])],
      [sql, 'lin', checkMixed(sql, null)],
    ] as const) {
      for (const result of results) {
        const before = structuredClone(result)
        expect(await certifyResult(history, result)).toEqual([])
        expect(await certifyResult(history, { ...result, level: other })).not.toEqual([])
        expect(result).toEqual(before)
      }
    }
  })
})

describe('resolveResults', () => {
  const history = parseNotation('s1: w(x,1)\ns2: r(x,1)')
  const results = [check(history, 'ser')]

  it('refuses numbers that are no transactions, or would come out as others', () => {
    expect(throughFile(history, results)[0]!.proof).toEqual(results[0]!.proof)
    for (const order of ['[4294967296,1]', '[0,4294967297]', '[0,2]', '[0,1.5]', '[0,"1"]']) {
      const forge = (text: string) => text.replace('"order":[0,1]', `"order":${order}`)
      expect(() => throughFile(history, results, forge), order).toThrow(/no transaction|counts/)
    }
  })

  it('refuses a file without a verdict', () => {
    expect(() => throughFile(history, [])).toThrow('it holds no verdict')
  })
})
