// sser of SQL histories against the oracle: ser, with whoever finished before another started
// before it. Transactions that were rolled back on purpose have a finish, indeterminate ones none.

import { describe, expect, test } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { type History, INDETERMINATE } from '../../src/history/history.ts'
import { certifyMixed } from '../../src/verdict/certify-mixed.ts'
import { sampled } from './compare.ts'
import { Confirmed } from './confirmed.ts'
import { randomSql } from './random-sql.ts'
import { historyOfSql, parseSql, renderSql } from './sql-draft.ts'
import { SqlOracle } from './sql-oracle.ts'

/** The history with times, in which the transactions of a session follow each other. */
function timed(history: History, random: Random): History {
  const { txnCount, txnStatus, txnSession, sessionCount } = history
  const clock = new Array<number>(sessionCount).fill(0)
  const txnStartTime = new Float64Array(txnCount)
  const txnFinishTime = new Float64Array(txnCount)
  for (let txn = 0; txn < txnCount; txn++) {
    const session = txnSession[txn]!
    txnStartTime[txn] = clock[session]! + random.below(3)
    clock[session] = txnStartTime[txn]! + random.below(4)
    txnFinishTime[txn] = txnStatus[txn] === INDETERMINATE ? Number.NaN : clock[session]!
  }
  return { ...history, txnStartTime, txnFinishTime }
}

/** Node -> mask of the nodes that finished before it started. */
function earlier({ txnCount, txnStartTime, txnFinishTime }: History): number[] {
  const masks = new Array<number>(txnCount + 1).fill(0)
  for (let later = 0; later < txnCount; later++) {
    for (let txn = 0; txn < txnCount; txn++) {
      if (txnFinishTime![txn]! < txnStartTime![later]!) masks[later + 1]! |= 1 << (txn + 1)
    }
  }
  return masks
}

describe('sser of SQL histories', () => {
  test('agrees with the oracle, every verdict certified', () => {
    const random = new Random(17)
    const seen = { satisfied: 0, violated: 0, byTime: 0 }
    const confirmed = new Confirmed('SQL')
    for (let seed = 40_001; seed <= 40_000 + sampled(4000); seed++) {
      const draft = randomSql(seed)
      const history = timed(historyOfSql(draft), random)
      const abortedReads = seed % 4 > 0 ? 'judge' : 'ignore'
      const oracle = new SqlOracle(history, abortedReads === 'judge')
      const levels = draft.sessions.flat().map(() => 'ser' as const)
      const { consistent } = oracle.decide(levels, earlier(history))
      const [result] = checkMixed(history, ['sser'], { abortedReads })
      const expected = consistent ? 'satisfied' : 'violated'
      const times = `${history.txnStartTime} / ${history.txnFinishTime}`
      expect(result!.verdict, `${seed}: ${times}\n${renderSql(draft)}`).toBe(expected)
      expect(result!.certificate!.verified, String(seed)).toBe(true)
      seen[expected]++
      confirmed.add('sser', true, expected)
      if (!consistent && oracle.decide(levels).consistent) seen.byTime++
    }
    confirmed.tell()
    expect(seen.satisfied).toBeGreaterThan(sampled(4000) / 20)
    expect(seen.byTime).toBeGreaterThan(sampled(4000) / 50)
  }, 120_000)

  const STALE = 'init: x=0\ns1: [ser] update(true) as w1 x@0=1\ns2: [ser] select(v = 0) x@0'

  test.each([
    [3, 'violated'],
    [2, 'satisfied'],
  ])('asks for what had finished: started at %s', (start, verdict) => {
    const history = historyOfSql(parseSql(STALE))
    const txnStartTime = Float64Array.of(1, start)
    const inTime = { ...history, txnStartTime, txnFinishTime: Float64Array.of(2, 9) }
    const [result] = checkMixed(inTime, ['sser'])
    expect(result).toMatchObject({ verdict, certificate: { verified: true } })
    if (verdict === 'violated') expect(result!.anomalies[0]!.name).toBe('StaleRead')
  })

  test('is certified by these times, and by no others', () => {
    const history = historyOfSql(parseSql(STALE))
    const started = (at: number): History => ({
      ...history,
      txnStartTime: Float64Array.of(1, at),
      txnFinishTime: Float64Array.of(2, 9),
    })
    for (const [at, other] of [
      [3, 2],
      [2, 3],
    ] as const) {
      const [result] = checkMixed(started(at), ['sser'])
      expect(certifyMixed(started(at), result!).problems).toEqual([])
      expect(certifyMixed(started(other), result!).problems).not.toEqual([])
      expect(certifyMixed(history, result!).problems).not.toEqual([])
    }
    // What takes real time proves nothing of ser.
    const [violated] = checkMixed(started(3), ['sser'])
    expect(certifyMixed(started(3), { ...violated!, level: 'ser' }).problems).not.toEqual([])
  })

  test('is unknown without times, unless ser is violated', () => {
    const [open] = checkMixed(historyOfSql(parseSql(STALE)), ['sser'])
    expect(open).toMatchObject({ verdict: 'unknown', reason: 'the history has no times' })
    const lost = 'init: x=0\ns1: [ser] update(true) as w1 x@0=1\ns2: [ser] update(true) as w2 x@0=2'
    expect(checkMixed(historyOfSql(parseSql(lost)), ['sser'])[0]!.verdict).toBe('violated')
  })
})
