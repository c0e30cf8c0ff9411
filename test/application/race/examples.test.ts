// The examples: what is broken at READ COMMITTED is found within a few schedules, and what cures it
// is satisfied by all schedules that matter.

import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../src/application/embedded.ts'
import { type Actors, race } from '../../../src/application/race/race.ts'
import '../../../src/matchers/vitest.ts'

interface Example {
  readonly schema: string
  reset(pool: Pool): Promise<void>
  broken(pool: Pool): Actors
  cured(pool: Pool): Actors
}

const FOLDER = resolve(import.meta.dirname, '../../../examples/race')
const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.mjs$/.test(name) && !/(transaction|database)\.mjs$/.test(name))
  .sort()

let server: PostgresServer
let pool: Pool
beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool(server)
})
afterAll(async () => {
  await pool.end()
  await server.stop()
})

describe('examples/race', () => {
  it('has the classics', () => {
    const classics = ['bank', 'counter', 'coupon', 'doctors', 'names', 'rooms']
    const plain = classics.map((name) => `${name}.mjs`)
    const all = ['drizzle/', 'knex/', 'kysely/', ''].flatMap((folder) =>
      plain.map((name) => folder + name),
    )
    expect(names).toEqual(all.sort())
  })

  it.each(names)('%s is broken, and cured', async (name) => {
    const example: Example = await import(resolve(FOLDER, name))
    await pool.query('DROP SCHEMA public CASCADE')
    await pool.query('CREATE SCHEMA public')
    await pool.query(example.schema)
    const before = () => example.reset(pool)
    const broken = await race(pool, example.broken(pool), {
      before,
      maxSchedules: 20,
      cures: false,
    })
    expect(broken.verdict).toBe('violated')
    await expect(broken).not.toBeIsolated('ser')
    const again = await race(pool, example.broken(pool), { before, schedule: broken.schedule! })
    expect(again.verdict).toBe('violated')
    const cured = await race(pool, example.cured(pool), { before })
    expect(cured.coverage).toMatchObject({ isComplete: true })
    await expect(cured).toBeIsolated('ser')
  })
})
