// What is said of every example of a race: what is broken at READ COMMITTED is found within a few
// schedules, and what cures it is satisfied by all schedules that matter. Main function:
// raceExamples.

import { resolve } from 'node:path'
import type { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../src/application/embedded.ts'
import { type Actors, race } from '../../../src/application/race/race.ts'
import '../../../src/matchers/vitest.ts'

interface Example {
  readonly schema: string
  reset(pool: Pool): Promise<void>
  broken(pool: Pool): Actors | Promise<Actors>
  cured(pool: Pool): Actors | Promise<Actors>
}

export const RACE_EXAMPLES = resolve(import.meta.dirname, '../../../examples/race')

/** What each library has. */
export const CLASSICS = ['bank', 'counter', 'coupon', 'doctors', 'names', 'rooms'].map(
  (name) => `${name}.mjs`,
)

/** Tests of the files of a folder, on a server and a pool of their own. */
export function raceExamples(
  folder: string,
  names: readonly string[],
  open: (server: PostgresServer) => Pool,
): void {
  let server: PostgresServer
  let pool: Pool
  beforeAll(async () => {
    server = await startPostgres()
    pool = open(server)
  })
  afterAll(async () => {
    await pool?.end()
    await server?.stop()
  })

  it.each(names)('%s is broken, and cured', async (name) => {
    const example: Example = await import(resolve(folder, name))
    await pool.query('DROP SCHEMA public CASCADE')
    await pool.query('CREATE SCHEMA public')
    await pool.query(example.schema)
    const before = () => example.reset(pool)
    const actors = await example.broken(pool)
    const broken = await race(pool, actors, { before, maxSchedules: 20, cures: false })
    expect(broken.verdict).toBe('violated')
    await expect(broken).not.toBeIsolated('ser')
    const again = await race(pool, actors, { before, schedule: broken.schedule! })
    expect(again.verdict).toBe('violated')
    const cured = await race(pool, await example.cured(pool), { before })
    expect(cured.coverage).toMatchObject({ isComplete: true })
    await expect(cured).toBeIsolated('ser')
  })
}
