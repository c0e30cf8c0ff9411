// The reduction against brute force on a real server: small random programs, every interleaving of
// their statements, and the schedules that were said to matter show the same.

import { Pool, type PoolClient } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../src/application/embedded.ts'
import { Course } from '../../../src/application/race/course.ts'
import { Observer } from '../../../src/application/race/observer.ts'
import { expectActors, expectRaceOptions } from '../../../src/application/race/options.ts'
import { expectPool } from '../../../src/application/race/pool.ts'
import type { RaceRun } from '../../../src/application/race/race-result.ts'
import { Random } from '../../../src/base/random.ts'

let server: PostgresServer
let pool: Pool
beforeAll(async () => {
  server = await startPostgres()
  pool = new Pool(server)
  await pool.query('CREATE TABLE items (id int PRIMARY KEY, n int NOT NULL)')
})
afterAll(async () => {
  await pool.end()
  await server.stop()
})

const STATEMENTS = [
  'SELECT n FROM items WHERE id = 1',
  'SELECT id, n FROM items WHERE n > 0 ORDER BY id',
  'UPDATE items SET n = n + 10 WHERE id = 1',
  'UPDATE items SET n = n + 10 WHERE id = 2',
  'UPDATE items SET n = -1 WHERE n > 0 AND id < 2',
  'SELECT n FROM items WHERE id = 1 FOR UPDATE',
  'INSERT INTO items VALUES (3, 5)',
  'DELETE FROM items WHERE id = 2',
]
const BEGINS = [
  'BEGIN',
  'BEGIN ISOLATION LEVEL REPEATABLE READ',
  'BEGIN ISOLATION LEVEL SERIALIZABLE',
]

interface Program {
  readonly begin: string
  readonly statements: readonly string[]
}

function randomProgram(random: Random, size: number): Program {
  const begin = BEGINS[random.below(BEGINS.length)]!
  const one = () => STATEMENTS[random.below(STATEMENTS.length)]!
  return { begin, statements: Array.from({ length: size }, one) }
}

async function perform({ begin, statements }: Program): Promise<void> {
  const client: PoolClient = await pool.connect()
  try {
    await client.query(begin)
    for (const statement of statements) await client.query(statement)
    await client.query('COMMIT')
  } catch {
    await client.query('ROLLBACK')
  } finally {
    client.release()
  }
}

/** Every order of a's and b's. */
function interleavings(a: number, b: number): string[][] {
  const found: string[][] = []
  for (let bits = 0; bits < 1 << (a + b); bits++) {
    const order = Array.from({ length: a + b }, (_, i) => ((bits >> i) & 1 ? 'a' : 'b'))
    if (order.filter((name) => name === 'a').length === a) found.push(order)
  }
  return found
}

/** What everybody saw, and the verdict. */
function shown({ turns, verdict }: RaceRun): string {
  const of = (name: string) =>
    turns
      .filter(({ actor }) => actor === name)
      .map(({ step }) => (step.error as { code?: string } | undefined)?.code ?? step.returned)
  return JSON.stringify([verdict, of('a'), of('b')])
}

const SEEDS = process.env['ISOBAR_SEEDS']?.split(',').map(Number) ?? [1, 2]

describe('the reduction', () => {
  it.each(SEEDS)(
    'shows what every interleaving shows (seed %d)',
    { timeout: 120_000 },
    async (seed) => {
      const random = new Random(seed)
      const programs = [randomProgram(random, 2), randomProgram(random, 1)]
      const actors = expectActors({
        a: () => perform(programs[0]!),
        b: () => perform(programs[1]!),
      })
      const before = async () => {
        await pool.query('DELETE FROM items')
        await pool.query('INSERT INTO items VALUES (1, 1), (2, 2)')
      }
      const observer = await Observer.open(expectPool(pool, 2))
      const options = expectRaceOptions({ before, all: true }, actors)
      const course = () => new Course(expectPool(pool, 2), actors, options, observer)
      const reduced = await course().runAll()
      const every = new Set<string>()
      for (const schedule of interleavings(4, 3)) {
        const { runs } = await course().runOne(schedule)
        every.add(shown(runs[0]!))
      }
      await observer.close()
      expect(reduced.coverage.isComplete).toBe(true)
      expect(reduced.runs.length).toBeLessThan(35)
      expect([...new Set(reduced.runs.map(shown))].sort(), JSON.stringify(programs)).toEqual(
        [...every].sort(),
      )
    },
  )
})
