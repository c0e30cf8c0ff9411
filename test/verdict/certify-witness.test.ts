import { describe, expect, test } from 'vitest'
import { checkMixed } from '../../src/check/mixed/check-mixed.ts'
import { LEVELS } from '../../src/levels/levels.ts'
import { certifyWitness } from '../../src/verdict/certify-witness.ts'
import { SqlRows } from '../../src/verdict/sql-rows.ts'
import { historyOfSql, parseSql } from '../small/sql-draft.ts'

describe('certifyWitness', () => {
  const HISTORY = `
    init: w=0 x=0 y=0 z=0
    s1: [ser] select(id = 'w') w@0 ; insert as w1 y=1 z=1
    s2: [ser] update(id = 'x') as w2 x@0=1 ; insert as w3 w=1 | [cc] select(id = 'z') z@0`
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
})

describe('certifyMixed', () => {
  test('takes a row that was never there as thin air, even after a write of its own', () => {
    const notation = 'init: x=-\ns1: [rc] insert as w1 x=1 ; select(true) x@0'
    const [result] = checkMixed(historyOfSql(parseSql(notation)), ['mixed'])
    expect(result!.anomalies.map(({ name }) => name)).toEqual(['ThinAirRead'])
    expect(result!.certificate).toEqual({ kind: 'reads', verified: true })
  })
})
