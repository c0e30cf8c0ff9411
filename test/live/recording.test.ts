// Recording an application on servers that are older than the embedded one, where it is harder to
// know what an UPDATE replaced.

import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { FILL, randomProgram, runProgram, TABLES } from '../application/programs.ts'
import { recording, reset, told, verdictOf } from '../application/server.ts'
import { some } from '../long.ts'
import { liveServers } from './postgres.ts'

/** An UPDATE that cannot be fails before or after it has waited for the row. */
const LATER = [
  /(SET n = NULL WHERE id = 2",)\{[^}]*"code":"(?:23502|55P03)"[^}]*\}/g,
  '$1"refused"',
] as const

describe.each(liveServers())('a recorded application on %s', (_, target) => {
  async function onPool(work: (pool: pg.Pool) => Promise<void>): Promise<void> {
    const pool = new pg.Pool({ ...target().address, max: 6 })
    try {
      await work(pool)
    } finally {
      await pool.end()
    }
  }

  it('sees what it sees without, and is judged by what is so', { timeout: 300_000 }, () =>
    onPool(async (pool) => {
      await reset(pool, ...TABLES)
      const fill = async () => {
        for (const text of FILL) await pool.query(text)
      }
      for (let seed = 1; seed <= some(40); seed++) {
        const program = randomProgram(seed, false)
        await fill()
        const plain = await runProgram(pool, program)
        await fill()
        let seen: unknown[] = []
        const recorded = await recording(pool, async () => {
          seen = await runProgram(pool, program)
        })
        expect(JSON.stringify(seen).replace(...LATER), `seed ${seed}`).toEqual(
          JSON.stringify(plain).replace(...LATER),
        )
        if (/"refused"/.test(recorded.text())) continue // which is no matter of snapshots
        expect(await verdictOf(await recorded.history(), 'mixed'), `seed ${seed}`).not.toBe(
          'violated',
        )
      }
    }),
  )

  it('tells the version that an UPDATE replaced after it had waited', () =>
    onPool(async (pool) => {
      await reset(pool, 'CREATE TABLE t (id int PRIMARY KEY, n int)', 'INSERT INTO t VALUES (1, 0)')
      const recorded = await recording(pool, async () => {
        const [ann, bob] = [await pool.connect(), await pool.connect()]
        await ann.query('BEGIN')
        await bob.query('BEGIN')
        await ann.query('UPDATE t SET n = n + 1 WHERE id = 1')
        const waiting = bob.query('UPDATE t SET n = n + 10 WHERE id = 1 RETURNING *')
        await ann.query('COMMIT')
        expect((await waiting).rows).toEqual([{ id: 1, n: 11 }])
        await bob.query('COMMIT')
        ann.release()
        bob.release()
      })
      expect(recorded.skipped).toEqual({})
      expect(told(recorded)).toEqual([
        'update t where id = 1 as 1: 1<0',
        'update t where id = 1 as 2: 1<1',
      ])
      expect(await verdictOf(await recorded.history(), 'ser')).toBe('satisfied')
    }))

  it.each([
    'UPDATE t SET n = 1 WHERE nosuch = 1',
    'UPDATE t SET n = 1 WHERE id = 1 RETURNING *, nosuch',
    'UPDATE t SET nosuch = 1',
    'UPDATE t SET n = 1 / 0',
  ])('is told where it went wrong: %s', (text) =>
    onPool(async (pool) => {
      await reset(pool, 'CREATE TABLE t (id int PRIMARY KEY, n int)', 'INSERT INTO t VALUES (1, 0)')
      const failed = () => pool.query(text).catch(({ message, position }) => [message, position])
      const plain = await failed()
      await recording(pool, async () => {
        expect(await failed()).toEqual(plain)
      })
    }),
  )
})
