// Statements that were once recorded wrongly, or answered otherwise than without recording.

import pg from 'pg'
import { describe, expect, it } from 'vitest'
import type { Recorded } from '../../../src/application/observe/instrument.ts'
import { renderNotation } from '../../../src/history/render-notation.ts'
import { inTransaction, onServer, recording, reset, told, verdictOf } from '../server.ts'

const stage = onServer()
const ITEMS = [
  'CREATE TABLE items (id int PRIMARY KEY, n int NOT NULL, name text UNIQUE)',
  "INSERT INTO items VALUES (1, 10, 'a'), (2, 20, 'b')",
]

/** From now on statements are recorded as on an older server. */
async function asBefore18(pool: pg.Pool, recorded: Recorded): Promise<void> {
  await pool.query('SELECT 1')
  Reflect.get(recorded, 'shared').major = 17
}

describe('an UPDATE of keys', () => {
  it.each(['READ COMMITTED', 'REPEATABLE READ'])(
    'is not told before PostgreSQL 18, at %s',
    async (level) => {
      const { pool } = stage
      await reset(pool, ...ITEMS)
      const recorded = await recording(pool, async (recording) => {
        await asBefore18(pool, recording)
        await pool.query('SELECT * FROM items')
        await inTransaction(pool, level, async (client) => {
          await client.query('UPDATE items SET id = id + 10')
          await client.query(
            "INSERT INTO items VALUES (2, 5, 'b') ON CONFLICT (name) DO UPDATE SET id = 9",
          )
        })
        await pool.query('SELECT * FROM items')
      })
      expect(recorded.skipped).toMatchObject({ 'a key that changes, before PostgreSQL 18': 2 })
      expect(await verdictOf(await recorded.history(), 'rc'), recorded.text()).toBe('unknown')
    },
  )

  it('by an upsert is a row that leaves and one that comes', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const upsert = `INSERT INTO items VALUES (7, 1, 'a'), (8, 1, 'b') ON CONFLICT (name)
      DO UPDATE SET id = CASE items.id WHEN 1 THEN 5 ELSE items.id END, n = 1`
    const recorded = await recording(pool, async () => {
      await pool.query(upsert)
      await pool.query('SELECT * FROM items')
    })
    expect(told(recorded)).toEqual([
      'update items where id = 2 as 1: 2<0; delete items where id = 1 as 2: 1<0; ' +
        'insert items as 3: 5',
      'select items: 2<1 5<3',
    ])
    expect(recorded.skipped).toEqual({})
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })
})

describe('a column that is named with its table and schema', () => {
  it('is that column in the history', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      await pool.query(
        'SELECT n FROM "public"."items" WHERE ("public"."items"."id" = $1 AND 1=1)',
        [1],
      )
      await pool.query('UPDATE public.items SET n = 1 WHERE public.items.id = 1 AND items.n > 2')
    })
    expect(told(recorded)).toEqual([
      'select items where ("id" = $1 AND 1=1): 1<0',
      'update items where id = 1 AND n > 2 as 1: 1<0',
    ])
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })
})

describe('constants in another spelling', () => {
  const UUID = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'
  it.each([
    ['uuid', UUID, UUID.toUpperCase()],
    ['date', '2026-01-05', '5 January 2026'],
  ])('are noticed in lists: %s', async (type, stored, asked) => {
    const { pool } = stage
    await reset(
      pool,
      `CREATE TABLE t (id ${type} PRIMARY KEY)`,
      `INSERT INTO t VALUES ('${stored}')`,
    )
    const recorded = await recording(pool, async () => {
      const { rows } = await pool.query('SELECT * FROM t WHERE id = ANY($1)', [[asked]])
      expect(rows).toHaveLength(1)
    })
    expect(Object.keys(recorded.skipped)).toEqual([
      `a ${type === 'uuid' ? 'UUID' : type} in another spelling`,
    ])
    expect(await verdictOf(await recorded.history(), 'rc')).toBe('unknown')
  })

  it('are noticed in rows: dates as another connection spells them, and before Christ', async () => {
    const { pool } = stage
    await reset(
      pool,
      'CREATE TABLE t (id int PRIMARY KEY, day date)',
      "INSERT INTO t VALUES (1, '2026-12-24'), (2, '0044-03-15 BC')",
    )
    const recorded = await recording(pool, async () => {
      await pool.query("SELECT * FROM t WHERE day < '2000-01-01'")
      const client = await pool.connect()
      await client.query('SET datestyle = German')
      await client.query("SELECT * FROM t WHERE day > '2026-06-01'")
      client.release(true)
    })
    expect(recorded.skipped).toEqual({ 'a date in another spelling': 2 })
    expect(await verdictOf(await recorded.history(), 'rc')).toBe('unknown')
  })
})

describe('a column of exact numbers', () => {
  it('is judged by its values, and not while one is NaN', async () => {
    const { pool } = stage
    await reset(
      pool,
      'CREATE TABLE t (id int PRIMARY KEY, price numeric(10,2), name text)',
      "INSERT INTO t VALUES (1, 12.5, 'Tea'), (2, 0.70, 'milk')",
    )
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT * FROM t WHERE round(price / 3, 1) = $1', [4.2])
      await pool.query('UPDATE t SET price = price * 2 WHERE price < 1.0 AND length(name) = 4')
      await pool.query('SELECT * FROM t WHERE price = 1.4')
    })
    expect(recorded.skipped).toEqual({})
    const history = await recorded.history()
    expect(renderNotation(history)).toContain("(1,'12.50','Tea')")
    expect(await verdictOf(history, 'ser')).toBe('satisfied')
    await pool.query('ALTER TABLE t ALTER price TYPE numeric')
    await pool.query("UPDATE t SET price = 'NaN' WHERE id = 2")
    const odd = await recording(pool, async () => {
      await pool.query('SELECT * FROM t WHERE price > 1')
    })
    expect(odd.skipped).toEqual({ 'NaN or an infinity': 1 })
  })
})

describe('a recorded statement is answered as without recording', () => {
  it.each([
    'SELECT -n AS id, name FROM items ORDER BY id',
    'SELECT 1 AS xmin, n AS id FROM items ORDER BY xmin, id',
    'SELECT FROM items',
    'SELECT DISTINCT n AS a, n AS a FROM items ORDER BY 1',
    'SELECT count(*), count(*) FROM items -- how many',
    'SELECT n > 15, count(*) FROM items WHERE n < 99 GROUP BY 1 ORDER BY 1 DESC;',
    'SELECT id, sum(n) OVER (ORDER BY id) FROM items ORDER BY id DESC',
    'UPDATE items SET n = 1 RETURNING WITH (OLD AS o) o.n, items.n',
    'SELECT nosuch, count(*) FROM items GROUP BY 1',
    'SELECT count(*) FROM items GROUP BY nosuch',
    'SELECT count(*) FROM items WHERE n / (id - 1) > 0',
  ])('%s', async (text) => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const ask = () =>
      pool.query({ text, rowMode: 'array' }).then(
        ({ rows, fields, rowCount }) => ({ rows, fields, rowCount }),
        ({ message, code, position }) => ({ message, code, position }),
      )
    const plain = await ask()
    await reset(pool, ...ITEMS)
    let seen: unknown
    await recording(pool, async () => {
      seen = await ask()
    })
    const tables = (answer: unknown) => JSON.parse(JSON.stringify(answer, withoutTable))
    expect(tables(seen)).toEqual(tables(plain))
  })
})

/** Tables that were made anew have other ids. */
function withoutTable(name: string, value: unknown): unknown {
  return name === 'tableID' ? value !== 0 : value
}

describe('groups of rows', () => {
  it('are told once, and not where a clause must not run twice', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, 'CREATE SEQUENCE s')
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT name, count(*) FROM items GROUP BY name')
      await pool.query("SELECT count(*) FROM items WHERE nextval('s') > n")
      const { rows } = await pool.query('SELECT last_value FROM s')
      expect(rows).toEqual([{ last_value: '2' }])
    })
    expect(told(recorded)).toEqual(['select items: 1<0 2<0'])
    expect(recorded.skipped).toMatchObject({ 'groups of rows by a clause that must run once': 1 })
  })

  it('are not told if they are too many', async () => {
    const { pool } = stage
    await reset(
      pool,
      'CREATE TABLE big (id int PRIMARY KEY)',
      'INSERT INTO big SELECT generate_series(1, 10001)',
    )
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT count(*) FROM big')
      await pool.query('SELECT count(*) FROM big WHERE id < 3')
    })
    expect(told(recorded)).toEqual(['select big where id < 3: 1<0 2<0'])
    expect(recorded.skipped).toEqual({ 'groups of more than 10000 rows': 1 })
  })
})

describe('OFFSET', () => {
  const READ = 'SELECT id FROM items WHERE n > 5'

  it.each([
    ['0', []],
    ['$1', [0]],
    ['$1', ['0']],
    ['0 ROWS', []],
  ])('of nothing leaves nothing out: OFFSET %s with %j', async (offset, values: unknown[]) => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      await pool.query(`${READ} OFFSET ${offset}`, values)
    })
    expect(told(recorded)).toEqual(['select items where n > 5: 1<0 2<0'])
    expect(recorded.skipped).toEqual({})
  })

  it.each([
    ['1', []],
    ['0 + 1', []],
    ['$1', [1]],
    ['1 ROWS', []],
  ])('of something is told by the rows that came: OFFSET %s with %j', async (offset, values) => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT * FROM items')
      await pool.query(`${READ} ORDER BY id OFFSET ${offset}`, values)
    })
    expect(told(recorded).at(-1)).toBe('select items where id = 2: 2<0')
    expect(recorded.skipped).toEqual({ OFFSET: 1 })
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('unknown')
  })
})

describe('ORDER BY with LIMIT', () => {
  it.each([
    'SELECT id, -n AS n FROM items ORDER BY n LIMIT 1',
    'SELECT id, -n n FROM items ORDER BY n LIMIT 1',
    'SELECT n::text FROM items ORDER BY n LIMIT 1',
  ])('does not speak of a column where the order is that of an expression: %s', async (text) => {
    const { pool } = stage
    await reset(pool, ...ITEMS, "INSERT INTO items VALUES (3, 100, 'c')")
    const recorded = await recording(pool, async () => {
      await pool.query(text)
      await pool.query('SELECT * FROM items')
    })
    expect(recorded.skipped).toEqual({ 'ORDER BY with LIMIT': 1 })
    expect(await verdictOf(await recorded.history(), 'rc'), recorded.text()).toBe('unknown')
  })

  it('does where the column is named with its table', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT id, -n AS n, n AS other FROM items ORDER BY items.n LIMIT 1')
      await pool.query('SELECT id, n FROM items ORDER BY n LIMIT 1')
    })
    const read = 'select items where (n < 10) OR id = 1: 1<0'
    expect(told(recorded)).toEqual([read, read])
  })
})

describe('the order of text', () => {
  it('is that of the database, whoever provides it', async () => {
    const { pool, server } = stage
    await pool.query('DROP DATABASE IF EXISTS ordered')
    await pool.query(
      "CREATE DATABASE ordered TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en'",
    )
    const other = new pg.Pool({ ...server.address, database: 'ordered' })
    await other.query('CREATE TABLE t (id int PRIMARY KEY, name text)')
    await other.query("INSERT INTO t VALUES (1, 'a'), (2, 'C')")
    const recorded = await recording(other, async () => {
      await other.query('SELECT * FROM t')
      const { rows } = await other.query("SELECT id FROM t WHERE name > 'B'")
      expect(rows).toEqual([{ id: 2 }])
    })
    await other.end()
    expect(recorded.skipped).toEqual({ 'the order of values of "name"': 1 })
    expect(await verdictOf(await recorded.history(), 'rc')).toBe('unknown')
  })
})
