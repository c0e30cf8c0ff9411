import { describe, expect, it } from 'vitest'
import { check } from '../../src/check/check.ts'
import { type History, INITIAL, READ } from '../../src/history/history.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { type Anomaly, findEdges } from '../../src/verdict/verdict.ts'
import { some } from '../long.ts'
import { buildHistory, type Draft, type DraftOp, type DraftTxn } from '../small/draft.ts'
import { profileOf } from '../small/oracle.ts'
import { randomHistory, shapeOf } from '../small/random-history.ts'

const LEVELS = ['pc', 'si', 'ser'] as const

describe('splitTxns', () => {
  const fork = `s1: w(x,1) | w(y,1) w(z,1)
    s2: r(z,1) w(x,2)
    s3: r(z,1) w(y,2)
    s4: r(x,2) r(y,1)
    s5: r(x,1) r(y,2)`

  it('tells the four of a long fork from those who wrote the old versions', () => {
    const history = parseNotation(fork)
    for (const level of LEVELS) {
      const [anomaly] = check(history, level, { algorithm: 'solve' }).anomalies
      expect(anomaly).toMatchObject({ name: 'LongFork', txns: [2, 3, 4, 5], earlier: [0, 1] })
    }
  })

  it('keeps a writer who is part of the cycle', () => {
    const history = parseNotation('s1: w(x,1)\ns2: r(x,1) w(y,1)\ns3: r(y,1) r(x,0)')
    for (const level of LEVELS) {
      const [anomaly] = check(history, level, { algorithm: 'solve' }).anomalies
      expect(anomaly).toMatchObject({ txns: [0, 1, 2], earlier: [] })
    }
  })

  it('leaves transactions that violate the level on their own', () => {
    let count = 0
    for (let seed = 1; seed <= some(6000); seed++) {
      const shape = shapeOf(seed, { initial: 0, txns: 7, thinAir: 0, wild: 0, rewrites: false })
      const history = buildHistory(randomHistory(seed, shape))
      if (history.after !== null) continue // what is taken out here keeps sessions only
      for (const level of LEVELS) {
        const result = check(history, level, { algorithm: 'solve' })
        expect(result.verdict === 'satisfied' || result.certificate?.verified).toBe(true)
        for (const anomaly of result.anomalies) {
          if (anomaly.earlier.length === 0) continue
          count++
          const alone = fromStartingState(history, anomaly)
          expect(profileOf(alone)[level], `seed ${seed} at ${level}`).toBe('violated')
        }
      }
    }
    expect(count).toBeGreaterThan(some(300))
  })
})

/** The transactions of the example alone, with what they read from earlier ones as initial. */
function fromStartingState(history: History, { txns, earlier, edges, cases }: Anomaly): Draft {
  const fromState = new Set<number>() // reads that the argument speaks of
  const stateKeys = new Set<number>()
  for (const { kind, ops, premises, key } of findEdges(edges, cases)) {
    if (kind !== 'RW' || !earlier.includes(premises[1]!.from)) continue
    if (!txns.includes(history.opTxn[ops[0]!]!)) continue
    fromState.add(ops[0]!)
    stateKeys.add(key)
  }
  const sessions: DraftTxn[][] = []
  for (const txn of history.sessionTxns) {
    if (!txns.includes(txn)) continue
    const ops: DraftOp[] = []
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      const key = history.keyName(history.opKey[op]!)
      const value = history.values.get(history.opValue[op]!)
      const from = history.readFrom[op]!
      if (history.opKind[op] !== READ) ops.push({ kind: 'w', key, value })
      else if (fromState.has(op)) ops.push({ kind: 'r', key, value: 0 })
      else if (from >= 0 && txns.includes(history.opTxn[from]!)) ops.push({ kind: 'r', key, value })
      else if (from === INITIAL && !stateKeys.has(history.opKey[op]!)) {
        ops.push({ kind: 'r', key, value: 0 })
      }
    }
    sessions[history.txnSession[txn]!] ??= []
    sessions[history.txnSession[txn]!]!.push({ status: 'committed', ops })
  }
  return { initial: 0, sessions: sessions.filter((session) => session !== undefined) }
}
