import { describe, expect, test } from 'vitest'
import { COMMITTED, INDETERMINATE, READ, WRITE } from '../../../src/history/history.ts'
import { INSERT, type SqlEvents } from '../../../src/history/sql-events.ts'
import { generateSql } from '../../../src/pipeline/generate-sql.ts'
import { SQL_FAULTS } from '../../../src/sim/sql/faults.ts'
import { type SqlSimOptions, simulateSql } from '../../../src/sim/sql/simulate.ts'
import { parsePredicate } from '../../../src/sql/predicate.ts'
import { SQL_SHAPES, type SqlParameters } from '../../../src/workload/sql/parameters.ts'
import { planSql } from '../../../src/workload/sql/workload.ts'
import { findBrokenAxioms } from './axioms.ts'

const LEVELS = ['rc', 'ra', 'cc', 'pc', 'si', 'ser', 'ser+rc', 'si+rc', 'mixed']
const SMALL = { sessions: 4, transactions: 18, districts: 2, keys: 4, items: 5 }
const ROUGH: Partial<SqlSimOptions> = { aborts: 0.1, indeterminates: 0.2, lag: 3 }

function runSmall(seed: number, workload: Partial<SqlParameters>, store: Partial<SqlSimOptions>) {
  const plan = planSql({ ...SMALL, ...workload, seed })
  return simulateSql(plan, { ...store, seed, full: true })
}

describe('the store', () => {
  for (const levels of LEVELS) {
    test(`keeps the promise of every transaction under its own commit order: ${levels}`, () => {
      for (let seed = 0; seed < 24; seed++) {
        for (const shape of SQL_SHAPES) {
          if (shape !== 'sql' && seed % 6 > 0) continue
          const execution = runSmall(seed, { shape, levels }, seed % 2 === 0 ? ROUGH : { lag: 2 })
          expect(findBrokenAxioms(execution), `${shape}, seed ${seed}`).toEqual([])
        }
      }
    })
  }

  test('breaks that promise where a fault strikes, and not at a level that allows it', () => {
    for (const fault of SQL_FAULTS) {
      const weaker = { rc: null, ra: 'rc', si: 'pc', ser: 'si' }[fault.forbiddenFrom as 'rc']
      for (let seed = 0; seed < 12; seed++) {
        const faults = [{ fault, count: 1 }]
        for (const shape of SQL_SHAPES) {
          const levels = fault.forbiddenFrom
          const execution = runSmall(seed, { shape, levels, sessions: 3 }, { faults })
          const broken = findBrokenAxioms(execution)
          expect(broken, `${fault.name}, ${shape}, seed ${seed}`).not.toEqual([])
          expect(execution.strikes).toHaveLength(1)
          if (weaker === null) continue
          const eased = execution.txns.map((txn) => ({ ...txn, level: weaker as 'rc' }))
          expect(findBrokenAxioms({ ...execution, txns: eased }), fault.name).toEqual([])
        }
      }
    }
  })

  test('tells transactions of two levels apart', () => {
    const { txns } = runSmall(1, { shape: 'twitter', levels: 'ser+rc', transactions: 200 }, {})
    const strong = txns.filter((txn) => txn.level === 'ser')
    expect(strong.length).toBeGreaterThan(5)
    expect(strong.length).toBeLessThan(50)
    expect(txns.filter((txn) => txn.level === 'rc').length).toBe(200 - strong.length)
    for (const { statements, level } of txns) {
      expect(statements.some(({ written }) => written.length > 0)).toBe(level === 'ser')
    }
  })

  test('lets about half of the indeterminate transactions take effect', () => {
    const workload = { shape: 'sql' as const, levels: 'rc', transactions: 1000 }
    const { txns } = runSmall(2, workload, { indeterminates: 0.5 })
    const unknown = txns.filter(({ status }) => status === INDETERMINATE)
    const effective = unknown.filter(({ place }) => !Number.isNaN(place))
    expect(unknown.length).toBeGreaterThan(400)
    expect(effective.length / unknown.length).toBeGreaterThan(0.4)
    expect(effective.length / unknown.length).toBeLessThan(0.6)
  })

  test('commits every transaction that nothing forbids', () => {
    for (const shape of ['tpcc-pc', 'twitter'] as const) {
      const { txns } = runSmall(3, { shape, levels: 'ser' }, {})
      const aborted = txns.filter(({ status }) => status !== COMMITTED)
      expect(aborted.length).toBeLessThanOrEqual(1)
    }
  })
})

describe('generateSql', () => {
  const told = (seed: number, layout: 'commit' | 'session') => {
    const workload = { ...SMALL, shape: 'tpcc' as const, levels: 'ser+rc' }
    const { history } = generateSql({ seed, workload, store: ROUGH, layout })
    const ops = Array.from(history.opKey, (key, op) => [history.keyName(key), history.valueOf(op)])
    return JSON.stringify([ops, [...history.txnSession], [...history.txnLevel!]])
  }

  test('gives the same history for the same seed, and others for another', () => {
    for (const layout of ['commit', 'session'] as const) {
      expect(told(7, layout)).toBe(told(7, layout))
      expect(told(7, layout)).not.toBe(told(8, layout))
    }
    expect(told(7, 'commit')).not.toBe(told(7, 'session'))
  })

  for (const shape of SQL_SHAPES) {
    test(`returns rows that satisfy the clause in the version that was seen: ${shape}`, () => {
      for (let seed = 0; seed < 20; seed++) {
        const workload = { ...SMALL, shape, levels: 'mixed' }
        const full = seed % 2 === 1
        const { history } = generateSql({ seed, workload, store: { ...ROUGH, full } })
        const sql = history.sql!
        const holds = predicatesOf(sql)
        let returned = 0
        for (let op = 0; op < history.opCount; op++) {
          const event = sql.opEvent[op]!
          if (history.opKind[op] !== READ) continue
          const from = history.readFrom[op]!
          const row = from >= 0 ? sql.opRow[from]! : sql.initialRow[history.opKey[op]!]!
          const satisfied = row !== null && holds(sql.eventPredicate[event]!, row)
          expect(satisfied, `op ${op}, seed ${seed}`).toBe(sql.opReturned[op] === 1)
          if (from >= 0) expect(history.opKind[from]).toBe(WRITE)
          returned += sql.opReturned[op]!
        }
        expect(returned).toBeGreaterThan(10)
      }
    })
  }

  test('writes exactly the rows that an UPDATE or DELETE touched', () => {
    const { history } = generateSql({ seed: 4, workload: { ...SMALL, shape: 'tpcc' } })
    const sql = history.sql!
    const read = new Map<number, Set<number>>()
    const written = new Map<number, Set<number>>()
    for (let op = 0; op < history.opCount; op++) {
      const event = sql.opEvent[op]!
      const into = history.opKind[op] === READ ? read : written
      if (!into.has(event)) into.set(event, new Set())
      into.get(event)!.add(history.opKey[op]!)
    }
    for (const [event, keys] of written) {
      if (sql.eventKind[event] === INSERT) expect(read.has(event)).toBe(false)
      else expect(keys).toEqual(read.get(event))
    }
    expect(written.size).toBeGreaterThan(20)
  })
})

function predicatesOf(sql: SqlEvents) {
  const parsed = sql.predicates.map(({ text, params, table }) =>
    parsePredicate(text, sql.tables[table]!.columns, params),
  )
  return (predicate: number, row: readonly (null | boolean | bigint | string)[]) =>
    parsed[predicate]!.evaluate(row) === true
}
