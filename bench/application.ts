// What recording an application costs: orders and payments of a wholesaler (as in TPC-C) by ten
// sessions on the embedded server, with a plain pool and with one that is recorded to a file, in
// turns, after one turn of each that does not count. Prints transactions per second, processor
// time, which does not depend on who else uses the machine, and the memory of this process, the
// latter also in the course of one long recording if its length is given.
//
//   node --expose-gc --import tsx bench/application.ts [rounds] [transactions a round] [long run]

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { record } from '../src/application/observe/instrument.ts'
import { nowMs } from '../src/base/deadline.ts'
import { Random } from '../src/base/random.ts'
import { processesOf } from '../src/record/embedded/processes.ts'
import { EmbeddedServer } from '../src/record/embedded/server.ts'

const SESSIONS = 10
const DISTRICTS = 20
const ITEMS = 1000
const [rounds = 4, perRound = 4000, longRun = 0] = process.argv.slice(2).map(Number)

const TABLES = [
  'CREATE TABLE district (id int PRIMARY KEY, next_order int NOT NULL, ytd int NOT NULL)',
  'CREATE TABLE customer (id int PRIMARY KEY, balance int NOT NULL, name text)',
  'CREATE TABLE stock (id int PRIMARY KEY, quantity int NOT NULL)',
  'CREATE TABLE orders (district int, id int, customer int, PRIMARY KEY (district, id))',
  'CREATE TABLE line (district int, id int, item int, amount int, PRIMARY KEY (district, id, item))',
  `INSERT INTO district SELECT i, 1, 0 FROM generate_series(1, ${DISTRICTS}) i`,
  "INSERT INTO customer SELECT i, 0, 'customer ' || i FROM generate_series(1, 1000) i",
  `INSERT INTO stock SELECT i, 100 FROM generate_series(1, ${ITEMS}) i`,
]

async function order(client: pg.PoolClient, random: Random): Promise<number> {
  const district = 1 + random.below(DISTRICTS)
  const customer = 1 + random.below(1000)
  await client.query('BEGIN')
  await client.query('SELECT name, balance FROM customer WHERE id = $1', [customer])
  const next = 'UPDATE district SET next_order = next_order + 1 WHERE id = $1 RETURNING next_order'
  const id = (await client.query(next, [district])).rows[0].next_order
  await client.query('INSERT INTO orders VALUES ($1, $2, $3)', [district, id, customer])
  const items = [...new Set([1, 2, 3].map(() => 1 + random.below(ITEMS)))].sort((a, b) => a - b)
  for (const item of items) {
    await client.query('SELECT quantity FROM stock WHERE id = $1 FOR UPDATE', [item])
    await client.query('UPDATE stock SET quantity = quantity - 1 WHERE id = $1', [item])
    await client.query('INSERT INTO line VALUES ($1, $2, $3, 1)', [district, id, item])
  }
  await client.query('COMMIT')
  return 5 + 3 * items.length
}

async function pay(client: pg.PoolClient, random: Random): Promise<number> {
  await client.query('BEGIN')
  const customer = 1 + random.below(1000)
  await client.query('UPDATE customer SET balance = balance - 1 WHERE id = $1', [customer])
  await client.query('SELECT balance FROM customer WHERE id = $1', [customer])
  await client.query('UPDATE district SET ytd = ytd + 1 WHERE id = $1', [
    1 + random.below(DISTRICTS),
  ])
  await client.query('COMMIT')
  return 5
}

interface Measured {
  /** Per second. */
  readonly txns: number
  readonly statements: number
  /** Statements in all. */
  readonly count: number
  /** Processor time of a statement, in microseconds: of this process, and of the server. */
  readonly ownUs: number
  readonly serverUs: number
}

async function work(pool: pg.Pool, seed: number, txns = perRound): Promise<Measured> {
  const started = nowMs()
  const own = process.cpuUsage()
  const others = serverUs()
  let left = txns
  let statements = 0
  const session = async (number: number) => {
    const random = new Random(seed * SESSIONS + number)
    while (left-- > 0) {
      const client = await pool.connect()
      const count = await (random.chance(0.5) ? order : pay)(client, random)
      statements += count
      client.release()
    }
  }
  await Promise.all(Array.from({ length: SESSIONS }, (_, number) => session(number)))
  const seconds = (nowMs() - started) / 1000
  const { user, system } = process.cpuUsage(own)
  return {
    txns: txns / seconds,
    statements: statements / seconds,
    count: statements,
    ownUs: (user + system) / statements,
    serverUs: (serverUs() - others) / statements,
  }
}

/** Processor time of the server's processes so far, in microseconds; 0 if the system does not say. */
function serverUs(): number {
  let ticks = 0
  for (const pid of processesOf(server.pid) ?? []) {
    // Behind its name, which is in parentheses: state, …, utime, stime.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks * 10_000
}

/** Records to a file meanwhile. */
async function whileRecorded<T>(name: string, todo: () => Promise<T>): Promise<[T, string]> {
  const recorded = record(pool)
  recorded.save(join(folder, name))
  try {
    return [await todo(), JSON.stringify(recorded.skipped)]
  } finally {
    recorded.stop()
  }
}

/** What this process holds on to, in megabytes. */
function heapMb(): string {
  globalThis.gc?.()
  return (process.memoryUsage().heapUsed / 2 ** 20).toFixed(0)
}

const PARTS = 10

/** Memory in the course of one recording. */
async function runLong(): Promise<void> {
  let statements = 0
  for (let part = 0; part < PARTS; part++) {
    statements += (await work(pool, 1_000_000 + part, longRun / PARTS)).count
    const residentMb = (process.memoryUsage().rss / 2 ** 20).toFixed(0)
    show(`${statements} statements recorded, heap ${heapMb()} MB, resident ${residentMb} MB`)
  }
}

const server = await EmbeddedServer.start()
const pool = new pg.Pool({ ...server.address, max: SESSIONS })
const folder = mkdtempSync(join(tmpdir(), 'isobar-recording-'))
const show = (text: string) => process.stdout.write(`${text}\n`)
try {
  for (const text of TABLES) await pool.query(text)
  await work(pool, 0)
  await whileRecorded('warm.jsonl', () => work(pool, 1))
  const totals = { plain: 0, recorded: 0 }
  const processor = { plain: 0, recorded: 0 }
  for (let round = 1; round <= rounds; round++) {
    const plain = await work(pool, 2 * round)
    const [watched, skipped] = await whileRecorded(`${round}.jsonl`, () =>
      work(pool, 2 * round + 1),
    )
    totals.plain += plain.txns
    totals.recorded += watched.txns
    processor.plain += plain.ownUs + plain.serverUs
    processor.recorded += watched.ownUs + watched.serverUs
    show(
      `${plain.txns.toFixed(0)} tx/s plain, ${watched.txns.toFixed(0)} recorded ` +
        `(${watched.statements.toFixed(0)} statements/s), heap ${heapMb()} MB, skipped ${skipped}`,
    )
    const [before, after] = [plain, watched].map(
      ({ ownUs, serverUs }) => `${ownUs.toFixed(0)} here + ${serverUs.toFixed(0)} of the server`,
    )
    show(`  µs of processor a statement: ${before} plain, ${after} recorded`)
  }
  show(`loss ${(100 * (1 - totals.recorded / totals.plain)).toFixed(1)} %`)
  const share = 100 * (1 - processor.plain / processor.recorded)
  show(`loss where nothing but the processor counts ${share.toFixed(1)} %`)
  if (longRun > 0) await whileRecorded('long.jsonl', runLong)
} finally {
  await pool.end()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
