import { describe, expect, it } from 'vitest'
import { check } from '../../../src/check/check.ts'
import { findParts, mergeOrders } from '../../../src/check/general/parts.ts'
import { checkReads } from '../../../src/check/reads/read-consistency.ts'
import { HistoryBuilder } from '../../../src/history/builder.ts'
import { COMMITTED, type History } from '../../../src/history/history.ts'
import { parseNotation } from '../../../src/history/notation.ts'

function partsOf(notation: string, biconnected = true): number[][] {
  const history = parseNotation(notation)
  const parts = findParts(history, checkReads(history), biconnected)
  return parts.map((part) => [...part]).sort((a, b) => a[0]! - b[0]! || a[1]! - b[1]!)
}

/** Pairs of sessions that hand two keys back and forth, one pair after another. */
function pairsOfSessions(pairs: number, txns: number, spoilt: number): History {
  const builder = new HistoryBuilder(0)
  for (let pair = 0; pair < pairs; pair++) {
    const [x, y] = [`x${pair}`, `y${pair}`]
    const left = builder.session(`${pair}l`)
    const right = builder.session(`${pair}r`)
    for (let i = 1; i <= txns; i++) {
      const a = builder.addTxn(left, COMMITTED)
      builder.write(a, x, i)
      builder.read(a, y, i - 1)
      const b = builder.addTxn(right, COMMITTED)
      // One late pair reads backwards: a session that has seen version i goes on with version 1.
      builder.read(b, x, pair === spoilt && i === txns ? 1 : i)
      builder.write(b, y, i)
    }
  }
  return builder.finish()
}

describe('findParts', () => {
  it('splits where sessions share a single session', () => {
    const chain = 's0: w(x,1)\ns1: r(x,1) w(y,1)\ns2: r(y,1)'
    expect(partsOf(chain)).toEqual([
      [0, 1],
      [1, 2],
    ])
    expect(partsOf(chain, false)).toEqual([[0, 1, 2]])
  })

  it('keeps a ring of sessions together', () => {
    const ring = 's0: w(x,1) w(z,1)\ns1: r(x,1) w(y,1)\ns2: r(y,1) r(z,1)'
    expect(partsOf(ring)).toEqual([[0, 1, 2]])
  })

  it('keeps all sessions of one key together', () => {
    expect(partsOf('s0: w(x,1)\ns1: r(x,1)\ns2: r(x,0)\ns3: r(x,1)')).toEqual([[0, 1, 2, 3]])
  })

  it('takes no notice of keys that nobody writes', () => {
    expect(partsOf('s0: r(x,0)\ns1: r(x,0)')).toEqual([[0], [1]])
  })
})

describe('mergeOrders', () => {
  it('keeps the order of every part', () => {
    const orders = [Int32Array.of(3, 0, 2), Int32Array.of(1, 3, 4)]
    const merged = mergeOrders(orders, 6)
    expect([...merged].sort()).toEqual([0, 1, 2, 3, 4])
    for (const order of orders) {
      const places = [...order].map((event) => merged.indexOf(event))
      expect(places).toEqual(places.toSorted((a, b) => a - b))
    }
  })
})

describe('check by parts', () => {
  it('violates sser though both biconnected parts satisfy it', () => {
    const notation = 's0: w(x,1) r(y,1) [0,10]\ns1: r(x,1) [1,2]\ns2: w(y,1) [3,4]'
    const history = parseNotation(notation)
    expect(check(history, 'ser', { algorithm: 'solve' }).verdict).toBe('satisfied')
    expect(check(history, 'sser', { algorithm: 'solve' }).verdict).toBe('violated')
  })

  it('decides a thousand sessions in pairs, and finds the one pair that is wrong', () => {
    for (const level of ['pc', 'si', 'ser'] as const) {
      const sound = check(pairsOfSessions(500, 20, -1), level, { algorithm: 'solve' })
      expect(sound.verdict).toBe('satisfied')
      expect(sound.certificate?.verified).toBe(true)
      const wrong = check(pairsOfSessions(500, 20, 499), level, { algorithm: 'solve' })
      expect(wrong.verdict).toBe('violated')
      expect(wrong.certificate?.verified).toBe(true)
      expect(wrong.anomalies[0]!.txns.length).toBeLessThanOrEqual(4)
    }
  })

  it('costs as much per pair when there are more pairs', () => {
    // In one piece the closure alone would take 4 bytes · 80,000 nodes · 2,000 sessions = 640 MB.
    const history = pairsOfSessions(1000, 20, -1)
    const result = check(history, 'si', { algorithm: 'solve', memoryBytes: 600e6 })
    expect(result.verdict).toBe('satisfied')
  })
})
