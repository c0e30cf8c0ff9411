// What is recorded of an INSERT that fails because a row is there.

import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { inTransaction, onServer, recording, reset, verdictOf } from '../server.ts'

const stage = onServer(4)

beforeEach(async () => {
  await reset(
    stage.pool,
    'CREATE TABLE users (id int PRIMARY KEY, name text UNIQUE, shop int, item text, UNIQUE (shop, item))',
    "INSERT INTO users VALUES (1, 'ann', 1, 'tea')",
  )
})

/** Asks, and takes no for an answer. */
async function ask(
  on: { query(text: string): Promise<unknown> },
  text: string,
  code = '23505',
): Promise<void> {
  await expect(on.query(text)).rejects.toMatchObject({ code })
}

/** Until a statement waits for a lock, as somebody sees it who is not recorded. */
async function untilOneWaits(): Promise<void> {
  const watcher = new pg.Client(stage.server.address)
  await watcher.connect()
  const asked = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
  while ((await watcher.query(asked)).rowCount === 0);
  await watcher.end()
}

function refusalsIn(text: string): string[] {
  return text.match(/\{"refused":.*?\]\}/g) ?? []
}

describe('an INSERT that fails because a row is there', () => {
  it.each([
    ['its key', "INSERT INTO users VALUES (2, 'eve')"],
    ['another unique key', "INSERT INTO users VALUES (3, 'bob')"],
    ['one of several columns', "INSERT INTO users VALUES (3, 'eve', 2, 'jam')"],
    ['one of several rows', "INSERT INTO users VALUES (3, 'eve'), (2, 'kim')"],
    [
      'one that it does not look at',
      "INSERT INTO users VALUES (5, 'bob') ON CONFLICT (id) DO NOTHING",
    ],
  ])('is told as one that saw it: by %s', async (_, text) => {
    const { pool } = stage
    const recorded = await recording(pool, async () => {
      await pool.query("INSERT INTO users VALUES (2, 'bob', 2, 'jam')")
      await ask(pool, text)
    })
    expect(refusalsIn(recorded.text())).toEqual([
      '{"refused":"users","rows":[{"key":[2],"from":1}]}',
    ])
    expect(recorded.skipped).toEqual({})
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('saw the last of several versions', async () => {
    const { pool } = stage
    const recorded = await recording(pool, async () => {
      for (const shop of [2, 3, 4]) await pool.query('UPDATE users SET shop = $1', [shop])
      await ask(pool, "INSERT INTO users VALUES (1, 'eve')")
      await pool.query('DELETE FROM users')
      await pool.query("INSERT INTO users VALUES (1, 'eve')")
      await ask(pool, "INSERT INTO users VALUES (1, 'kim')")
    })
    expect(refusalsIn(recorded.text())).toEqual([
      '{"refused":"users","rows":[{"key":[1],"from":3}]}',
      '{"refused":"users","rows":[{"key":[1],"from":5}]}',
    ])
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('counts after ROLLBACK TO, and contradicts a SELECT that found nothing', async () => {
    const { pool } = stage
    const look = async (first: boolean) => {
      const recorded = await recording(pool, () =>
        inTransaction(pool, 'READ COMMITTED', async (client) => {
          if (first) await client.query('SELECT id FROM users WHERE id = 9')
          await pool.query('INSERT INTO users VALUES (9)')
          await client.query('SAVEPOINT s')
          await ask(client, 'INSERT INTO users VALUES (9)')
          await client.query('ROLLBACK TO s')
          await client.query('SELECT name FROM users WHERE id = 1')
        }),
      )
      await pool.query('DELETE FROM users WHERE id = 9')
      expect(recorded.skipped).toEqual({})
      expect(refusalsIn(recorded.text())).toHaveLength(1)
      return [
        await verdictOf(await recorded.history(), 'rc'),
        await verdictOf(await recorded.history(), 'ser'),
      ]
    }
    expect(await look(true)).toEqual(['satisfied', 'violated'])
    expect(await look(false)).toEqual(['satisfied', 'satisfied'])
  })

  it('is of a transaction that is left out, where it ends one', async () => {
    const { pool } = stage
    const recorded = await recording(pool, async () => {
      await pool.query('INSERT INTO users VALUES (9)')
      await inTransaction(pool, 'READ COMMITTED', async (client) => {
        await client.query('SELECT id FROM users WHERE id = 10')
        await ask(client, 'INSERT INTO users VALUES (9)')
      })
    })
    expect(recorded.text()).toMatch(/"status":"aborted".*\{"refused":"users"/)
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('saw the row that was there at first, once somebody has read that', async () => {
    const { pool } = stage
    const recorded = await recording(pool, async () => {
      await ask(pool, 'INSERT INTO users VALUES (1)')
      await pool.query('SELECT * FROM users WHERE id = 1')
      await ask(pool, 'INSERT INTO users VALUES (1)')
      await pool.query("UPDATE users SET name = 'kim' WHERE id = 1")
      await ask(pool, 'INSERT INTO users VALUES (1)')
    })
    expect(refusalsIn(recorded.text())).toEqual([
      '{"refused":"users","rows":[{"key":[1],"from":null}]}',
      '{"refused":"users","rows":[{"key":[1],"from":1}]}',
    ])
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('is not told where it is not certain which version it met', async () => {
    const { pool } = stage
    const recorded = await recording(pool, async () => {
      await pool.query("INSERT INTO users VALUES (2, 'bob')")
      await ask(pool, 'INSERT INTO users (name) VALUES (NULL)', '23502')
      const [client, other] = await Promise.all([pool.connect(), pool.connect()])
      await client.query('BEGIN')
      await client.query('UPDATE users SET shop = 5 WHERE id = 1')
      const update = other.query('UPDATE users SET shop = 6') // waits, and writes who knows what
      await untilOneWaits()
      await ask(pool, 'INSERT INTO users VALUES (2)')
      await client.query('COMMIT')
      await update
      client.release()
      other.release()
    })
    expect(refusalsIn(recorded.text())).toEqual([])
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })
})
