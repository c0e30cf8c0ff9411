import { describe, expect, test } from 'vitest'
import { buildMixedProblem } from '../../../src/check/mixed/build-problem.ts'
import { DELETE, UPDATE } from '../../../src/history/sql-events.ts'
import { generateSql } from '../../../src/pipeline/generate-sql.ts'
import { parsePredicate } from '../../../src/sql/predicate.ts'
import { parseLevelChoice } from '../../../src/workload/sql/levels.ts'
import { SQL_SHAPES, type SqlShape } from '../../../src/workload/sql/parameters.ts'
import { planSql } from '../../../src/workload/sql/workload.ts'

const share = (shape: SqlShape, name: string) => {
  const { tasks } = planSql({ shape, transactions: 10_000 })
  return tasks.filter((task) => task.name === name).length / tasks.length
}

const conflictsOf = (shape: SqlShape, levels: string, seed: number) => {
  const workload = { shape, levels, sessions: 4, transactions: 60, districts: 2 }
  return buildMixedProblem(generateSql({ seed, workload }).history, 'mixed').openCount
}

describe('planSql', () => {
  test('mixes transactions as the benchmarks do', () => {
    for (const shape of ['tpcc', 'tpcc-pc'] as const) {
      expect(share(shape, 'new order')).toBeCloseTo(0.45, 1)
      expect(share(shape, 'payment')).toBeCloseTo(0.43, 1)
      expect(share(shape, 'delivery')).toBeCloseTo(0.04, 1)
    }
    expect(share('twitter', 'publish')).toBeGreaterThan(0.1)
    expect(share('twitter', 'publish')).toBeLessThan(0.12)
  })

  test('gives the strong level to those transactions that matter', () => {
    const { tasks } = planSql({ shape: 'tpcc', transactions: 1000, levels: 'si+rc' })
    for (const { name, level } of tasks) {
      expect(level).toBe(name === 'new order' || name === 'payment' ? 'si' : 'rc')
    }
  })

  test('starts the same program again as often as asked', () => {
    for (const shape of SQL_SHAPES) {
      for (const task of planSql({ shape, seed: 5 }).tasks.slice(0, 20)) {
        expect(task.start().next()).toEqual(task.start().next())
      }
    }
  })

  test('gives every row its own primary key', () => {
    for (const shape of SQL_SHAPES) {
      const { tables, rows } = planSql({ shape, warehouses: 2 })
      tables.forEach(({ keyColumns, columns }, table) => {
        const keys = rows[table]!.map((row) => keyColumns.map((column) => row[column]).join())
        expect(new Set(keys).size).toBe(keys.length)
        for (const row of rows[table]!) expect(row).toHaveLength(columns.length)
      })
    }
  })

  test('refuses what makes no sense', () => {
    expect(() => planSql({ shape: 'tpcc', keys: 0 })).toThrow('keys must be a whole number')
    expect(() => planSql({ shape: 'sql', reads: 2 })).toThrow('between 0 and 1')
    expect(() => parseLevelChoice('ser+rc+si')).toThrow(
      'SQL transactions cannot be at level "ser+rc+si"',
    )
    expect(() => parseLevelChoice('sser')).toThrow('SQL transactions cannot be at level "sser"')
  })
})

describe('tpcc-pc', () => {
  test('has no conflicts at any level, and deletes nothing', () => {
    for (const levels of ['ser', 'si', 'rc', 'ser+rc', 'si+rc']) {
      for (let seed = 1; seed <= 5; seed++) expect(conflictsOf('tpcc-pc', levels, seed)).toBe(0)
    }
    const { sql } = generateSql({ workload: { shape: 'tpcc-pc', transactions: 200 } }).history
    expect(sql!.eventKind).not.toContain(DELETE)
  })

  test('differs in that from tpcc', () => {
    for (const levels of ['ser', 'rc']) expect(conflictsOf('tpcc', levels, 1)).toBeGreaterThan(0)
    const { sql } = generateSql({ workload: { shape: 'tpcc', transactions: 200 } }).history
    expect(sql!.eventKind).toContain(DELETE)
  })
})

describe('random SQL', () => {
  test('has clauses that some rows satisfy and some do not', () => {
    let [yes, no] = [0, 0]
    for (let seed = 1; seed <= 20; seed++) {
      const { sql } = generateSql({ seed, workload: { shape: 'sql' } }).history
      for (const { text, params, table } of sql!.predicates) {
        const predicate = parsePredicate(text, sql!.tables[table]!.columns, params)
        sql!.initialRow.forEach((row, key) => {
          if (row === null || sql!.keyTable[key] !== table) return
          if (predicate.evaluate(row)) yes++
          else no++
        })
      }
      expect(sql!.eventKind).toContain(UPDATE)
    }
    expect(yes / (yes + no)).toBeGreaterThan(0.2)
    expect(yes / (yes + no)).toBeLessThan(0.8)
  })
})
