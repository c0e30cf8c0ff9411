import { describe, expect, test } from 'vitest'
import { randomSql } from './random-sql.ts'
import { historyOfSql, parseSql, renderSql } from './sql-draft.ts'

describe('randomSql', () => {
  test('gives the same history for the same seed, another for another', () => {
    expect(renderSql(randomSql(7))).toBe(renderSql(randomSql(7)))
    expect(renderSql(randomSql(7))).not.toBe(renderSql(randomSql(8)))
  })

  test('brings every kind of statement, row and status', () => {
    const text = Array.from({ length: 200 }, (_, seed) => renderSql(randomSql(seed))).join('\n')
    for (const part of [
      'select',
      'insert',
      'update',
      'delete',
      'aborted',
      'indeterminate',
      '!x@',
    ]) {
      expect(text).toContain(part)
    }
  })
})

describe('parseSql', () => {
  test('reads back what renderSql writes', () => {
    for (let seed = 0; seed < 300; seed++) {
      const draft = randomSql(seed)
      expect(parseSql(renderSql(draft))).toEqual(draft)
    }
  })
})

describe('historyOfSql', () => {
  test('has an operation for every row seen or written', () => {
    const history = historyOfSql(
      parseSql('init: x=0 y=-\ns1: [ser] update(v = 0) as w1 x@0=1 !y@0 | [rc] select(v = 1) x@w1'),
    )
    expect(Array.from(history.opKind)).toEqual([0, 0, 1, 0])
    expect(Array.from(history.readTxn)).toEqual([-2, -2, -1, 0])
    expect(history.sql!.opRow[2]).toEqual(['x', 1n])
  })
})
