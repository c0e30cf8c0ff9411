// Random races whose schedules are few enough to be run all: the reduction must show whatever any
// of them shows. Pools differ in the level that their connections have by default, tables in what
// ties their rows to each other. Main class: RandomRaces.

import pg from 'pg'
import { type PostgresServer, startPostgres } from '../../../src/application/embedded.ts'
import type { Step } from '../../../src/application/observe/hooks.ts'
import { Course } from '../../../src/application/race/course.ts'
import { Observer } from '../../../src/application/race/observer.ts'
import { expectActors, expectRaceOptions } from '../../../src/application/race/options.ts'
import { expectPool } from '../../../src/application/race/pool.ts'
import type { RaceRun } from '../../../src/application/race/race-run.ts'
import { Random } from '../../../src/base/random.ts'

const TABLES = [
  'CREATE TABLE items (id int PRIMARY KEY, n int NOT NULL)',
  'CREATE TABLE orders (id serial PRIMARY KEY, item int, n int)',
  'CREATE TABLE tickets (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n int)',
  // A foreign key ties all rows of both tables: nothing else may be in them.
  'CREATE TABLE boxes (id int PRIMARY KEY, n int)',
  'CREATE TABLE parts (id int PRIMARY KEY, box int REFERENCES boxes ON DELETE CASCADE)',
]
/** Tables that one statement truncates -> what fills them. */
const FILL: ReadonlyMap<string, string> = new Map([
  ['items', 'INSERT INTO items VALUES (1, 1), (2, 2)'],
  ['orders', 'INSERT INTO orders (item, n) VALUES (1, 1)'],
  ['tickets', ''],
  ['boxes, parts', 'INSERT INTO boxes VALUES (1, 1), (2, 2)'],
])

/** What most programs are made of: a few rows, which all of them want. */
const COMMON = [
  'SELECT n FROM items WHERE id = 1',
  'SELECT id, n FROM items WHERE n > 0 ORDER BY id',
  'UPDATE items SET n = n + 10 WHERE id = 1',
  'UPDATE items SET n = n + 10 WHERE id = 2',
  'UPDATE items SET n = -1 WHERE n > 0 AND id < 2',
  'UPDATE items SET n = n + 1 WHERE n = 1 RETURNING id, n',
  'DELETE FROM items WHERE n > 1 RETURNING id',
  'SELECT n FROM items WHERE id = 1 FOR UPDATE',
  'INSERT INTO items VALUES (3, 5)',
  'DELETE FROM items WHERE id = 2',
]
const RARE = [
  'INSERT INTO orders (item, n) VALUES (1, 5) RETURNING id',
  'INSERT INTO orders (item, n) VALUES (2, 6), (2, 7) RETURNING id',
  'SELECT id, n FROM orders WHERE item = 1 ORDER BY id',
  'UPDATE orders SET n = n + 1 WHERE id = 1 RETURNING n',
  'INSERT INTO tickets (n) VALUES (1) RETURNING id',
  'SELECT n FROM items WHERE id = 2 FOR SHARE',
  'SELECT id FROM items WHERE n > 1 ORDER BY id FOR NO KEY UPDATE',
  'INSERT INTO parts VALUES (1, 2)',
  'SELECT id FROM parts ORDER BY id',
  'DELETE FROM boxes WHERE id = 2',
  'UPDATE boxes SET n = n + 1 WHERE id = 1 RETURNING n',
  'SELECT n FROM boxes WHERE id = 1',
  "SELECT nextval('orders_id_seq')",
  'SAVEPOINT s',
  'ROLLBACK TO s',
  "SELECT 'isolation level serializable' AS words FROM items WHERE id = 1 -- for update",
]
const LEVELS = ['read committed', 'repeatable read', 'serializable'] as const
/** Without any, each statement is a transaction by itself. */
const BEGINS = [
  ['BEGIN'],
  ['BEGIN'],
  ['BEGIN ISOLATION LEVEL REPEATABLE READ'],
  ['START TRANSACTION ISOLATION LEVEL SERIALIZABLE'],
  ['BEGIN', 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED'],
  [],
]

export interface RaceProgram {
  readonly begin: readonly string[]
  readonly statements: readonly string[]
  readonly end: 'COMMIT' | 'ROLLBACK'
}

export interface Compared {
  readonly programs: readonly RaceProgram[]
  /** The level of connections by default. */
  readonly usual: string
  /** What some schedule showed, sorted. */
  readonly every: readonly string[]
  readonly reduced: readonly string[]
  /** Why the reduction is not complete; null if it is. */
  readonly limit: string | null
  readonly runs: number
  readonly schedules: number
}

export function randomRace(seed: number): { programs: RaceProgram[]; usual: string } {
  const random = new Random(seed)
  const sizes = random.pick([
    [2, 1],
    [2, 1],
    [2, 2],
    [3, 1],
    [1, 1, 1],
  ])
  const programs = sizes.map((size): RaceProgram => {
    const begin = random.pick(BEGINS)
    const one = () => random.pick(random.chance(0.7) ? COMMON : RARE)
    const end = random.chance(0.85) ? 'COMMIT' : 'ROLLBACK'
    return { begin, statements: Array.from({ length: size }, one), end }
  })
  return { programs, usual: random.pick(LEVELS) }
}

export class RandomRaces {
  private constructor(
    private readonly server: PostgresServer,
    private readonly pools: ReadonlyMap<string, pg.Pool>,
  ) {}

  static async start(): Promise<RandomRaces> {
    const server = await startPostgres()
    const pools = new Map<string, pg.Pool>()
    for (const level of LEVELS) {
      const pool = new pg.Pool({ ...server, max: 4 })
      // Unlike an option of the pool, that is nothing that a connection of our own would have.
      pool.on('connect', (client) => {
        client.query(`SET default_transaction_isolation = '${level}'`)
      })
      pools.set(level, pool)
    }
    const pool = pools.get(LEVELS[0])!
    // Statistics change plans, and with them what SERIALIZABLE takes for a conflict.
    await pool.query('ALTER SYSTEM SET autovacuum = off')
    await pool.query('SELECT pg_reload_conf()')
    for (const text of [...TABLES, ...FILL.values()]) await pool.query(text)
    return new RandomRaces(server, pools)
  }

  async stop(): Promise<void> {
    for (const pool of this.pools.values()) await pool.end()
    await this.server.stop()
  }

  async compare(programs: readonly RaceProgram[], usual: string): Promise<Compared> {
    const pool = this.pools.get(usual)!
    const named = programs.map((program, i) => ['abc'[i]!, program] as const)
    const actors = expectActors(
      Object.fromEntries(named.map(([name, program]) => [name, () => perform(pool, program)])),
    )
    const names = named.map(([name]) => name)
    const before = () => pool.query(fill(programs))
    const observer = await Observer.open(expectPool(pool, 2))
    try {
      // Somebody else may need the machine meanwhile.
      const limits = { maxSchedules: 5_000, budgetMs: 600_000, patienceMs: 600_000 }
      const options = expectRaceOptions({ before, all: true, cures: false, ...limits }, actors)
      const reduced = await new Course(expectPool(pool, 2), actors, options, observer).runAll()
      const all = new Course(expectPool(pool, 2), actors, options, observer)
      const every = new Set<string>()
      const schedules = interleavings(named)
      for (const schedule of schedules) {
        every.add(shown(await all.follow(schedule), names))
      }
      return {
        programs,
        usual,
        every: [...every].sort(),
        reduced: [...new Set(reduced.runs.map((run) => shown(run, names)))].sort(),
        limit: reduced.coverage.limit,
        runs: reduced.runs.length,
        schedules: schedules.length,
      }
    } finally {
      await observer.close()
    }
  }
}

async function perform(pool: pg.Pool, program: RaceProgram): Promise<void> {
  const { begin, statements, end } = program
  const client = await pool.connect()
  try {
    for (const statement of [...begin, ...statements]) await client.query(statement)
    if (begin.length > 0) await client.query(end)
  } catch {
    if (begin.length > 0) await client.query('ROLLBACK')
  } finally {
    client.release()
  }
}

/** Only what they use: truncating takes longer than a race. */
function fill(programs: readonly RaceProgram[]): string {
  const used = programs.flatMap(({ statements }) => statements).join()
  const tables = [...FILL].filter(([names]) =>
    names.split(', ').some((name) => used.includes(name.replace(/s$/, ''))),
  )
  return tables.map(([names, insert]) => `TRUNCATE ${names} RESTART IDENTITY; ${insert}`).join(';')
}

/** Every order, but that what begins a transaction, and does nothing else, stands by the next. */
function interleavings(programs: readonly (readonly [string, RaceProgram])[]): string[][] {
  let found: { order: string[]; left: number[] }[] = [
    {
      order: [],
      left: programs.map(
        ([, { begin, statements }]) => statements.length + Math.min(1, begin.length),
      ),
    },
  ]
  const total = found[0]!.left.reduce((sum, count) => sum + count, 0)
  for (let step = 0; step < total; step++) {
    found = found.flatMap(({ order, left }) =>
      programs.flatMap(([name, { begin }], i) => {
        if (left[i] === 0) return []
        const before = order.includes(name) ? [] : begin.map(() => name)
        return [{ order: [...order, ...before, name], left: left.with(i, left[i]! - 1) }]
      }),
    )
  }
  return found.map(({ order }) => order)
}

/** What everybody saw, and the verdict. Whom a deadlock costs its transaction the clock decides. */
function shown({ turns, verdict }: RaceRun, names: readonly string[]): string {
  const of = (name: string) =>
    turns
      .filter(({ actor }) => actor === name)
      .map(({ step }) => (step.error as { code?: string } | undefined)?.code ?? rowsOf(step))
  const seen = names.map(of)
  return seen.flat().includes('40P01') ? 'a deadlock' : JSON.stringify([verdict, ...seen])
}

/** In an order of their own where the statement asks for none: then the server may take any. */
function rowsOf({ text, returned }: Step): string | undefined {
  return /\bORDER BY\b/.test(text) ? returned : returned?.split('; ').sort().join('; ')
}

/** In words what the reduction missed or made up; null if it showed what all schedules show. */
export function tellDifference({ programs, usual, every, reduced, limit }: Compared) {
  const missed = every.filter((each) => !reduced.includes(each))
  const extra = reduced.filter((each) => !every.includes(each))
  if (limit === null && missed.length === 0 && extra.length === 0) return null
  const lines = [
    `${JSON.stringify(programs)} on connections at ${usual}`,
    ...(limit === null ? [] : [`not complete: ${limit}`]),
    ...missed.map((each) => `missed ${each}`),
    ...extra.map((each) => `only in the reduction ${each}`),
  ]
  return lines.join('\n')
}
