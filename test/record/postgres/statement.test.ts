import { describe, expect, it } from 'vitest'
import type { SqlTable } from '../../../src/history/sql-events.ts'
import { answerOf, queryOf } from '../../../src/record/postgres/statement.ts'
import { renderRun } from '../../../src/record/statement-line.ts'
import { add, deleteFrom, insert, select, update } from '../../../src/sql/statement.ts'

const ORDERS: SqlTable = {
  name: 'orders',
  columns: [
    { name: 'id', type: 'integer' },
    { name: 'status', type: 'text' },
    { name: 'paid', type: 'boolean' },
  ],
  keyColumns: [0],
}

describe('queryOf', () => {
  it('selects every column and the writer', () => {
    expect(queryOf(ORDERS, select('orders', 'status = $1 OR paid = $2', 'a', null), 7)).toEqual({
      text: 'SELECT "id", "status", "paid", isobar_writer FROM "isobar_orders" AS "orders" WHERE status = $1 OR paid = $2',
      types: [25, 0],
      values: ['a', null],
    })
  })

  it('inserts over what is there', () => {
    const { text, types, values } = queryOf(ORDERS, insert('orders', [5n, null, true]), 7)
    expect(text).toBe(
      'INSERT INTO "isobar_orders" AS "orders" ("id", "status", "paid", isobar_writer) ' +
        'VALUES ($2, $3, $4, $1) ON CONFLICT ("id") DO UPDATE SET "status" = excluded."status", ' +
        '"paid" = excluded."paid", isobar_writer = excluded.isobar_writer',
    )
    expect(types).toEqual([20, 20, 25, 16])
    expect(values).toEqual(['7', '5', null, 'TRUE'])
  })

  it('updates, and keeps whose version it found; deletes', () => {
    const { text, types, values } = queryOf(
      ORDERS,
      update('orders', { id: add(1n), status: null }, 'id = $1', 3n),
      9,
    )
    expect(text).toBe(
      'UPDATE "isobar_orders" AS "orders" SET "id" = "orders"."id" + $2, "status" = $3, ' +
        'isobar_before = isobar_writer, isobar_writer = $4 WHERE id = $1 ' +
        'RETURNING "id", "status", "paid", isobar_before',
    )
    expect(types).toEqual([20, 20, 25, 20])
    expect(values).toEqual(['3', '1', null, '9'])
    expect(queryOf(ORDERS, deleteFrom('orders', 'paid'), 9).text).toBe(
      'DELETE FROM "isobar_orders" AS "orders" WHERE paid RETURNING "id", "status", "paid", isobar_writer',
    )
  })
})

describe('answerOf', () => {
  it('reads rows by the types of their columns', () => {
    const answer = answerOf(ORDERS, [
      ['9223372036854775807', 'x', 't', '4'],
      ['2', null, 'f', null],
    ])
    expect(answer.rows).toEqual([
      [9223372036854775807n, 'x', true],
      [2n, null, false],
    ])
    expect(answer.from).toEqual([4, null])
  })
})

describe('renderRun', () => {
  const rows = [[1n, 'a', null]]

  it('tells what a statement saw and wrote', () => {
    const seen = { rows, from: [3] }
    expect(renderRun(ORDERS, select('orders', 'id = $1', 1n), 0, seen)).toBe(
      '{"select":"orders","where":"id = $1","params":[1],"rows":[{"key":[1],"from":3}]}',
    )
    expect(renderRun(ORDERS, update('orders', { status: 'a' }), 8, seen)).toBe(
      '{"update":"orders","write":8,"rows":[{"key":[1],"from":3,"row":{"id":1,"status":"a"}}]}',
    )
    expect(renderRun(ORDERS, deleteFrom('orders', 'paid'), 8, { rows: [], from: [] })).toBe(
      '{"delete":"orders","where":"paid","rows":[]}',
    )
    expect(renderRun(ORDERS, insert('orders', rows[0]!), 8, { rows: [], from: [] })).toBe(
      '{"insert":"orders","write":8,"rows":[{"id":1,"status":"a"}]}',
    )
  })

  it('tells two rows under one key as they came; of a change the newest, behind a SELECT of both', () => {
    const twice = { rows: [rows[0]!, [2n, 'b', null], [1n, 'c', null]], from: [null, 5, 6] }
    const both = '"rows":[{"key":[1],"from":null},{"key":[1],"from":6}]'
    expect(renderRun(ORDERS, select('orders'), 0, twice)).toBe(
      '{"select":"orders","rows":[{"key":[1],"from":null},{"key":[2],"from":5},{"key":[1],"from":6}]}',
    )
    expect(renderRun(ORDERS, deleteFrom('orders', 'paid'), 8, twice)).toBe(
      `{"select":"orders","where":"\\"id\\" = $1","params":[1],${both}},` +
        '{"delete":"orders","where":"paid","write":8,"rows":[{"key":[1],"from":6},{"key":[2],"from":5}]}',
    )
  })
})
