// Random programs of an application: two or three clients whose statements are interleaved in a
// fixed order, so that a run can be done again. Whoever would have to wait for a lock is told so at
// once, and rolls back. Main functions: randomProgram, runProgram.

import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import { Random } from '../../src/base/random.ts'

export const TABLES = [
  'CREATE TABLE items (id int PRIMARY KEY, n int NOT NULL, name text, flag bool DEFAULT false)',
  'CREATE TABLE notes (a text COLLATE "C", b int, v bigint, PRIMARY KEY (a, b))',
]
export const FILL = [
  'TRUNCATE items, notes',
  "INSERT INTO items VALUES (1, 10, 'a', false), (2, 20, NULL, true), (3, 30, 'c', false)",
  "INSERT INTO notes VALUES ('x', 1, 100), ('y', 2, NULL)",
]

export interface ProgramStep {
  readonly client: number
  readonly text: string
  readonly values?: unknown[]
  readonly rowMode?: 'array'
  readonly name?: string
}

export interface Program {
  readonly clients: number
  readonly steps: readonly ProgramStep[]
}

const LEVELS = ['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as const

/** What every recording tells in full. */
const PLAIN: ((random: Random) => [string, ...unknown[]])[] = [
  (r) => ['SELECT * FROM items WHERE id = $1', 1 + r.below(4)],
  (r) => ['SELECT id, n FROM items AS i WHERE i.n > $1 AND NOT i.flag ORDER BY i.id', r.below(40)],
  (r) => [`SELECT name FROM items WHERE name = 'a' OR id IN (${1 + r.below(3)}, 4)`],
  () => ['SELECT n, n AS n FROM items ORDER BY id FOR UPDATE'],
  (r) => ['SELECT count(*), sum(n) FROM items WHERE n >= $1', r.below(30)],
  () => ['SELECT flag, count(*) AS c FROM items GROUP BY flag ORDER BY c, flag'],
  (r) => [`SELECT * FROM items ORDER BY n DESC, id LIMIT ${1 + r.below(4)}`],
  (r) => ['SELECT DISTINCT name FROM items WHERE id <= $1 ORDER BY name', r.below(4)],
  (r) => ['SELECT * FROM "notes" n WHERE n.a = $1 AND b < $2', r.pick(['x', 'y', 'z']), r.below(4)],
  (r) => ["SELECT v, upper(a) FROM notes WHERE a BETWEEN 'w' AND $1", r.pick(['x', 'y'])],
  (r) => ['UPDATE items SET n = n + 1 WHERE id = $1', 1 + r.below(4)],
  (r) => ['UPDATE items AS i SET n = $1, flag = NOT flag WHERE i.n < 25 RETURNING *', r.below(50)],
  (r) => [
    "UPDATE notes SET v = coalesce(v, 0) + 1 WHERE a = 'x' AND b = $1 RETURNING v",
    r.below(3),
  ],
  (r) => ['DELETE FROM items WHERE id = $1', 1 + r.below(4)],
  (r) => ['DELETE FROM notes WHERE v IS NULL OR b = $1 RETURNING a', r.below(3)],
  (r) => ['INSERT INTO items VALUES ($1, $2) RETURNING id', 4 + r.below(3), r.below(9)],
  (r) => ["INSERT INTO items (id, n, name) VALUES (8, 1, 'x'), ($1, 2, $2)", 1 + r.below(9), 'y'],
  (r) => [
    'INSERT INTO items AS i (id, n) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET n = i.n + 7',
    1 + r.below(6),
  ],
  (r) => ['UPDATE items SET id = id + 10 WHERE id = $1', 1 + r.below(3)],
  (r) => ['SELECT id FROM items WHERE id = ANY($1) LIMIT 2', [1 + r.below(3), 2]],
]

/** What is passed through, or told in part. */
const OTHER: ((random: Random) => [string, ...unknown[]])[] = [
  () => ['SELECT i.id, b FROM items i JOIN notes ON b = id ORDER BY 1'],
  (r) => ['SELECT i.*, v FROM items i JOIN notes t ON t.b = i.id WHERE i.n > $1', r.below(40)],
  (r) => [
    'SELECT * FROM items i LEFT JOIN notes t ON t.b = i.id AND t.a = $1 WHERE i.id < $2',
    r.pick(['x', 'y']),
    r.below(4),
  ],
  (r) => [`SELECT count(*), max(n) FROM items i, notes t WHERE b = i.id AND i.id = ${r.below(4)}`],
  (r) => ['SELECT i.id, i.id, NULL AS x FROM items i CROSS JOIN notes LIMIT $1', r.below(3)],
  () => ['SELECT i.id FROM items i JOIN notes t ON t.b = i.id FOR UPDATE OF i'],
  () => ['SELECT name FROM items i JOIN notes t ON (i.id = t.b) WHERE i.nosuch = 1'],
  () => ['SELECT n / (n - n), a FROM items JOIN notes ON b = id'],
  () => ['SELECT * FROM items WHERE n > (SELECT avg(n) FROM items) ORDER BY id'],
  () => ['WITH gone AS (DELETE FROM items WHERE id = 3 RETURNING *) SELECT id, n FROM gone'],
  (r) => ['INSERT INTO items VALUES ($1, 1) ON CONFLICT DO NOTHING RETURNING n', 1 + r.below(5)],
  () => ['SELECT nosuch FROM items'],
  () => ['SELECT 1 / (n - n) AS x, id FROM items'],
  () => ['SELEC 1'],
  () => ['INSERT INTO items (id, n) VALUES (1, 0)'],
  () => ['UPDATE items SET n = NULL WHERE id = 2'],
  () => ['SELECT now() IS NULL AS never, $1::int AS seven'].concat(['7']) as [string, ...unknown[]],
  () => ['SELECT id FROM items WHERE name LIKE $1 ORDER BY id OFFSET 1', '%'] as const as never,
  () => ['SHOW transaction_isolation'],
]

export function randomProgram(seed: number, plain: boolean): Program {
  const random = new Random(seed)
  const clients = 2 + random.below(2)
  const queues = Array.from({ length: clients }, (_, client) => stepsOf(random, client, plain))
  const steps: ProgramStep[] = []
  while (queues.some((queue) => queue.length > 0)) {
    const queue = random.pick(queues.filter(({ length }) => length > 0))
    steps.push(queue.shift()!)
  }
  return { clients, steps }
}

function stepsOf(random: Random, client: number, plain: boolean): ProgramStep[] {
  const steps: ProgramStep[] = []
  const add = (text: string) => steps.push({ client, text })
  for (let txn = 0; txn < 1 + random.below(2); txn++) {
    const inBlock = random.chance(0.8)
    if (inBlock) add(`BEGIN ISOLATION LEVEL ${random.pick(LEVELS)}`)
    const count = inBlock ? 1 + random.below(4) : 1
    for (let i = 0; i < count; i++) {
      if (inBlock && random.chance(0.15)) add(random.pick(['SAVEPOINT s', 'ROLLBACK TO s']))
      steps.push(statementOf(random, client, plain))
    }
    if (inBlock) add(random.chance(0.8) ? 'COMMIT' : 'ROLLBACK')
  }
  return steps
}

function statementOf(random: Random, client: number, plain: boolean): ProgramStep {
  const templates = plain || random.chance(0.7) ? PLAIN : OTHER
  const at = random.below(templates.length)
  const [text, ...values] = templates[at]!(random)
  const named = random.chance(0.2) && text.includes('$') ? { name: `q${at}` } : {}
  const array = random.chance(0.2) ? { rowMode: 'array' as const } : {}
  return { client, text, ...(values.length > 0 ? { values } : {}), ...named, ...array }
}

/**
 * What the application saw, step by step; rows without ORDER BY in an order of their own.
 * @param keepsClients for the next program, with what the server has prepared for them
 */
export async function runProgram(
  pool: pg.Pool,
  program: Program,
  keepsClients = false,
): Promise<unknown[]> {
  const clients = await Promise.all(Array.from({ length: program.clients }, () => pool.connect()))
  const notices: string[] = []
  const hear = (notice: { message?: string | undefined }) => notices.push(notice.message ?? '')
  const seen: unknown[] = []
  try {
    for (const client of clients) {
      client.on('notice', hear)
      await client.query("SET lock_timeout = '1ms'; SET client_min_messages = notice")
    }
    for (const { client, name, ...rest } of program.steps) {
      // Names that last would not be free for what the next program calls so.
      const step = name === undefined || keepsClients ? rest : { ...rest, name }
      const answer = await clients[client]!.query(step).then(show, showError)
      await isReady(clients[client]!)
      seen.push([step.text, answer, notices.splice(0)])
    }
    // Whatever a step left open.
    for (const client of clients) await client.query('ROLLBACK')
  } finally {
    for (const client of clients) {
      client.removeListener('notice', hear)
      await client.query(keepsClients ? 'RESET ALL' : 'DEALLOCATE ALL; RESET ALL')
      client.release(!keepsClients)
    }
  }
  return seen
}

/** An error is told before its transaction has let go of its locks. */
async function isReady(client: pg.PoolClient): Promise<void> {
  const driver = client as unknown as { readyForQuery: boolean }
  for (let i = 0; i < 1_000 && !driver.readyForQuery; i++) await setTimeout(1)
}

function show({ command, rowCount, rows, fields }: pg.QueryResult): unknown {
  const cells = rows.map((row) => JSON.stringify(row)).sort()
  const columns = fields.map(({ name, dataTypeID, columnID }) => [name, dataTypeID, columnID])
  return { command, rowCount, cells, columns }
}

function showError(error: pg.DatabaseError): unknown {
  const { message, code, position, constraint, severity } = error
  return { message, code, position, constraint, severity }
}
