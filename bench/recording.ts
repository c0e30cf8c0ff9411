// How fast the runner is, next to PostgreSQL's own pgbench: the same server, level, clients, keys
// (each as often) and statements (every shape of mini-transaction, equally often), by turns: with
// its sessions in two threads, as `isobar run` has them, and in one. And what recording costs: the
// time that the recorder takes for a transaction, as a share of the time the transaction takes.
//
// Where server and client share the processors, and nothing else runs, rates are as the processor
// time that a transaction takes of both. That is told too, because other work on the machine
// changes it less: its ratio is what the rates would show if all had been at rest.
//
//   node --import tsx bench/recording.ts [--seconds 5] [--turns 3] [--threads 2] [--ours 2,1]
//
// Needs Linux, a build, and pgbench (Debian: apt-get install postgresql) in PATH.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { READ } from '../src/history/history.ts'
import { EmbeddedServer } from '../src/record/embedded/server.ts'
import { NO_FAULTS } from '../src/record/faults.ts'
import { PostgresDatabase } from '../src/record/postgres/database.ts'
import { OpenTransaction, Recorder } from '../src/record/recorder.ts'
import { runSessions } from '../src/record/runner.ts'
import type { ThreadOrders } from '../src/record/threads.ts'
import { PlannedWork } from '../src/record/work.ts'
import { MINI_SHAPES } from '../src/workload/mini.ts'
import { planWorkload } from '../src/workload/workload.ts'
import { readOptions } from './arguments.ts'
import { processorTime } from './processor-time.ts'

const SESSIONS = 20
const KEYS = 1000
/** Of all shapes, which are drawn equally often. */
const MEAN_OPS = MINI_SHAPES.reduce((sum, { length }) => sum + length, 0) / MINI_SHAPES.length
const flags = readOptions<{ seconds: string; turns: string; threads: string; ours: string }>(
  'node --import tsx bench/recording.ts',
  'measures the runner beside pgbench, by turns',
  [
    ['--seconds <n>', 'how long a turn is', '5'],
    ['--turns <n>', 'how many turns each has', '3'],
    ['--threads <n>', 'how many threads pgbench has', '2'],
    ['--ours <list>', 'how many threads our sessions have, for a turn each', '2,1'],
  ],
)
const seconds = Number(flags.seconds)
const turns = Number(flags.turns)
const ours = flags.ours.split(',').map(Number)
/** As our own connections: at ser, sequential scans would conflict with every write. */
const NO_SCANS = '-c enable_seqscan=off -c enable_bitmapscan=off'

/** What a client did in a turn. */
interface Turn {
  readonly commitsPerS: number
  /** Of processor time for a commit, in microseconds. */
  readonly clientUs: number
  readonly serverUs: number
}

const directory = mkdtempSync(join(tmpdir(), 'isobar-bench-'))
const server = await EmbeddedServer.start()
try {
  const scripts = writeScripts()
  const runners = [
    ...ours.map((threads) => ({
      name: `isobar, ${threads} ${threads === 1 ? 'thread' : 'threads'}`,
      run: (turn: number) => runOurs(turn, threads),
    })),
    { name: `pgbench, ${flags.threads} threads`, run: () => runPgbench(scripts) },
  ]
  const done = runners.map((): Turn[] => [])
  for (let turn = 0; turn < turns; turn++) {
    for (const [i, { name, run }] of runners.entries()) {
      const [load] = loadavg()
      done[i]!.push(await run(turn))
      print(`turn ${turn + 1}: ${name}: ${words(done[i]!.at(-1)!)} (load ${load!.toFixed(1)})\n`)
    }
  }
  const rates = done.map((all) => median(all.map(({ commitsPerS }) => commitsPerS)))
  const costs = done.map((all) => median(all.map((turn) => turn.clientUs + turn.serverUs)))
  for (const [i, { name }] of runners.slice(0, -1).entries()) {
    const byClock = (100 * (rates[i]! / rates.at(-1)!)).toFixed(0)
    const byTime = (100 * (costs.at(-1)! / costs[i]!)).toFixed(0)
    print(`${name}: ${byClock} % of pgbench by the clock, ${byTime} % by processor time\n`)
    const operations = (1e6 * MEAN_OPS) / median(done[i]!.map(({ clientUs }) => clientUs))
    print(`${name}: ${operations.toFixed(0)} operations in a second of its processor time\n`)
  }
  const recorderUs = timeRecorder()
  const transactionUs = 1e6 / rates[0]!
  print(`recording takes ${recorderUs.toFixed(1)} µs of ${transactionUs.toFixed(0)} µs `)
  print(`a transaction: ${((100 * recorderUs) / transactionUs).toFixed(1)} %\n`)
} finally {
  await server.stop()
  rmSync(directory, { recursive: true, force: true })
}

function words({ commitsPerS, clientUs, serverUs }: Turn): string {
  const spent = `${clientUs.toFixed(0)} + ${serverUs.toFixed(0)} of the server`
  return `${commitsPerS.toFixed(0)} commits/s, µs of processor time a commit: ${spent}`
}

async function runOurs(turn: number, threads: number): Promise<Turn> {
  const { address } = server
  const database = await PostgresDatabase.open(address)
  const recorder = new Recorder(join(directory, `history-${threads}-${turn}.jsonl`))
  try {
    const plan = planWorkload({
      shape: 'mini',
      distribution: 'uniform', // as random() of pgbench draws
      sessions: SESSIONS,
      keys: KEYS,
      transactions: 200_000,
      seed: turn,
    })
    const before = processorTime()
    const result = await runSessions({
      database,
      recorder,
      work: new PlannedWork(plan, true),
      isLightweight: false,
      tables: [],
      level: 'ser',
      sessions: SESSIONS,
      seed: turn,
      durationMs: seconds * 1000,
      rate: null,
      retries: 0,
      faults: NO_FAULTS,
      proxies: [],
      patienceMs: 20_000,
      makers: {},
      signal: null,
      onProgress: null,
      threads: threads === 1 ? null : { count: threads, work: { plan, repeats: true }, start },
    })
    const after = processorTime()
    return {
      commitsPerS: (result.committed * 1000) / result.elapsedMs,
      clientUs: (1e6 * (after.own - before.own)) / result.committed,
      serverUs: (1e6 * (after.server - before.server)) / result.committed,
    }
  } finally {
    recorder.close()
    await database.close()
  }
}

/** As it was built: from the source tree, a thread would spend a second on loading TypeScript. */
function start(workerData: ThreadOrders): Worker {
  return new Worker(new URL('../dist/cli/crew-thread.cjs', import.meta.url), {
    workerData,
    execArgv: [],
  })
}

/** One script for each shape of mini-transaction. */
function writeScripts(): string[] {
  return MINI_SHAPES.map((shape, i) => {
    const lines = [`\\set k0 random(0, ${KEYS - 1})`, `\\set k1 random(0, ${KEYS - 1})`]
    lines.push('BEGIN ISOLATION LEVEL SERIALIZABLE;')
    for (const op of shape) {
      if (op.kind === READ) lines.push(`SELECT v FROM isobar_registers WHERE k = :k${op.key};`)
      else {
        lines.push('\\set v random(1, 1000000000)')
        lines.push(`UPDATE isobar_registers SET v = :v WHERE k = :k${op.key};`)
      }
    }
    const path = join(directory, `shape-${i}.sql`)
    writeFileSync(path, `${lines.join('\n')}\nCOMMIT;\n`)
    return path
  })
}

async function runPgbench(scripts: readonly string[]): Promise<Turn> {
  const { address } = server
  const { host, port, user, password, database: name } = address
  const database = await PostgresDatabase.open(address)
  try {
    await database.addKeys(0, KEYS)
    const before = processorTime()
    const output = execFileSync(
      'pgbench',
      [
        ...['-h', host, '-p', String(port), '-U', user, '-n', '-M', 'prepared'],
        ...['-c', String(SESSIONS), '-j', flags.threads, '-T', String(seconds)],
        ...scripts.flatMap((path) => ['-f', path]),
        name,
      ],
      { encoding: 'utf8', env: { ...process.env, PGPASSWORD: password, PGOPTIONS: NO_SCANS } },
    )
    const after = processorTime()
    const commits = Number(/actually processed: (\d+)/.exec(output)![1])
    return {
      commitsPerS: Number(/tps = ([\d.]+) \(without/.exec(output)![1]),
      clientUs: (1e6 * (after.others - before.others)) / commits,
      serverUs: (1e6 * (after.server - before.server)) / commits,
    }
  } finally {
    await database.close()
  }
}

/** Microseconds that recording one transaction takes: four operations, two lines. */
function timeRecorder(): number {
  const count = 100_000
  const recorder = new Recorder(join(directory, 'timed.jsonl'))
  const txn = new OpenTransaction()
  const started = performance.now()
  for (let i = 0; i < count; i++) {
    recorder.begin(txn, i % SESSIONS, 'ser')
    for (let key = 0; key < 2; key++) {
      txn.addRead(key, [i])
      txn.addWrite(key, i)
    }
    recorder.pending(txn)
    recorder.outcome(txn, 'committed')
  }
  recorder.close()
  return ((performance.now() - started) * 1000) / count
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!
}

function print(text: string): void {
  process.stdout.write(text)
}
