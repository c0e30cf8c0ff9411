// What a fleet costs and withstands: thousands of small checks through the queue against the same
// checks in a plain loop over one pool of processes, in turns; how many findings injected failures
// of three kinds become; and nights whose workers, coordinator and server are killed, with their queue
// in PostgreSQL and in Redis. Needs the build. Writes bench/fleet.md and bench/fleet-siege.md.
//
//   npm run bench:fleet -- [--jobs 10000] [--turns 4] [--siege 2000]

import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Random } from '../src/base/random.ts'
import { awaitEnd, submit } from '../src/fleet/coordinate.ts'
import { type Fleet, openFleet } from '../src/fleet/fleet.ts'
import { JobPool } from '../src/fleet/job-pool.ts'
import { readOverview } from '../src/fleet/overview.ts'
import { type Plan, runJobsOf } from '../src/fleet/plan.ts'
import { readPlan } from '../src/fleet/read-plan.ts'
import type { Task } from '../src/fleet/result.ts'
import { FleetWorker } from '../src/fleet/worker.ts'
import { redisPath } from '../test/fleet/redis-server.ts'
import { besiege, besiegeWithRedis, type Siege } from '../test/fleet/siege.ts'
import { readOptions } from './arguments.ts'

const ROOT = resolve(import.meta.dirname, '..')
const COMMAND = [join(ROOT, 'bin/isobar.js'), 'fleet', 'job-process']
const CORES = availableParallelism()
/** Hundredths of a second, as Linux counts them. */
const TICKS = 100
/** Of the files, so many violate their level: 500 of 5000. */
const FAULTY_SHARE = 0.1

const flags = readOptions<{ jobs: string; turns: string; siege: string }>(
  'npm run bench:fleet --',
  'measures what a fleet costs and withstands, and writes bench/fleet.md, bench/fleet-siege.md',
  [
    ['--jobs <n>', 'checks in all, half of them runs, half of them files; 0: none', '10000'],
    ['--turns <n>', 'parts that the loop and the fleet do in turn', '4'],
    ['--siege <n>', 'jobs of each night that is besieged; 0: none', '2000'],
  ],
)
const jobCount = Number(flags.jobs)
const turns = Number(flags.turns)
const folder = mkdtempSync(join(tmpdir(), 'isobar-bench-fleet-'))
chmodSync(folder, 0o711)

/** Histories of three kinds of violations, under ever other names, and of none. */
function historyOf(i: number, random: Random): string {
  const others = Array.from(
    { length: 40 },
    (_, n) => `o${random.below(5)}: w(k${i}n${n},${n + 1}) r(k${i}n${n},${n + 1})`,
  )
  const kinds = [
    `s${i}: w(x${i},1)\ns${i + 1}: r(x${i},1) w(x${i},2)\nt: r(x${i},1) w(x${i},3)`,
    `a${i}: w(x${i},1) w(y${i},1)\nb: r(x${i},1) r(y${i},0)`,
    `a: w(z${i},${i + 1}) [aborted]\nb${i}: r(z${i},${i + 1})`,
  ]
  const faulty = i % Math.round(1 / FAULTY_SHARE) === 0 ? [random.pick(kinds)] : []
  return [...others, ...faulty].join('\n')
}

function writeFiles(count: number): string[] {
  const random = new Random(1)
  return Array.from({ length: count }, (_, i) => {
    const path = join(folder, `h${String(i).padStart(5, '0')}.txt`)
    writeFileSync(path, historyOf(i, random))
    return path
  })
}

/** @param turn which of the parts */
function planOf(turn: number, count: number): Plan {
  const first = 1 + turn * count
  const text = `
name: bench
targets: [sim:ser]
parameters: {sessions: 3, transactions: 30}
seeds: ${first}..${first + count - 1}
histories: ${folder}
levels: [si]
keep: findings
`
  return readPlan(text, 'bench')
}

/** Time by the clock and of processors, in seconds. */
interface Spent {
  readonly clock: number
  readonly cpu: number
}

function now(): Spent {
  return { clock: performance.now() / 1000, cpu: processorSeconds() }
}

function since({ clock, cpu }: Spent): Spent {
  const after = now()
  return { clock: after.clock - clock, cpu: after.cpu - cpu }
}

/** Of this process and all that it started, and they did, in Linux; ended ones count with their parent. */
function processorSeconds(): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        const fields = stat
          .slice(stat.lastIndexOf(')') + 2)
          .split(' ')
          .map(Number)
        const ticks = fields[11]! + fields[12]! + fields[13]! + fields[14]!
        return [{ pid: Number(name), parent: fields[1]!, ticks }]
      } catch {
        return [] // it has ended
      }
    })
  const ours = new Set([process.pid])
  let sum = 0
  for (const pid of ours) {
    for (const each of processes) {
      if (each.parent === pid) ours.add(each.pid)
      if (each.pid === pid) sum += each.ticks
    }
  }
  return sum / TICKS
}

/** From the first process that is started until the last has ended. */
async function loopTime(plan: Plan, files: readonly string[]): Promise<Spent> {
  const pool = new JobPool(CORES, COMMAND)
  const task = (job: Task['job'], bytes: Buffer | null): Task => {
    return { job, bytes, budgetMs: plan.budgetMs, keep: plan.keep }
  }
  const started = now()
  const runs = [...runJobsOf(plan)].map((job) => () => task(job, null))
  const checks = files.map((path) => () => {
    const job = { kind: 'file', path, levels: ['si'], part: null, input: null } as const
    return task(job, readFileSync(path))
  })
  const tasks = [...runs, ...checks]
  let next = 0
  const loop = async () => {
    while (next < tasks.length) {
      const result = await pool.run(tasks[next++]!(), plan)
      if (result.outcome === 'failed') throw new Error(result.reason ?? 'failed')
    }
  }
  await Promise.all(Array.from({ length: CORES }, loop))
  const spent = since(started)
  pool.close()
  return spent
}

interface FleetTurn {
  readonly spent: Spent
  readonly night: number
  readonly megabytes: number
}

/** Planning, queueing and writing down included. */
async function fleetTime(fleet: Fleet, plan: Plan, files: string[]): Promise<FleetTurn> {
  const { store, queue } = fleet
  const worked = { atOnce: CORES, leaseMs: 15_000, allowed: null, leavesRefused: false }
  const options = { ...worked, command: COMMAND }
  const worker = new FleetWorker(store, queue, options)
  const started = now()
  const { night } = await submit(store, queue, { plan, files, version: 'bench' })
  await awaitEnd(store, queue, night.id, new AbortController().signal, () => {})
  const spent = since(started)
  await worker.close()
  return { spent, night: night.id, megabytes: process.memoryUsage.rss() / 1e6 }
}

async function measure(): Promise<string[]> {
  const half = Math.floor(jobCount / 2 / turns)
  const files = writeFiles(half * turns)
  const place = { queue: null, results: null, data: join(folder, 'data') }
  const fleet = await openFleet({ ...place, patienceMs: 60_000, environment: {} }, 'make')
  const rows: string[] = []
  const sums = { loop: 0, fleet: 0, loopCpu: 0, fleetCpu: 0, violated: 0, jobs: 0 }
  const found = new Set<string>()
  try {
    for (let turn = 0; turn < turns; turn++) {
      const plan = planOf(turn, half)
      const part = files.slice(turn * half, (turn + 1) * half)
      // Who is first changes, in case that matters.
      const first = turn % 2 === 0 ? await loopTime(plan, part) : null
      const { spent, night, megabytes } = await fleetTime(fleet, plan, part)
      const loop = first ?? (await loopTime(plan, part))
      const overview = await readOverview(fleet.store, (await fleet.store.findNight(night))!)
      for (const { fingerprint, anomalies } of overview.findings) {
        found.add(`${fingerprint} ${anomalies}`)
      }
      sums.loop += loop.clock
      sums.fleet += spent.clock
      sums.loopCpu += loop.cpu
      sums.fleetCpu += spent.cpu
      sums.violated += overview.counts.violated
      sums.jobs += 2 * half
      const times = [loop.clock, spent.clock, loop.cpu, spent.cpu].map((s) => s.toFixed(1))
      rows.push(`| ${turn + 1} | ${[2 * half, ...times, megabytes.toFixed(0)].join(' | ')} |`)
      process.stdout.write(`${rows.at(-1)}\n`)
    }
  } finally {
    await fleet.close()
  }
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(0)} %`
  const perJob = (seconds: number) => ((seconds * 1000) / sums.jobs).toFixed(2)
  const [load] = loadavg()
  return [
    '## Cost',
    '',
    `${sums.jobs} checks, half of them simulated runs (3 sessions, 30 transactions, ser), half of them files (about 40 transactions), on ${CORES} cores: a plain`,
    'loop over one pool of processes, and the fleet (planning, queueing, the embedded server, and writing results down included), in turns.',
    `The load of the machine was ${load!.toFixed(0)} in the end: where that is more than its cores, the clock says little, and processor time more.`,
    '',
    '| turn | checks | loop, s | fleet, s | loop, s of processors | fleet, s of processors | memory of the coordinator, MB |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
    `By processor time the fleet has ${percent(sums.loopCpu, sums.fleetCpu)} of the pace of the loop, by the clock ${percent(sums.loop, sums.fleet)}. A job costs ${perJob(sums.fleetCpu - sums.loopCpu)} ms of`,
    `processors more than the ${perJob(sums.loopCpu)} ms that it costs in the loop. The coordinator is this program, with its worker.`,
    '',
    '## Findings',
    '',
    `${sums.violated} of the checks were violated, of files with one of three kinds of violations each. They became ${found.size} findings:`,
    '',
    ...[...found].sort().map((each) => `- ${each}`),
  ]
}

const KILLS = { workerKills: 20, coordinatorKills: 3, serverRestarts: 2 }

/** A row of the table. */
async function tellSiege(where: string, run: (siege: Siege) => ReturnType<typeof besiege>) {
  const data = join(folder, `siege-${where}`)
  const plan = join(folder, 'siege.yaml')
  writeFileSync(
    plan,
    `targets: ["sim:si+lost-update"]\nparameters: {sessions: 4, transactions: 60}\nseeds: 1..${flags.siege}\nattempts: 10\n`,
  )
  const place = { data, place: ['--data', data], results: null, restartServer: null }
  const started = performance.now()
  const outlasted = await run({ plan, ...place, workers: 2, seed: 1, ...KILLS })
  const minutes = ((performance.now() - started) / 60_000).toFixed(1)
  const { jobs, results, failed } = outlasted
  const row = `| ${[where, jobs, results, jobs - results, failed, minutes].join(' | ')} |`
  process.stdout.write(`${row}\n`)
  return row
}

async function siege(): Promise<string[]> {
  const rows = [await tellSiege('PostgreSQL', besiege)]
  if (redisPath) rows.push(await tellSiege('Redis', besiegeWithRedis))
  const { workerKills, coordinatorKills, serverRestarts } = KILLS
  return [
    `A night of runs, done by two workers: ${workerKills} times a worker was killed (\`kill -9\`), ${coordinatorKills} times the coordinator, and ${serverRestarts} times the server of the queue,`,
    'at random while it went on, and started again. Every job has one result at most, by the key of the table.',
    '',
    '| queue in | jobs | with a result | lost | without a verdict | minutes |',
    '|---|---|---|---|---|---|',
    ...rows,
  ]
}

function write(name: string, title: string, lines: readonly string[]): void {
  const command = `npm run bench:fleet -- --jobs ${jobCount} --turns ${turns} --siege ${flags.siege}`
  const head = [`# ${title}`, '', `Made by \`${command}\`.`, '']
  writeFileSync(join(ROOT, 'bench', name), `${[...head, ...lines].join('\n')}\n`)
}

if (jobCount > 0) write('fleet.md', 'A fleet', await measure())
if (Number(flags.siege) > 0) write('fleet-siege.md', 'A fleet under siege', await siege())
rmSync(folder, { recursive: true, force: true })
