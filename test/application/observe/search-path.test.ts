// Tables are what a connection finds under their names at that time.

import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { record } from '../../../src/application/observe/instrument.ts'
import { onServer, recording, reset, told, verdictOf } from '../server.ts'

const stage = onServer()
const TENANTS = ['one', 'two'].flatMap((schema) => [
  `DROP SCHEMA IF EXISTS ${schema} CASCADE`,
  `CREATE SCHEMA ${schema}`,
  `CREATE TABLE ${schema}.items (id int PRIMARY KEY, n int NOT NULL)`,
  `INSERT INTO ${schema}.items VALUES (1, 10)`,
])
const READ = 'SELECT n FROM items WHERE id = 1'
const WRITE = 'UPDATE items SET n = n + 1 WHERE id = 1'

describe('tenants with tables of the same name', () => {
  const SETS: [string, (schema: string) => string][] = [
    ['SET', (schema) => `SET search_path = ${schema}`],
    ['SET LOCAL', (schema) => `SET LOCAL search_path = ${schema}`],
    ['SET SCHEMA', (schema) => `SET SCHEMA '${schema}'`],
    ['set_config', (schema) => `SELECT set_config('search_path', '${schema}', true)`],
  ]
  it.each(SETS)('are told apart by %s', async (_, set) => {
    const { pool } = stage
    await reset(pool, ...TENANTS)
    const recorded = await recording(pool, async () => {
      // The same connections serve both, and both at once.
      for (const [first, second] of [
        ['one', 'two'],
        ['two', 'one'],
      ] as const) {
        const clients = [await pool.connect(), await pool.connect()]
        for (const client of clients) await client.query('BEGIN')
        await clients[0]!.query(set(first))
        await clients[1]!.query(set(second))
        for (const text of [READ, WRITE]) for (const client of clients) await client.query(text)
        for (const client of clients) await client.query('COMMIT')
        for (const client of clients) client.release()
      }
      // Nobody else gets them as they are now.
      for (const client of [await pool.connect(), await pool.connect()]) client.release(true)
    })
    expect(recorded.skipped).toEqual({})
    expect(new Set(told(recorded).map((line) => /select (\S+)/.exec(line)![1]))).toEqual(
      new Set(['items', 'two.items']),
    )
    expect(await verdictOf(await recorded.history(), 'ser'), recorded.text()).toBe('satisfied')
  })

  it('are told apart by connections that differ from the start', async () => {
    await reset(stage.pool, ...TENANTS)
    const pool = new pg.Pool({ ...stage.server.address, max: 2 })
    let turn = 0
    pool.on('connect', (client) => {
      client.query(`SET search_path = ${turn++ === 0 ? 'one' : 'two'}`)
    })
    const recorded = record(pool)
    const both = [await pool.connect(), await pool.connect()]
    for (const text of ['BEGIN', READ, WRITE, 'COMMIT'])
      for (const client of both) await client.query(text)
    for (const client of both) client.release()
    recorded.stop()
    await pool.end()
    expect(await verdictOf(await recorded.history(), 'ser'), recorded.text()).toBe('satisfied')
  })

  it('are what they were when a savepoint or a transaction is rolled back', async () => {
    const { pool } = stage
    await reset(pool, ...TENANTS)
    const recorded = await recording(pool, async () => {
      const client = await pool.connect()
      await client.query('SET search_path = one')
      for (const text of ['BEGIN', READ, 'SAVEPOINT a', 'SET search_path = two', READ])
        await client.query(text)
      for (const text of ['ROLLBACK TO a', READ, 'SET search_path = two', 'ROLLBACK', READ])
        await client.query(text)
      client.release(true)
    })
    const names = told(recorded).map((line) => [...line.matchAll(/select (\S+)/g)].map((m) => m[1]))
    expect(names).toEqual([['items', 'two.items', 'items'], ['items']])
  })
})

describe('a table that is altered', () => {
  it('is not recorded any more, and answers as it does', async () => {
    const { pool } = stage
    await reset(
      pool,
      'CREATE TABLE items (id int PRIMARY KEY, n int)',
      'INSERT INTO items VALUES (1, 1)',
    )
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT * FROM items')
      await pool.query('ALTER TABLE items DROP COLUMN n')
      expect((await pool.query('SELECT * FROM items')).rows).toEqual([{ id: 1 }])
      await pool.query('DROP TABLE items')
      await pool.query('CREATE TABLE items (id text PRIMARY KEY)')
      expect((await pool.query('SELECT * FROM items')).rows).toEqual([])
    })
    expect(recorded.skipped).toMatchObject({ 'items: it was altered': 2 })
    const history = await recorded.history()
    expect(history.partial!.tables).toEqual(['items'])
    expect(await verdictOf(history, 'rc')).toBe('unknown')
  })

  it('is another one when recording begins anew', async () => {
    const { pool } = stage
    await reset(pool, 'CREATE TABLE items (id int PRIMARY KEY, n int)')
    await recording(pool, async (recorded) => {
      await pool.query('SELECT * FROM items')
      await pool.query('ALTER TABLE items DROP COLUMN n')
      recorded.restart()
      await pool.query('SELECT * FROM items')
      expect(recorded.skipped).toEqual({})
      expect(told(recorded)).toEqual(['select items:'])
    })
  })
})
