// An application on one connection sees the same with and without recording, in whatever way it
// asks: cursors, callbacks, events, timeouts, names.

import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Recorded, record } from '../../../src/application/observe/instrument.ts'
import { onServer, reset, told } from '../server.ts'

const stage = onServer()
let client: pg.Client
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

/** Does the same on a connection that nobody watches, and on one that is recorded. */
async function both<T>(work: () => Promise<T>): Promise<[plain: T, watched: T, Recorded]> {
  const plain = await work()
  await stage.pool.query('DELETE FROM items; INSERT INTO items VALUES (1, 10), (2, 20)')
  await client.end()
  client = new pg.Client(stage.server.address)
  await client.connect()
  const recorded = record(client)
  const watched = await work()
  recorded.stop()
  return [plain, watched, recorded]
}

/**
 * A statement whose time runs out while it waits for a row that `holder` has locked. The clock
 * stands still until the server has it: one that was not sent yet would never be.
 */
async function runOutOfTime(holder: pg.PoolClient): Promise<unknown> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const slow = { text: 'UPDATE items SET n = n + 1 WHERE id = 1', query_timeout: 50 }
    const late = client.query(slow).catch((error: Error) => error.message)
    const waiting = () => holder.query('SELECT 1 FROM pg_locks WHERE NOT granted')
    while ((await waiting()).rowCount === 0) {}
    vi.advanceTimersByTime(50)
    return await late
  } finally {
    vi.useRealTimers()
  }
}

/** As much of a cursor as the driver asks for: a query that is none of the driver's own. */
class Cursor {
  readonly rows: unknown[][] = []
  private end: (rows: unknown[][]) => void = () => {}
  readonly ended = new Promise<unknown[][]>((resolve) => {
    this.end = resolve
  })

  constructor(readonly text: string) {}

  submit(connection: { query(text: string): void }): void {
    connection.query(this.text)
  }
  handleRowDescription(): void {}
  handleDataRow({ fields }: { fields: unknown[] }): void {
    this.rows.push(fields)
  }
  handleCommandComplete(): void {}
  handleError(): void {
    this.end([])
  }
  handleReadyForQuery(): void {
    this.end(this.rows)
  }
}

describe('a recorded connection', () => {
  it('keeps cursors in their place', async () => {
    const [plain, watched, { skipped }] = await both(async () => {
      const first = client.query('UPDATE items SET n = 11 WHERE id = 1')
      const cursor = client.query(new Cursor('SELECT n FROM items ORDER BY id'))
      const last = client.query('UPDATE items SET n = 12 WHERE id = 1 RETURNING n')
      await first
      return [await cursor.ended, (await last).rows]
    })
    expect(plain).toEqual([[['11'], ['20']], [{ n: 12 }]])
    expect(watched).toEqual(plain)
    expect(skipped).toEqual({ 'a cursor, a stream or COPY': 1 })
  })

  it.each(['SELECT n FROM items ORDER BY id', 'SELECT nosuch FROM items'])(
    'tells listeners of a query the same: %s',
    async (text) => {
      const [plain, watched, recorded] = await both(async () => {
        const heard: unknown[] = []
        const query = client.query(new pg.Query(text))
        const over = new Promise<void>((resolve) => {
          query.on('row', (row) => heard.push(row))
          query.on('end', (result) => resolve(void heard.push(['end', result.rows])))
          query.on('error', (error) => resolve(void heard.push([error.message, 'position'])))
        })
        await over
        return [...heard, (query as unknown as { text: string }).text]
      })
      expect(plain.length).toBeGreaterThan(1)
      expect(watched).toEqual(plain)
      expect(told(recorded)).toHaveLength(text.includes('nosuch') ? 0 : 1)
    },
  )

  it('ends a query at its own timeout, and goes on', async () => {
    const holder = await stage.pool.connect()
    try {
      const [plain, watched, recorded] = await both(async () => {
        await holder.query('BEGIN')
        await holder.query('UPDATE items SET n = 1 WHERE id = 1')
        const late = await runOutOfTime(holder)
        await holder.query('COMMIT')
        const { rows } = await client.query('UPDATE items SET n = n + 1 WHERE id = 1 RETURNING n')
        return [late, rows]
      })
      expect(plain).toEqual(['Query read timeout', [{ n: 3 }]])
      expect(watched).toEqual(plain)
      expect(recorded.skipped).toMatchObject({ 'an answer that was lost': 1 })
    } finally {
      holder.release(true)
    }
  })

  it('records what comes behind a timeout inside of a transaction', async () => {
    const recorded = record(client)
    const holder = await stage.pool.connect()
    try {
      await holder.query('BEGIN')
      await holder.query('UPDATE items SET n = 1 WHERE id = 1')
      await client.query('BEGIN')
      await runOutOfTime(holder)
      const later = client.query('UPDATE items SET n = 5 WHERE id = 2')
      await holder.query('COMMIT')
      await later
      await client.query('COMMIT')
    } finally {
      holder.release(true)
      recorded.stop()
    }
    expect(told(recorded)).toEqual(['update items where id = 2 as 1: 2<0'])
  })

  it('goes on behind a callback that throws', async () => {
    const before = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    const thrown: string[] = []
    const note = (error: Error) => thrown.push(error.message)
    process.on('uncaughtException', note)
    try {
      const [plain, watched] = await both(async () => {
        client.query('SELECT n FROM items', () => {
          throw new Error('mine')
        })
        const { rows } = await client.query('SELECT n FROM items WHERE id = 2')
        return [rows, thrown.splice(0)]
      })
      expect(plain).toEqual([[{ n: 20 }], ['mine']])
      expect(watched).toEqual(plain)
    } finally {
      process.removeListener('uncaughtException', note)
      for (const each of before) process.on('uncaughtException', each)
    }
  })

  it('refuses one name for two statements, as the driver does', async () => {
    const [plain, watched, recorded] = await both(async () => {
      const ask = (name: string, text: string, values: unknown[] = [1]) =>
        client.query({ name, text, values }).then(
          ({ rows }) => rows,
          (error: Error) => error.message,
        )
      return [
        await ask('a', 'SELECT n FROM items WHERE id = $1'),
        await ask('a', 'SELECT n, id FROM items WHERE id = $1'),
        await ask('a', 'SELECT n FROM items WHERE id = $1', [2]),
        await ask('b', 'SELECT nosuch FROM items WHERE id = $1'),
        await ask('b', 'SELECT id FROM items WHERE id = $1'),
        await ask('c', 'SELECT 1 / (id - id) AS x FROM items WHERE id = $1'),
        await ask('c', 'SELECT id FROM items WHERE id = $1'),
        (await client.query({ name: 'a', values: [1] } as unknown as pg.QueryConfig)).rows,
      ]
    })
    expect(plain[1]).toMatch(/^Prepared statements must be unique - 'a'/)
    expect(plain[6]).toMatch(/^Prepared statements must be unique - 'c'/)
    expect(watched).toEqual(plain)
    expect(recorded.skipped).toEqual({})
  })

  it('knows the names that were given before it was recorded', async () => {
    await client.query({ name: 'a', text: 'SELECT n FROM items' })
    const recorded = record(client)
    const again = client.query({ name: 'a', text: 'SELECT id FROM items' })
    await expect(again).rejects.toThrow("'a' was used for a different statement")
    recorded.stop()
    const { rows } = await client.query({ name: 'a', text: 'SELECT n FROM items' })
    expect(rows).toHaveLength(2)
  })

  it('may be recorded again, with other named statements', async () => {
    for (const name of ['a', 'b', 'a']) {
      const recorded = record(client)
      const text = `SELECT n AS ${name} FROM items WHERE id = 1`
      expect((await client.query({ name, text })).rows).toEqual([{ [name]: 10 }])
      recorded.stop()
    }
  })
})
