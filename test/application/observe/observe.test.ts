// What recording an application tells, on a real server: who wrote the versions that it saw.

import { describe, expect, it } from 'vitest'
import { inTransaction, onServer, recording, reset, told, verdictOf } from '../server.ts'

const stage = onServer()
const ITEMS = ['CREATE TABLE items (id int PRIMARY KEY, n int NOT NULL, name text)']
const TWO = "INSERT INTO items VALUES (1, 10, 'a'), (2, 20, 'b')"

describe('record', () => {
  it('names the statement that wrote what others see', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, TWO)
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT * FROM items WHERE id = $1', [1])
      await pool.query('UPDATE items SET n = n + 1 WHERE id = 1')
      await pool.query('SELECT n FROM items WHERE n > 5')
      await pool.query('DELETE FROM items WHERE id = 2')
      await pool.query('INSERT INTO items VALUES (2, 7), (3, 8)')
      await pool.query('SELECT n FROM items')
    })
    expect(told(recorded)).toEqual([
      'select items where id = $1: 1<0',
      'update items where id = 1 as 1: 1<0',
      'select items where n > 5: 1<1 2<0',
      'delete items where id = 2 as 2: 2<0',
      'insert items as 3: 2 3',
      'select items: 1<1 2<3 3<3',
    ])
    expect(recorded.skipped).toEqual({})
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('knows several updates of a row in one transaction apart', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, TWO)
    const recorded = await recording(pool, async () => {
      await inTransaction(pool, 'READ COMMITTED', async (client) => {
        await client.query('UPDATE items SET n = 1 WHERE id = 1')
        await client.query('SELECT n FROM items WHERE id = 1')
        await client.query('UPDATE items SET n = 2 WHERE id = 1')
        await client.query('SELECT n FROM items WHERE id = 1')
      })
      await pool.query('SELECT n FROM items WHERE id = 1')
    })
    expect(told(recorded)).toEqual([
      'update items where id = 1 as 1: 1<0; select items where id = 1: 1<1; ' +
        'update items where id = 1 as 2: 1<1; select items where id = 1: 1<2',
      'select items where id = 1: 1<2',
    ])
  })

  it('takes back what a savepoint takes back', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, TWO)
    const recorded = await recording(pool, async () => {
      await inTransaction(pool, 'REPEATABLE READ', async (client) => {
        await client.query('UPDATE items SET n = 1 WHERE id = 1')
        await client.query('SAVEPOINT a')
        await client.query('UPDATE items SET n = 2 WHERE id = 1')
        await client.query('SAVEPOINT b')
        await client.query('DELETE FROM items WHERE id = 2')
        await client.query('SELECT n FROM items WHERE n < 9')
        await client.query('ROLLBACK TO b')
        await client.query('SELECT n FROM items')
        await client.query('ROLLBACK TO SAVEPOINT a')
        await client.query('SAVEPOINT c')
        await client.query('UPDATE items SET n = 3 WHERE id = 2')
        await client.query('RELEASE c')
      })
      await pool.query('SELECT n FROM items ORDER BY id')
    })
    expect(told(recorded)).toEqual([
      'update items where id = 1 as 1: 1<0; select items where id = 1: 1<1; ' +
        'select items where (id = 2) AND NOT (id = 1): 2<0; ' +
        'select items where ((n < 9) AND NOT (id = 2)) AND NOT (id = 1):; ' +
        'select items where NOT (id = 1): 2<0; update items where id = 2 as 4: 2<0',
      'select items: 1<1 2<4',
    ])
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
    expect(recorded.skipped).toEqual({})
  })

  it('says that it leaves out what a failed statement saw, if its transaction goes on', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, TWO)
    const recorded = await recording(pool, () =>
      inTransaction(pool, 'READ COMMITTED', async (client) => {
        await client.query('SAVEPOINT a')
        await expect(client.query('INSERT INTO items VALUES (1, 5)')).rejects.toThrow('duplicate')
        await client.query('ROLLBACK TO a')
        await client.query('SELECT n FROM items')
      }),
    )
    expect(recorded.skipped).toEqual({ 'a statement that failed before ROLLBACK TO': 1 })
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('unknown')
  })

  it('knows what an upsert replaced', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, TWO)
    const upsert =
      'INSERT INTO items VALUES (1, 5), (9, 5) ON CONFLICT (id) DO UPDATE SET n = excluded.n'
    const recorded = await recording(pool, async () => {
      await pool.query(upsert)
      await pool.query(`${upsert} RETURNING id`)
      await pool.query('SELECT * FROM items')
    })
    expect(told(recorded)).toEqual([
      'insert items as 1: 9; update items where id = 1 as 2: 1<0',
      'update items where id IN (1, 9) as 3: 1<2 9<1',
      'select items: 1<3 2<0 9<3',
    ])
  })

  it('takes a row with a changed key for another', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, TWO)
    const recorded = await recording(pool, async () => {
      await pool.query('UPDATE items SET id = 5 WHERE id = 1')
      await pool.query('SELECT * FROM items WHERE id > 2')
    })
    expect(told(recorded)).toEqual([
      'delete items where id = 1 as 1: 1<0; insert items as 2: 5',
      'select items where id > 2: 5<2',
    ])
  })

  it('takes frozen rows for what they were', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, TWO, 'VACUUM FREEZE items')
    const recorded = await recording(pool, async () => {
      await pool.query('UPDATE items SET n = 0 WHERE id = 1')
      await pool.query('VACUUM FREEZE items')
      await pool.query('SELECT * FROM items')
    })
    expect(told(recorded).at(-1)).toBe('select items: 1<1 2<0')
    expect(recorded.skipped).toEqual({})
  })

  it('says what it was asked for where rows are counted, and where there is a LIMIT', async () => {
    const { pool } = stage
    await reset(pool, ...ITEMS, TWO)
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT count(*), max(n) FROM items WHERE n < 15')
      await pool.query('SELECT name, sum(n) FROM items GROUP BY name')
      await pool.query('SELECT DISTINCT name FROM items WHERE id > 5')
      await pool.query('SELECT * FROM items ORDER BY n DESC LIMIT 1')
      await pool.query('SELECT * FROM items ORDER BY n LIMIT 3')
      await pool.query('SELECT * FROM items LIMIT 1')
      await pool.query('SELECT * FROM items WHERE id = ANY($1) LIMIT $2', [[1, 3], 2])
    })
    expect(told(recorded)).toEqual([
      'select items where n < 15: 1<0',
      'select items: 1<0 2<0',
      'select items where id > 5:',
      'select items where (n > 20) OR id = 2: 2<0',
      'select items: 1<0 2<0',
      'select items where id = 1: 1<0',
      'select items where id IN (1, 3): 1<0',
    ])
    expect(recorded.skipped).toEqual({})
  })
})
