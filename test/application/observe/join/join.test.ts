// Joins of an application, on a server: what is recorded of them, and races that go through them.

import { describe, expect, it } from 'vitest'
import { race } from '../../../../src/application/race/race.ts'
import {
  inTransaction,
  onServer,
  recording,
  reset,
  told,
  transact,
  verdictOf,
} from '../../server.ts'

const stage = onServer()

const HOTEL = [
  'CREATE TABLE rooms (id int PRIMARY KEY, number int, note text)',
  'CREATE TABLE bookings (id serial PRIMARY KEY, room int NOT NULL REFERENCES rooms, hour int)',
  'INSERT INTO rooms VALUES (1, 4), (2, 5)',
  'INSERT INTO bookings (room, hour) VALUES (2, 10)',
]
const BOOKED =
  'SELECT b.id FROM bookings b JOIN rooms r ON r.id = b.room WHERE r.number = $1 AND b.hour = $2'

describe('a join', () => {
  it('tells what would have matched rows of a table that nobody writes', async () => {
    const { pool } = stage
    await reset(pool, ...HOTEL)
    const recorded = await recording(pool, async () => {
      const { rows, rowCount, command } = await pool.query(BOOKED, [4, 10])
      expect([rows, rowCount, command]).toEqual([[], 0, 'SELECT'])
      await pool.query('INSERT INTO bookings (room, hour) VALUES (1, 10)')
    })
    expect(recorded.skipped).toEqual({})
    expect(told(recorded)[0]).toContain('select bookings where (hour = 10) AND (room = 1):')
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('leaves open what depends on two tables that are written', async () => {
    const { pool } = stage
    await reset(pool, ...HOTEL)
    const recorded = await recording(pool, async () => {
      await pool.query(BOOKED, [4, 10])
      await pool.query('INSERT INTO bookings (room, hour) VALUES (1, 10)')
      await pool.query('UPDATE rooms SET number = 6 WHERE id = 1')
    })
    expect(recorded.skipped).toEqual({ 'a join of tables that were written': 1 })
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('unknown')
  })

  it.each([
    'SELECT * FROM rooms r LEFT JOIN bookings b ON b.room = r.id AND b.hour = 10 WHERE r.id < 3',
    'SELECT b.*, r.* FROM bookings AS b INNER JOIN public.rooms r ON (b.room = r.id) WHERE (b.hour = 10)',
    'SELECT count(*) FROM rooms, bookings b WHERE room = rooms.id AND rooms.id = 2',
    'SELECT b.hour FROM bookings b JOIN rooms r ON r.id = b.room WHERE b.id = 1 LIMIT 1',
  ])('is told in full, whoever writes: %s', async (text) => {
    const { pool } = stage
    await reset(pool, ...HOTEL)
    const recorded = await recording(pool, async () => {
      await pool.query(text)
      await pool.query('UPDATE bookings SET hour = 11 WHERE room = 2')
      await pool.query("UPDATE rooms SET note = 'new'")
      await pool.query(text)
    })
    expect(recorded.skipped).toEqual({})
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
  })

  it('takes numbers for equal that have different texts', async () => {
    const { pool } = stage
    await reset(
      pool,
      'CREATE TABLE prices (id int PRIMARY KEY, amount numeric)',
      'CREATE TABLE offers (id int PRIMARY KEY, amount numeric, note text)',
      'INSERT INTO prices VALUES (1, 1.0)',
      'INSERT INTO offers VALUES (1, 1.0), (2, 1.00), (3, 2)',
    )
    const recorded = await recording(pool, async () => {
      await pool.query("UPDATE offers SET note = 'new' WHERE id = 3")
      const join = 'FROM prices p LEFT JOIN offers o ON o.amount = p.amount'
      const { rows } = await pool.query(`SELECT count(o.id)::int AS n ${join}`)
      expect(rows).toEqual([{ n: 2 }])
    })
    expect(await verdictOf(await recorded.history(), 'ser')).not.toBe('violated')
  })

  it.each(['LIMIT 0', 'OFFSET 1'])(
    'that returns nothing by %s says nothing of rows',
    async (rest) => {
      const { pool } = stage
      await reset(pool, ...HOTEL)
      const text = 'SELECT * FROM rooms r LEFT JOIN bookings b ON b.room = r.id WHERE r.id = 7'
      const recorded = await recording(pool, async () => {
        await pool.query("UPDATE rooms SET note = 'new'")
        expect((await pool.query(`${text} ${rest}`)).rows).toEqual([])
      })
      expect(told(recorded).join()).not.toContain('select')
    },
  )

  it('does not fail by rows that have no partners', async () => {
    const { pool } = stage
    await reset(pool, ...HOTEL)
    await pool.query('UPDATE rooms SET number = 0 WHERE id = 1')
    const text = 'SELECT r.id FROM rooms r JOIN bookings b ON b.room = r.id WHERE b.id = 1'
    const recorded = await recording(pool, async () => {
      for (const more of ['10 / r.number > 1', 'r.number % r.number = 0', 'r.number > -1::int']) {
        expect((await pool.query(`${text} AND ${more}`)).rows).toEqual([{ id: 2 }])
      }
    })
    expect(recorded.skipped).toEqual({})
    expect(told(recorded).at(-1)).toContain('number > -1::int')
  })

  it('that reads its own writes, and rolls back to a savepoint, says so', async () => {
    const { pool } = stage
    await reset(pool, ...HOTEL)
    const recorded = await recording(pool, async () => {
      await inTransaction(pool, 'REPEATABLE READ', async (client) => {
        await client.query('SAVEPOINT s')
        await client.query('UPDATE bookings SET hour = 12')
        await client.query(BOOKED, [5, 12])
        await client.query('ROLLBACK TO s')
        await client.query(BOOKED, [5, 10])
      })
    })
    expect(recorded.skipped).toEqual({ 'a join that saw what was rolled back': 1 })
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('unknown')
  })
})

describe('a race through a join', () => {
  function actors(begin: string) {
    const book = () =>
      transact(stage.pool, begin, async (client) => {
        const { rows } = await client.query(BOOKED, [4, 10])
        if (rows.length === 0) {
          await client.query('INSERT INTO bookings (room, hour) VALUES (1, 10)')
          await client.query("UPDATE rooms SET note = 'booked' WHERE id = 2")
        }
      })
    const again = async () => {
      for (;;) {
        try {
          return await book()
        } catch (error) {
          if ((error as { code?: string }).code !== '40001') throw error
        }
      }
    }
    return { ann: again, bob: again }
  }
  const before = async () => {
    await stage.pool.query("DELETE FROM bookings; UPDATE rooms SET note = ''")
  }

  it('that finds nobody, and books twice, is found, and cured', { timeout: 60_000 }, async () => {
    const { pool } = stage
    await reset(pool, ...HOTEL)
    const cured = await race(pool, actors('BEGIN ISOLATION LEVEL SERIALIZABLE'), { before })
    expect([cured.verdict, cured.coverage.isComplete]).toEqual(['satisfied', true])
  })

  it('is violated where tables are constant', { timeout: 60_000 }, async () => {
    const { pool } = stage
    await reset(pool, ...HOTEL)
    const book = () =>
      transact(pool, 'BEGIN', async (client) => {
        const { rows } = await client.query(BOOKED, [4, 10])
        if (rows.length === 0)
          await client.query('INSERT INTO bookings (room, hour) VALUES (1, 10)')
      })
    const reset_ = () => pool.query('DELETE FROM bookings')
    const broken = await race(pool, { ann: book, bob: book }, { before: reset_, cures: false })
    expect([broken.verdict, broken.runs.length]).toEqual(['violated', 1])
  })
})
