import { describe, expect, it } from 'vitest'
import { quoteColumn } from '../../src/history/clause-of-keys.ts'
import { narrowClause } from '../../src/history/narrow.ts'
import { EVERY_ROW, type SqlTable } from '../../src/history/sql-events.ts'
import { parsePredicate } from '../../src/sql/predicate.ts'

const LINES: SqlTable = {
  name: 'lines',
  columns: [
    { name: 'order', type: 'integer' },
    { name: 'number', type: 'text' },
    { name: 'n', type: 'integer' },
  ],
  keyColumns: [0, 1],
}

describe('narrowClause', () => {
  it('names rows together whose keys differ in the last column alone', () => {
    const keys = [
      [1n, 'a'],
      [1n, "b'"],
      [2n, 'a'],
    ]
    const text = narrowClause(LINES, 'n > $1', [3n], keys)
    expect(text).toBe(
      `(n > 3) AND NOT ("order" = 1 AND number IN ('a', 'b''')) AND NOT ("order" = 2 AND number = 'a')`,
    )
    const { matches } = parsePredicate(text, LINES.columns, [], LINES.name)
    for (const row of keys) expect(matches([...row, 4n])).toBe(false)
    expect(matches([2n, "b'", 4n])).toBe(true)
    expect(matches([2n, "b'", 3n])).toBe(false)
  })

  it('leaves out thousands of rows within what a clause may be', () => {
    const keys = Array.from({ length: 20_000 }, (_, i) => [BigInt(i % 40), String(i)])
    const text = narrowClause(LINES, EVERY_ROW, [], keys)
    const { matches } = parsePredicate(text, LINES.columns, [], LINES.name)
    expect(matches([7n, '7', 0n])).toBe(false)
    expect(matches([7n, '8', 0n])).toBe(true)
  })
})

describe('quoteColumn', () => {
  it('gives what a clause takes for the column, whatever it is called', () => {
    const names = [
      'id',
      'order',
      'user',
      'end',
      'Name',
      'a"b',
      'left',
      'values',
      'date',
      'type',
      'key',
    ]
    for (const name of names) {
      const columns = [{ name, type: 'integer' }] as const
      const { matches } = parsePredicate(`${quoteColumn(name)} = 7`, columns, [], 't')
      expect([name, matches([7n]), matches([8n])]).toEqual([name, true, false])
    }
    expect(['id', 'user', 'type'].map(quoteColumn)).toEqual(['id', '"user"', 'type'])
  })
})
