// What a recording must not claim to know: whatever wrote beside the statements that were recorded
// makes rows that others passed over prove nothing, and the history partial.

import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { inTransaction, onServer, recording, reset, verdictOf } from '../server.ts'

const stage = onServer(8, { max_prepared_transactions: '2' })
const ITEMS = [
  'CREATE TABLE items (id int PRIMARY KEY, n int NOT NULL)',
  'INSERT INTO items VALUES (1, 10), (2, 20)',
]

/** Statements of a recorded pool, one after the other, and what may not be claimed of them. */
async function expectUnsure(statements: readonly string[], ...made: string[]): Promise<void> {
  const { pool } = stage
  await reset(pool, ...made)
  const recorded = await recording(pool, async () => {
    for (const statement of statements) await pool.query(statement)
  })
  expect(recorded.skipped).not.toEqual({})
  const history = await recorded.history()
  expect(await verdictOf(history, 'ser'), recorded.text()).toBe('unknown')
  expect(await verdictOf(history, 'rc'), recorded.text()).toBe('unknown')
}

const FUNCTION = (name: string, body: string) =>
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN ${body} END$$`

describe('a trigger makes rows unsure', () => {
  it('if it keeps a statement from touching any row', () =>
    expectUnsure(
      ['DELETE FROM items WHERE id = 1', 'SELECT * FROM items'],
      ...ITEMS,
      FUNCTION('keep', 'RETURN NULL;'),
      'CREATE TRIGGER keep BEFORE DELETE ON items FOR EACH ROW EXECUTE FUNCTION keep()',
    ))

  it('if it works for a statement that touches no row', () =>
    expectUnsure(
      ['SELECT * FROM items', 'UPDATE items SET n = 0 WHERE id = 7', 'SELECT * FROM items'],
      ...ITEMS,
      FUNCTION('clear', 'DELETE FROM items WHERE id = 2; RETURN NULL;'),
      'CREATE TRIGGER clear AFTER UPDATE ON items FOR EACH STATEMENT EXECUTE FUNCTION clear()',
    ))

  it('if it changes the very row that was written', () =>
    expectUnsure(
      ['INSERT INTO items VALUES (3, 30)', 'SELECT * FROM items WHERE n = 99'],
      ...ITEMS,
      FUNCTION('raise', 'UPDATE items SET n = 99 WHERE id = NEW.id; RETURN NULL;'),
      'CREATE TRIGGER raise AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION raise()',
    ))
})

describe('a write that is not recorded makes rows unsure', () => {
  const READ = 'SELECT * FROM items'
  it.each([
    ['through a view', 'DELETE FROM seen WHERE id = 1', 'CREATE VIEW seen AS SELECT * FROM items'],
    [
      'through a view in WITH',
      'WITH gone AS (DELETE FROM public.seen WHERE id = 1 RETURNING id) SELECT id FROM gone',
      'CREATE VIEW seen AS SELECT * FROM items',
    ],
    [
      'by TRUNCATE of another table',
      'TRUNCATE parents CASCADE',
      'CREATE TABLE parents (id int PRIMARY KEY)',
      'ALTER TABLE items ADD FOREIGN KEY (n) REFERENCES parents NOT VALID',
    ],
    [
      'by a rule of another table',
      'DELETE FROM parents',
      'CREATE TABLE parents (id int PRIMARY KEY)',
      'CREATE RULE clear AS ON DELETE TO parents DO ALSO DELETE FROM items',
    ],
    [
      'through a table that inherits',
      'DELETE FROM parents WHERE id = 1',
      'CREATE TABLE parents (id int)',
      'ALTER TABLE items INHERIT parents',
    ],
    [
      'by a default of another table',
      'INSERT INTO others VALUES (1)',
      `CREATE FUNCTION clear() RETURNS int LANGUAGE plpgsql AS
        $$BEGIN DELETE FROM items; RETURN 1; END$$`,
      'CREATE TABLE others (id int PRIMARY KEY, n int DEFAULT clear())',
    ],
    [
      'by a check of another table',
      'INSERT INTO others VALUES (1)',
      `CREATE FUNCTION clear() RETURNS bool LANGUAGE plpgsql AS
        $$BEGIN DELETE FROM items; RETURN true; END$$`,
      'CREATE TABLE others (id int PRIMARY KEY, CHECK (clear()))',
    ],
    [
      'by a domain of another table',
      'INSERT INTO others VALUES (1)',
      `CREATE FUNCTION clear(int) RETURNS bool LANGUAGE plpgsql AS
        $$BEGIN DELETE FROM items; RETURN true; END$$`,
      'CREATE DOMAIN clearing AS int CHECK (clear(VALUE))',
      'CREATE TABLE others (id int PRIMARY KEY, n clearing DEFAULT 1)',
    ],
  ])('%s', async (_, statement, ...made) =>
    expectUnsure([READ, statement, READ], ...ITEMS, ...made),
  )

  it('by a cascade that goes on', () =>
    expectUnsure(
      ['SELECT * FROM c', 'DELETE FROM a', 'SELECT * FROM c'],
      'CREATE TABLE a (id int PRIMARY KEY)',
      'CREATE TABLE b (id int PRIMARY KEY REFERENCES a ON DELETE CASCADE)',
      'CREATE TABLE c (id int PRIMARY KEY REFERENCES b ON DELETE CASCADE)',
      ...['a', 'b', 'c'].map((table) => `INSERT INTO ${table} VALUES (1)`),
    ))

  const CODES = [
    'CREATE TABLE a (id int PRIMARY KEY, code int UNIQUE, n int)',
    'CREATE TABLE b (id int PRIMARY KEY, code int REFERENCES a (code) ON UPDATE CASCADE)',
    'INSERT INTO a VALUES (1, 1)',
    'INSERT INTO b VALUES (1, 1)',
  ]
  const INSERTED = 'INSERT INTO b VALUES (2, 1)'
  it.each([
    'UPDATE a SET code = 2',
    'UPDATE a SET (n, code) = (1, 2)',
    'INSERT INTO a VALUES (1) ON CONFLICT (id) DO UPDATE SET code = 2',
  ])('by a cascade of an UPDATE: %s', (update) =>
    expectUnsure([INSERTED, update, 'SELECT * FROM b WHERE code = 1'], ...CODES),
  )

  it('but not by an UPDATE of columns that nothing refers to', async () => {
    const { pool } = stage
    await reset(pool, ...CODES)
    const recorded = await recording(pool, async () => {
      await pool.query('UPDATE a SET n = 5')
      await pool.query('UPDATE a SET code = 1, n = 6')
      await pool.query('SELECT * FROM b')
    })
    expect(recorded.skipped).toEqual({})
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('by another client, in tables that show no trace of it', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, 'CREATE TABLE others (id int PRIMARY KEY)')
    const other = new pg.Client(stage.server.address)
    await other.connect()
    const recorded = await recording(pool, async () => {
      await pool.query(READ)
      await other.query('DELETE FROM items WHERE id = 1')
      await other.query('INSERT INTO others VALUES (1)')
      await pool.query(READ)
      await pool.query('SELECT * FROM others')
    })
    await other.end()
    expect(await verdictOf(await recorded.history(), 'rc')).toBe('unknown')
  })

  it('in the same transaction, to a row that it had written', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      await inTransaction(pool, 'READ COMMITTED', async (client) => {
        await client.query('UPDATE items SET n = 1 WHERE id = 1')
        await client.query('WITH one AS (SELECT 2 AS n) UPDATE items SET n = one.n FROM one')
        await client.query('SELECT * FROM items WHERE n = 2')
      })
      await pool.query('SELECT * FROM items WHERE n = 2')
    })
    expect(await verdictOf(await recorded.history(), 'rc'), recorded.text()).toBe('unknown')
  })
})

describe('a version that the same transaction wrote, and nobody recorded', () => {
  it('is not the one that it writes next', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      await inTransaction(pool, 'READ COMMITTED', async (client) => {
        await client.query('WITH one AS (SELECT 2 AS n) UPDATE items SET n = one.n FROM one')
        await client.query('UPDATE items SET n = n + 1 WHERE id = 1')
      })
      await pool.query('SELECT * FROM items WHERE id = 1')
    })
    expect(await verdictOf(await recorded.history(), 'rc'), recorded.text()).toBe('unknown')
  })
})

describe('a function that returns no row for a row', () => {
  it('says nothing of rows passed over', () =>
    expectUnsure(
      ['SELECT id, unnest(tags) FROM tagged', 'SELECT * FROM tagged'],
      'CREATE TABLE tagged (id int PRIMARY KEY, tags text[])',
      "INSERT INTO tagged VALUES (1, '{}'), (2, '{a,b}')",
    ))
})

describe('the initial version of a row', () => {
  it('is one, whoever began before the recording', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const begun = await pool.connect()
    await begun.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await begun.query('SELECT 1 FROM items')
    await pool.query('UPDATE items SET n = 11 WHERE id = 1')
    begun.release()
    const recorded = await recording(pool, async () => {
      const clients = [await pool.connect(), await pool.connect()]
      const [early, late] = clients[0] === begun ? clients : clients.reverse()
      await late!.query('SELECT * FROM items WHERE n = 11')
      await early!.query('SELECT * FROM items WHERE n = 10')
      await early!.query('COMMIT')
      for (const client of clients) client.release()
    })
    const history = await recorded.history()
    expect(recorded.skipped).toEqual({ 'a version that nobody recorded wrote': 1 })
    expect(await verdictOf(history, 'rc'), recorded.text()).toBe('unknown')
  })
})

describe('a prepared transaction', () => {
  it('has not committed until somebody says so', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      const client = await pool.connect()
      for (const text of ['BEGIN', 'SELECT n FROM items WHERE id = 1', 'UPDATE items SET n = 11'])
        await client.query(text)
      await client.query("PREPARE TRANSACTION 'one'")
      await client.query("ROLLBACK PREPARED 'one'")
      client.release()
      await inTransaction(pool, 'SERIALIZABLE', async (other) => {
        await other.query('SELECT n FROM items WHERE id = 1')
        await other.query('UPDATE items SET n = 12')
      })
    })
    expect(await verdictOf(await recorded.history(), 'si'), recorded.text()).toBe('unknown')
  })
})

describe('several statements in one text', () => {
  const DELETED = ['BEGIN', 'DELETE FROM items WHERE id = 1']

  /** Statements of one connection, whose errors are passed over, and what the recording tells. */
  async function statuses(...statements: string[]): Promise<string[]> {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      const client = await pool.connect()
      for (const text of statements) await client.query(text).catch(() => {})
      client.release()
      await pool.query('SELECT * FROM items')
    })
    expect(await verdictOf(await recorded.history(), 'rc'), recorded.text()).not.toBe('violated')
    const lines = recorded.text().trim().split('\n')
    const parsed = lines.map((line) => JSON.parse(line)).filter(({ ops }) => ops !== undefined)
    return parsed.map(({ status, ops }) => `${status ?? 'committed'} ${ops.length}`)
  }

  it.each(['COMMIT; SET nosuch = 1', 'COMMIT; SELECT 1 / 0', 'ROLLBACK; SELECT 1 / 0'])(
    'do not tell how a transaction ended before an error: %s',
    async (text) => {
      expect(await statuses(...DELETED, text)).toEqual(['indeterminate 1', 'committed 1'])
    },
  )

  it('are waited for if one failed, before anything else is recorded', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS)
    const recorded = await recording(pool, async () => {
      const client = await pool.connect()
      for (const text of DELETED) await client.query(text)
      // The driver tells of the error before the server says how it left the transaction.
      await new Promise((resolve) => {
        client.query('ROLLBACK; SELECT 1 / 0', () => client.query('DELETE FROM items', resolve))
      })
      client.release()
    })
    const deletes = recorded.text().match(/"delete":"items"/g)
    expect(deletes, recorded.text()).toHaveLength(2)
  })

  it('end one transaction and begin another', async () => {
    const rest = ['DELETE FROM items WHERE id = 2', 'ROLLBACK']
    const told = await statuses(...DELETED, 'COMMIT; BEGIN', ...rest)
    expect(told).toEqual(['committed 1', 'aborted 2', 'committed 1'])
    const failed = await statuses(...DELETED, 'COMMIT; BEGIN; SELECT 1 / 0', ...rest)
    expect(failed).toEqual(['indeterminate 1', 'committed 1'])
    expect(await statuses(...DELETED, 'COMMIT; BEGIN; ROLLBACK')).toEqual([
      'committed 1',
      'committed 1',
    ])
  })

  it('go on with a transaction that they take back in part', async () => {
    const back = 'ROLLBACK TO s; SELECT 1'
    const told = await statuses(
      ...['BEGIN', 'INSERT INTO items VALUES (3, 30)', 'SAVEPOINT s', DELETED[1]!, back],
      ...['DELETE FROM items WHERE id = 2', 'COMMIT'],
    )
    expect(told).toEqual(['committed 1', 'committed 1'])
  })
})
