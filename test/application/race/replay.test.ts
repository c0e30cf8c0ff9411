// A schedule that a race has saved is run again from its file, on another server, by the command.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../src/application/embedded.ts'
import { race } from '../../../src/application/race/race.ts'
import { parseScheduleFile } from '../../../src/application/race/schedule-file.ts'
import { isobar } from '../../cli/command.ts'

let server: PostgresServer
let pool: Pool
const folder = mkdtempSync(join(tmpdir(), 'isobar-replay-'))
const saved = join(folder, 'lost.json')
beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool(server)
})
afterAll(async () => {
  await pool.end()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('isobar replay', () => {
  it('makes the tables anew and shows the same violation', async () => {
    await pool.query(
      'CREATE TABLE visits (id serial PRIMARY KEY, page text NOT NULL UNIQUE, n int DEFAULT 0 CHECK (n >= 0))',
    )
    const before = async () => {
      await pool.query('TRUNCATE visits RESTART IDENTITY')
      await pool.query("INSERT INTO visits (page) VALUES ('it''s \"home\"'), ('other')")
    }
    const visit = async () => {
      const client = await pool.connect()
      try {
        await client.query('BEGIN')
        const { rows } = await client.query('SELECT n FROM visits WHERE id = $1', [1])
        await client.query('UPDATE visits SET n = $1 WHERE id = $2', [rows[0].n + 1, 1])
        await client.query('COMMIT')
      } finally {
        client.release()
      }
    }
    const result = await race(pool, { ann: visit, bob: visit }, { before })
    result.save(saved)
    expect(() => result.save(saved)).toThrow('lost.json exists already')
    result.save(saved, { force: true })
    const file = parseScheduleFile(readFileSync(saved, 'utf8'))
    expect(file.statements.map(({ actor }) => actor)).toEqual(result.schedule)
    await pool.query('DROP TABLE visits')
    const { code, out } = isobar(['replay', saved, server.url])
    expect(out).toContain('race of ann, bob: Serializability (ser) is violated')
    expect(out).toMatch(/SELECT n FROM visits WHERE id = \$1 \[1\] {2}-> .*0/)
    expect(code).toBe(1)
    const { rows } = await pool.query(
      "SELECT FROM pg_namespace WHERE nspname LIKE 'isobar_replay%'",
    )
    expect(rows).toEqual([])
  })

  it('is satisfied where the database refuses', () => {
    const text = readFileSync(saved, 'utf8')
    const stricter = join(folder, 'stricter.json')
    writeFileSync(stricter, text.replaceAll('"BEGIN"', '"BEGIN ISOLATION LEVEL SERIALIZABLE"'))
    const { code, out } = isobar(['replay', stricter, server.url])
    expect(out).toContain('is satisfied')
    expect(code).toBe(0)
  })

  it.each([
    ['not JSON', '{', /not the file of a schedule: it is not JSON/],
    ['another file', '{"isobar":1}', /"isobarSchedule": 1 is missing/],
    ['no statements', '{"isobarSchedule":1,"level":"ser","statements":[]}', /no "statements"/],
    [
      'half a statement',
      '{"isobarSchedule":1,"level":"ser","statements":[{"actor":"a"}]}',
      /statements\[0\] needs "actor", "client", "text" and "values"/,
    ],
  ])('refuses %s', (_, text, message) => {
    const path = join(folder, 'bad.json')
    writeFileSync(path, text)
    const { code, err } = isobar(['replay', path, server.url])
    expect(err).toMatch(message)
    expect(code).toBe(2)
  })
})
