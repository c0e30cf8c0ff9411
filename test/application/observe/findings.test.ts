// What recorded applications are found to do, what is not recorded, and what is noticed beside it.

import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { instrument, record } from '../../../src/application/observe/instrument.ts'
import { readHistory } from '../../../src/formats/open.ts'
import { inTransaction, onServer, recording, reset, told, verdictOf } from '../server.ts'

const stage = onServer()
const DOCTORS = [
  'CREATE TABLE doctors (id int PRIMARY KEY, shift int, on_call bool NOT NULL)',
  'INSERT INTO doctors VALUES (1, 7, true), (2, 7, true)',
]

/** Two transactions, each of which does the first part of its work before the other does more. */
async function together(
  pool: pg.Pool,
  level: string,
  read: (client: pg.PoolClient, who: number) => Promise<unknown>,
  write: (client: pg.PoolClient, who: number) => Promise<unknown>,
): Promise<void> {
  const ann = await pool.connect()
  const bob = await pool.connect()
  for (const client of [ann, bob]) await client.query(`BEGIN ISOLATION LEVEL ${level}`)
  await read(ann, 1)
  await read(bob, 2)
  for (const [client, who] of [
    [ann, 1],
    [bob, 2],
  ] as const) {
    await write(client, who).then(
      () => client.query('COMMIT'),
      () => client.query('ROLLBACK'),
    )
  }
  ann.release()
  bob.release()
}

const count = (client: pg.PoolClient) =>
  client.query('SELECT count(*) FROM doctors WHERE shift = 7 AND on_call')
const leave = (client: pg.PoolClient, who: number) =>
  client.query('UPDATE doctors SET on_call = false WHERE id = $1', [who])

describe('a recorded application', () => {
  it.each([
    ['READ COMMITTED', 'violated'],
    ['REPEATABLE READ', 'violated'],
    ['SERIALIZABLE', 'satisfied'],
  ])('with write skew at %s is %s', async (level, verdict) => {
    const { pool } = stage
    await reset(pool, ...DOCTORS)
    const recorded = await recording(pool, () => together(pool, level, count, leave))
    expect(recorded.skipped).toEqual({})
    const history = await recorded.history()
    expect(await verdictOf(history, 'ser')).toBe(verdict)
    expect(await verdictOf(history, 'mixed')).toBe('satisfied')
  })

  it('that loses an update at READ COMMITTED is found, and is not at REPEATABLE READ', async () => {
    const { pool } = stage
    const read = (client: pg.PoolClient) => client.query('SELECT shift FROM doctors WHERE id = 1')
    const write = (client: pg.PoolClient, who: number) =>
      client.query('UPDATE doctors SET shift = $1 WHERE id = 1', [who])
    for (const [level, verdict] of [
      ['READ COMMITTED', 'violated'],
      ['REPEATABLE READ', 'satisfied'],
    ]) {
      await reset(pool, ...DOCTORS)
      const recorded = await recording(pool, () => together(pool, level!, read, write))
      expect(await verdictOf(await recorded.history(), 'si'), level).toBe(verdict)
    }
  })

  it('with a phantom at REPEATABLE READ is found', async () => {
    const { pool } = stage
    await reset(pool, 'CREATE TABLE bookings (id int PRIMARY KEY, room int, hour int)')
    const recorded = await recording(pool, () =>
      together(
        pool,
        'REPEATABLE READ',
        (client) => client.query('SELECT id FROM bookings WHERE room = $1 AND hour = $2', [4, 10]),
        (client, who) => client.query('INSERT INTO bookings VALUES ($1, 4, 10)', [who]),
      ),
    )
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('violated')
    expect(await verdictOf(await recorded.history(), 'si')).toBe('satisfied')
  })
})

describe('what cannot be recorded', () => {
  it.each([
    ['CREATE TABLE t (id int)', 't: it has no primary key'],
    ['CREATE VIEW t AS SELECT 1 AS id', 't: it is a view'],
    ['CREATE TABLE t (id int PRIMARY KEY) PARTITION BY RANGE (id)', 't: it is partitioned'],
    [
      'CREATE TABLE t (id numeric PRIMARY KEY)',
      't: its key column "id" has a type that is not supported',
    ],
    ['CREATE TEMP TABLE t (id int PRIMARY KEY)', 't: it is temporary'],
  ])('is counted with its reason: %s', async (made, reason) => {
    const client = new pg.Client(stage.server.address)
    await client.connect()
    await client.query('DROP SCHEMA public CASCADE')
    await client.query('CREATE SCHEMA public')
    await client.query(made)
    const recorded = record(client)
    expect((await client.query('SELECT * FROM t WHERE id = 5')).rows).toEqual([])
    expect(recorded.skipped).toEqual({ [reason]: 1 })
    recorded.stop()
    await client.end()
  })

  it('makes what rows passed over say nothing: triggers, cascades, others', async () => {
    const { pool } = stage
    await reset(
      pool,
      'CREATE TABLE a (id int PRIMARY KEY, n int)',
      'CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a ON DELETE CASCADE)',
      'CREATE TABLE c (id int PRIMARY KEY, n int)',
      'INSERT INTO a VALUES (1, 1), (2, 2)',
      'INSERT INTO b VALUES (1, 1), (2, 2)',
      'INSERT INTO c VALUES (1, 1)',
    )
    const other = new pg.Client(stage.server.address)
    await other.connect()
    const recorded = await recording(pool, async () => {
      await pool.query('SELECT * FROM b')
      await pool.query('DELETE FROM a WHERE id = 1')
      await pool.query('SELECT * FROM b')
      await pool.query('SELECT * FROM c')
      await other.query('UPDATE c SET n = 2')
      await pool.query('SELECT * FROM c')
      await pool.query('SELECT a.id FROM a JOIN b ON b.a = a.id')
      await pool.query('COPY c TO STDOUT').catch(() => {})
    })
    await other.end()
    expect(recorded.skipped).toMatchObject({
      'rows of b that changed with a': 1,
      'a version that nobody recorded wrote': 1,
      'a join of tables that were written': 1,
    })
    const history = await recorded.history()
    expect(history.partial!.tables).toEqual(['b', 'a', 'c'])
    // Row 1 of b is gone though nobody deleted it, and row 1 of c has an unknown version.
    expect(await verdictOf(history, 'ser')).toBe('unknown')
  })

  it('includes whatever a trigger may do', async () => {
    const { pool } = stage
    await reset(
      pool,
      ...DOCTORS,
      `CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN UPDATE doctors SET shift = 9 WHERE id = 2; RETURN NULL; END'`,
      'CREATE TRIGGER touching AFTER INSERT ON doctors FOR EACH ROW EXECUTE FUNCTION touch()',
    )
    const recorded = await recording(pool, async () => {
      await pool.query('INSERT INTO doctors VALUES (3, 7, false)')
      await pool.query('SELECT * FROM doctors WHERE shift = 7')
    })
    expect(recorded.skipped).toEqual({ 'the trigger touching on doctors': 1 })
    expect(await verdictOf(await recorded.history(), 'ser')).toBe('unknown')
  })
})

describe('what is noticed beside it', () => {
  it('is a level that was set elsewhere, and a transaction that nobody ended', async () => {
    const { pool } = stage
    await reset(pool, ...DOCTORS)
    const recorded = await recording(pool, async () => {
      await pool.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE')
      const client = await pool.connect()
      await client.query('BEGIN')
      await client.query('SELECT 1 FROM doctors')
      client.release(true)
    })
    expect(recorded.warnings).toHaveLength(2)
    expect(recorded.warnings[0]).toMatch(
      /^SET TRANSACTION ISOLATION LEVEL SERIALIZABLE came outside/,
    )
    expect(recorded.warnings[1]).toMatch(/went back to the pool inside a transaction/)
  })

  it('is the level that the server granted, whoever asked for it', async () => {
    const { pool } = stage
    await reset(pool, ...DOCTORS)
    const recorded = await recording(pool, async () => {
      const client = await pool.connect()
      await client.query("SET default_transaction_isolation = 'repeatable read'")
      await client.query('SELECT * FROM doctors')
      await client.query('BEGIN')
      await client.query('SET TRANSACTION ISOLATION LEVEL SERIALIZABLE')
      await client.query('SELECT * FROM doctors WHERE id > 7')
      await client.query('COMMIT')
      client.release(true)
    })
    const levels = [...recorded.text().matchAll(/"level":"(\w+)"/g)].map(([, level]) => level)
    expect(levels).toEqual(['si', 'ser'])
  })
})

describe('recorded.save', () => {
  it('writes what was recorded to a file', async () => {
    const { pool } = stage
    await reset(pool, ...DOCTORS)
    const folder = mkdtempSync(join(tmpdir(), 'isobar-save-'))
    const file = join(folder, 'h.jsonl')
    const recorded = record(pool)
    try {
      await pool.query('SELECT * FROM doctors WHERE id = 1')
      recorded.save(file)
      await inTransaction(pool, 'SERIALIZABLE', async (client) => {
        await client.query('UPDATE doctors SET shift = 8')
      })
      expect(() => recorded.save(join(folder, 'other'))).toThrow(/already/)
      await expect(recorded.history()).rejects.toThrow(/goes to/)
      expect(existsSync(file)).toBe(false)
    } finally {
      recorded.stop()
    }
    const { history } = await readHistory(file)
    expect(history.txnCount).toBe(2)
    expect(await verdictOf(history, 'ser')).toBe('satisfied')
    rmSync(folder, { recursive: true, force: true })
  })

  it('may be asked for before anything is recorded', async () => {
    const { pool } = stage
    await reset(pool, ...DOCTORS)
    const folder = mkdtempSync(join(tmpdir(), 'isobar-save-'))
    const file = join(folder, 'h.jsonl')
    const recorded = record(pool)
    recorded.save(file)
    for (let i = 0; i < 1000; i++) await pool.query('SELECT * FROM doctors WHERE id = 1')
    // What has ended is on its way before the end.
    const [unfinished, ...others] = readdirSync(folder)
    expect(others).toEqual([])
    expect(statSync(join(folder, unfinished!)).size).toBeGreaterThan(0)
    expect(existsSync(file)).toBe(false)
    expect(() => recorded.restart()).toThrow(/goes to/)
    recorded.stop()
    recorded.stop()
    expect(readdirSync(folder)).toEqual(['h.jsonl'])
    expect((await readHistory(file)).history.txnCount).toBe(1000)
    rmSync(folder, { recursive: true, force: true })
  })

  it('replaces a file only by force, and leaves an empty one to be filled', () => {
    const folder = mkdtempSync(join(tmpdir(), 'isobar-save-'))
    const file = join(folder, 'h.jsonl')
    writeFileSync(file, 'precious')
    const recorded = record(stage.pool)
    try {
      expect(() => recorded.save(file)).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(/h\.jsonl exists already$/),
          hint: '{ force: true } replaces it',
        }),
      )
      expect(() => recorded.save(join(folder, 'nosuch', 'h.jsonl'))).toThrow(/no such directory/)
      expect(() => recorded.save(folder)).toThrow(/is a directory/)
      expect(readdirSync(folder)).toEqual(['h.jsonl'])
      recorded.save(file, { force: true })
      expect(readFileSync(file, 'utf8')).toBe('precious')
    } finally {
      recorded.stop()
    }
    expect(readFileSync(file, 'utf8')).not.toContain('precious')
    rmSync(folder, { recursive: true, force: true })
  })

  it('leaves the pool as it was', async () => {
    const { pool } = stage
    const before = Object.keys(pool)
    const client = await pool.connect()
    const { recorded, restore } = instrument(pool)
    await pool.query('SELECT 1')
    expect(() => instrument(pool)).toThrow(/recorded already/)
    restore()
    expect(Object.keys(pool)).toEqual(before)
    expect(Object.hasOwn(client, 'query')).toBe(false)
    expect(told(recorded)).toEqual([])
    client.release()
  })
})
