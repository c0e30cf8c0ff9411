import { describe, expect, test } from 'vitest'
import { Random } from '../../src/base/random.ts'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { withRolledBack } from '../../src/history/counts.ts'
import { NONE } from '../../src/history/history.ts'
import { looksThrough } from '../../src/history/sql-events.ts'
import { LEVELS } from '../../src/levels/levels.ts'
import { certifyMixed } from '../../src/verdict/certify-mixed.ts'
import { certifyWitness } from '../../src/verdict/certify-witness.ts'
import { SqlRows } from '../../src/verdict/sql-rows.ts'
import { type Choice, INITIAL_TXN } from '../../src/verdict/verdict.ts'
import { levelsOf, MIXES } from '../small/compare-sql.ts'
import { randomSql, sqlShapeOf } from '../small/random-sql.ts'
import { historyOfSql, parseSql } from '../small/sql-draft.ts'
import { SqlOracle } from '../small/sql-oracle.ts'

describe('certifyWitness', () => {
  const HISTORY = `
    init: w=0 x=0 y=0 z=0
    s1: [ser] select(id = 'w') w@0 ; insert as w1 y=1 z=1
    s2: [ser] update(id = 'x') as w2 x@0=1 ; insert as w3 w=1 | [cc] select(id = 'z') z@0`
  const REFUSED = HISTORY.replace("update(id = 'x') as w2 x@0=1", 'refused x@0')
  const problemsOf = (notation: string) => {
    const history = historyOfSql(parseSql(notation))
    const levelOf = (txn: number) => LEVELS[history.txnLevel![txn]!]!.id
    return certifyWitness(new SqlRows(history), levelOf, Int32Array.of(0, 1, 2), [])
  }

  test('refuses an order at cc that hides what a serializable statement saw', () => {
    expect(problemsOf(HISTORY)).not.toEqual([])
  })

  test('asks for nothing of that kind where nobody is at cc', () => {
    expect(problemsOf(HISTORY.replace('[cc]', '[ra]'))).toEqual([])
  })

  test('asks for nothing of rows that an insert did not meet which was refused', () => {
    expect(problemsOf(REFUSED)).toEqual([])
  })
})

describe('certifyWitness, of rows that the reader itself wrote', () => {
  const problemsOf = (notation: string) => {
    const history = historyOfSql(parseSql(notation))
    return certifyWitness(new SqlRows(history), () => 'ser', Int32Array.of(0), [])
  }
  const MISSED = 'init: y=9\ns1: [ser] insert as w1 x=1 ; update(v = 1) as w2 ; insert as w3 x=0'

  test('refuses a statement that misses one, though it left it otherwise in the end', () => {
    expect(problemsOf(MISSED)).toEqual([expect.stringContaining('missed its own row')])
  })

  test('takes one that misses what it had left otherwise before', () => {
    expect(problemsOf(MISSED.replace('v = 1', 'v = 0'))).toEqual([])
  })

  test('knows that who missed one did not take effect, so that it explains nothing', () => {
    const history = historyOfSql(
      parseSql(`
        init: x=2
        s1: [ser indeterminate] insert as w1 y=1 ; update(v = 1) as w2 ; insert as w3 x=1 y=0
        s2: [ser] select(v = 2)`),
    )
    expect(new SqlRows(history).mayCount(0)).toBe(false)
    const [result] = checkMixed(history, ['ser'])
    expect([result!.verdict, result!.anomalies[0]!.name]).toEqual(['violated', 'VanishedRow'])
    expect(result!.certificate!.verified).toBe(true)
  })
})

describe('certifyWitness, against the oracle', () => {
  /**
   * A random order of those who count, and for every row passed over somebody before its reader.
   */
  function guess(rows: SqlRows, random: Random): { order: number[]; choices: Choice[] } {
    const { history, sql } = rows
    const txns = Array.from(history.txnStatus, (_, txn) => txn)
    const order = random.shuffle(
      txns.filter((txn) => history.txnCounts[txn] || (rows.mayCount(txn) && random.chance(0.5))),
    )
    if (random.chance(0.7)) order.sort((a, b) => a - b)
    const place = (txn: number) => (txn === INITIAL_TXN ? -1 : order.indexOf(txn))
    const choices: Choice[] = []
    for (let event = 0; event < sql.eventCount; event++) {
      if (!looksThrough(sql, event) || !order.includes(sql.eventTxn[event]!)) continue
      for (const key of rows.unmentioned(event)) {
        const before = rows
          .candidates(event, key)
          .filter((txn) => txn === INITIAL_TXN || order.includes(txn))
          .filter((txn) => place(txn) < place(sql.eventTxn[event]!))
          .sort((a, b) => place(b) - place(a))
        const [last] = before
        if (last === undefined || rows.ownVersion(event, key) !== NONE) continue
        choices.push({ event, key, txn: random.chance(0.8) ? last : random.pick(before) })
      }
    }
    return { order, choices }
  }

  test('accepts exactly the orders and writers that prove the levels', () => {
    const counts = { accepted: 0, refused: 0 }
    for (let seed = 1; seed <= 600; seed++) {
      const draft = randomSql(seed, sqlShapeOf(seed, { wrong: 0, unsound: 0 }))
      const history = historyOfSql(draft)
      const oracle = new SqlOracle(history)
      const rows = new SqlRows(withRolledBack(history))
      const random = new Random(seed)
      for (const mix of MIXES) {
        const levels = levelsOf(draft, mix)
        const { order, choices } = guess(rows, random)
        const isCausal = order.some((txn) => levels[txn] === 'cc')
        // Rows that no version brings need a writer only where that is a cause for somebody.
        const named = choices.filter(({ event, key }) => {
          const isStrong = ['pc', 'si', 'ser'].includes(levels[rows.sql.eventTxn[event]!]!)
          return (isCausal && isStrong) || rows.passedOver(event).includes(key)
        })
        const levelOf = (txn: number) => levels[txn]!
        const found = certifyWitness(rows, levelOf, Int32Array.from(order), named)
        const chosen = named.map(({ event, key, txn }) => {
          return { event, key, node: txn === INITIAL_TXN ? 0 : txn + 1 }
        })
        const nodes = [0, ...order.map((txn) => txn + 1)]
        const isProof =
          oracle.decide(levels).offences.length === 0 && oracle.isProof(levels, nodes, chosen)
        expect(found.length === 0, `seed ${seed} at ${mix}: ${found[0]}`).toBe(isProof)
        counts[isProof ? 'accepted' : 'refused']++
      }
    }
    expect(counts.accepted).toBeGreaterThan(500)
    expect(counts.refused).toBeGreaterThan(500)
  })
})

describe('certifyMixed', () => {
  test('refuses the evidence of a violated level at one that holds', () => {
    let refused = 0
    for (let seed = 1; seed <= 300; seed++) {
      const draft = randomSql(seed)
      const history = historyOfSql(draft)
      const results = MIXES.map((level) => checkMixed(history, [level])[0]!)
      const [held, broken] = ['satisfied', 'violated'].map((verdict) =>
        results.filter((result) => result.verdict === verdict),
      )
      for (const { level } of held!) {
        for (const result of broken!) {
          const problems = certifyMixed(history, { ...result, level }).problems
          expect(problems, `seed ${seed}: ${result.level} at ${level}`).not.toEqual([])
          refused++
        }
      }
    }
    expect(refused).toBeGreaterThan(100)
  })

  test('takes a row that was never there as thin air, even after a write of its own', () => {
    const notation = 'init: x=-\ns1: [rc] insert as w1 x=1 ; select(true) x@0'
    const [result] = checkMixed(historyOfSql(parseSql(notation)), ['mixed'])
    expect(result!.anomalies.map(({ name }) => name)).toEqual(['ThinAirRead'])
    expect(result!.certificate).toEqual({ kind: 'reads', verified: true })
  })
})
