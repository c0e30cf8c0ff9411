// Statements that come again are prepared under names of ours, and nobody notices.

import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Recorded, record } from '../../../src/application/observe/instrument.ts'
import { isTimeless } from '../../../src/application/observe/reuse.ts'
import { shapeOf } from '../../../src/application/observe/shape.ts'
import { onServer, recording, reset, told } from '../server.ts'

const stage = onServer()
let client: pg.Client

const READ = 'SELECT n FROM items WHERE id = $1'

async function read(id: unknown = 1, on: pg.ClientBase = client): Promise<unknown> {
  return (await on.query(READ, [id])).rows[0]?.n
}

async function readOften(times = 4): Promise<void> {
  for (let i = 0; i < times; i++) expect(await read()).toBe(10)
}

/** Texts of the statements that the server has under our names. */
async function prepared(recorded: Recorded): Promise<string[]> {
  recorded.stop()
  const text = "SELECT statement FROM pg_prepared_statements WHERE name LIKE 'isobar\\_own\\_%'"
  return (await client.query(text)).rows.map(({ statement }) => statement)
}

describe('a statement that comes again', () => {
  beforeEach(async () => {
    await reset(
      stage.pool,
      'CREATE TABLE items (id int PRIMARY KEY, n int NOT NULL)',
      'INSERT INTO items VALUES (1, 10), (2, 20)',
    )
    client = new pg.Client(stage.server.address)
    await client.connect()
  })
  afterEach(() => client.end())

  it('is prepared once, and recorded as before', async () => {
    const recorded = record(client)
    await readOften()
    expect(told(recorded)).toEqual(Array(4).fill('select items where id = $1: 1<0'))
    expect(await prepared(recorded)).toHaveLength(1)
    await readOften()
  })

  it('has no name the first time', async () => {
    const recorded = record(client)
    await readOften(1)
    expect(await prepared(recorded)).toEqual([])
  })

  it('has none where the connection may go to another process of the server', async () => {
    ;(client as unknown as { processID: number }).processID++
    const recorded = record(client)
    await readOften()
    expect(await prepared(recorded)).toEqual([])
  })

  it.each([
    'DEALLOCATE ALL',
    'DISCARD ALL',
    'SET work_mem = 2000; DEALLOCATE ALL',
    "DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$",
  ])('is found behind %s', async (text) => {
    const recorded = record(client)
    await readOften()
    await client.query(text)
    await readOften()
    expect(await prepared(recorded)).toHaveLength(1)
  })

  it('is found behind a function that drops names', async () => {
    await stage.pool.query(`CREATE FUNCTION clean() RETURNS int LANGUAGE plpgsql AS
      $$ BEGIN EXECUTE 'DEALLOCATE ALL'; RETURN 1; END $$`)
    const recorded = record(client)
    await readOften()
    await client.query('SELECT clean()')
    await readOften()
    expect(await prepared(recorded)).toHaveLength(1)
  })

  it('is found behind values that the driver cannot send', async () => {
    const recorded = record(client)
    await readOften()
    const broken = {
      toPostgres() {
        throw new Error('no value')
      },
    }
    await expect(read(broken)).rejects.toThrow('no value')
    await readOften()
    recorded.stop()
  })

  it('gets other types when a recorded connection has altered the table', async () => {
    const seen: unknown[] = []
    await recording(stage.pool, async () => {
      const [one, two] = [await stage.pool.connect(), await stage.pool.connect()]
      for (let i = 0; i < 3; i++) seen.push(await read(1, one))
      await two.query('ALTER TABLE items ALTER COLUMN n TYPE text')
      for (let i = 0; i < 3; i++) seen.push(await read(1, one))
      one.release()
      two.release()
    })
    expect(seen).toEqual([10, 10, 10, '10', '10', '10'])
  })

  it('gets other types from another schema', async () => {
    await stage.pool.query(`DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other;
      CREATE TABLE other.items (id int PRIMARY KEY, n text); INSERT INTO other.items VALUES (1, 'x')`)
    const recorded = record(client)
    for (let i = 0; i < 3; i++) {
      await client.query('SET search_path = public')
      expect(await read()).toBe(10)
      await client.query('SET search_path = other')
      expect(await read()).toBe('x')
    }
    expect(recorded.skipped).toEqual({})
    expect(await prepared(recorded)).toHaveLength(2)
  })

  it('fails once when somebody unrecorded has changed the type of a column', async () => {
    const recorded = record(client)
    await readOften()
    await stage.pool.query('ALTER TABLE items ALTER COLUMN n TYPE text')
    await expect(read()).rejects.toThrow('cached plan must not change result type')
    expect(await read()).toBe('10')
    recorded.stop()
  })

  it('fails with the same words', async () => {
    const ask = () => client.query(READ, [1, 2]).catch((error: Error) => error.message)
    const plain = await ask()
    const recorded = record(client)
    await readOften()
    expect(await ask()).toBe(plain)
    expect(plain).toContain('prepared statement ""')
    recorded.stop()
  })

  it('is one of 200 that get a name, however often the connection is recorded', async () => {
    for (let turn = 0; turn < 3; turn++) {
      const recorded = record(client)
      for (let i = 0; i < 160; i++) await client.query(`${READ} AND n <> ${i % 80}`, [1])
      recorded.stop()
    }
    const recorded = record(client)
    await readOften()
    expect(await prepared(recorded)).toHaveLength(200)
  })
})

describe('isTimeless', () => {
  it.each([
    READ,
    "SELECT n FROM items WHERE id = $1 AND color = 'red'",
    'SELECT count(*) FROM items WHERE id = $1',
    'SELECT 2 * n FROM items WHERE n * 2 = $1',
    'INSERT INTO items VALUES ($1, 5) RETURNING n',
  ])('takes %s', (text) => {
    expect(isTimeless(shapeOf(text))).toBe(true)
  })

  it.each([
    "SELECT n FROM items WHERE at < 'now' AND id = $1",
    'SELECT n FROM items WHERE at < $$Today$$ AND id = $1',
    "SELECT n FROM items WHERE at < 'n'\n'ow' AND id = $1",
    "SELECT n FROM items WHERE at < E'\\156ow' AND id = $1",
    "SELECT n FROM items WHERE at < '01/02/2026' AND id = $1",
    'SELECT * FROM items WHERE id = $1',
    'SELECT id, items.* FROM items WHERE id = $1',
    'SELECT DISTINCT ON (n) * FROM items WHERE id = $1',
    'DELETE FROM items WHERE id = $1 RETURNING *',
  ])('refuses %s', (text) => {
    expect(isTimeless(shapeOf(text))).toBe(false)
  })
})
