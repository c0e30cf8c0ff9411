// Thousands of small checks through the queue against the same checks in a plain loop over one pool
// of processes, in turns; and how many findings injected failures of three kinds become. Main
// function: measureCost.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { Random } from '../src/base/random.ts'
import { JobPool } from '../src/fleet/job-pool.ts'
import { readOverview } from '../src/fleet/overview.ts'
import { type NightPlan, runJobsOf } from '../src/fleet/plan.ts'
import { readPlan } from '../src/fleet/read-plan.ts'
import type { Task } from '../src/fleet/result.ts'
import {
  COMMAND,
  CORES,
  now,
  ofProcessors,
  openIn,
  type Spent,
  since,
  timeNight,
} from './fleet-night.ts'

/** One of so many files violates its level: 500 of 5000. */
const FAULTY_EVERY = 10

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
  const faulty = i % FAULTY_EVERY === 0 ? [random.pick(kinds)] : []
  return [...others, ...faulty].join('\n')
}

function writeFiles(folder: string, count: number): string[] {
  const random = new Random(1)
  mkdirSync(folder)
  return Array.from({ length: count }, (_, i) => {
    const path = join(folder, `h${String(i).padStart(5, '0')}.txt`)
    writeFileSync(path, historyOf(i, random))
    return path
  })
}

/** @param turn which of the parts */
function planOf(turn: number, count: number): NightPlan {
  const first = 1 + turn * count
  const text = `
name: bench
targets: [sim:ser]
parameters: {sessions: 3, transactions: 30}
seeds: ${first}..${first + count - 1}
histories: .
levels: [si]
keep: findings
`
  return readPlan(text, 'bench')
}

/** From the first process that is started until the last job has ended. */
async function timeLoop(plan: NightPlan, files: readonly string[]): Promise<Spent> {
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

/** What the turns took together. */
class Sum {
  clock = 0
  own = 0
  server = 0
  others = 0

  add(spent: Spent): void {
    this.clock += spent.clock
    this.own += spent.own
    this.server += spent.server
    this.others += spent.others
  }
}

/** @param folder where files may be while it lasts */
export async function measureCost(
  folder: string,
  jobCount: number,
  turns: number,
): Promise<string[]> {
  const half = Math.floor(jobCount / 2 / turns)
  const jobs = 2 * half * turns
  const files = writeFiles(join(folder, 'files'), half * turns)
  const fleet = await openIn(join(folder, 'data'))
  const rows: string[] = []
  const [loops, nights] = [new Sum(), new Sum()]
  let violated = 0
  const found = new Set<string>()
  try {
    for (let turn = 0; turn < turns; turn++) {
      const plan = planOf(turn, half)
      const part = files.slice(turn * half, (turn + 1) * half)
      // Who is first changes, in case that matters.
      const first = turn % 2 === 0 ? await timeLoop(plan, part) : null
      const { spent, night, megabytes } = await timeNight(fleet, plan, part)
      const loop = first ?? (await timeLoop(plan, part))
      const overview = await readOverview(fleet.store, (await fleet.store.findNight(night))!)
      for (const each of overview.findings) found.add(`${each.fingerprint} ${each.anomalies}`)
      loops.add(loop)
      nights.add(spent)
      violated += overview.counts.violated
      rows.push(rowOf(turn, 2 * half, loop, spent, megabytes))
      process.stdout.write(`${rows.at(-1)}\n`)
    }
  } finally {
    await fleet.close()
  }
  return [
    ...costLines(jobs, rows, loops, nights),
    '',
    '## Findings',
    '',
    `${violated} of the checks were violated, of files with one of three kinds of violations each. They became ${found.size} findings:`,
    '',
    ...[...found].sort().map((each) => `- ${each}`),
  ]
}

function rowOf(turn: number, jobs: number, loop: Spent, night: Spent, megabytes: number): string {
  const times = [
    ...[loop.clock, loop.others, loop.own],
    ...[night.clock, night.others, night.own, night.server],
  ].map((s) => s.toFixed(1))
  return `| ${[turn + 1, jobs, ...times, megabytes.toFixed(0)].join(' | ')} |`
}

function costLines(jobs: number, rows: readonly string[], loop: Sum, night: Sum): string[] {
  const percent = (part: number, whole: number) => `${((100 * part) / whole).toFixed(0)} %`
  const perJob = (seconds: number) => ((seconds * 1000) / jobs).toFixed(2)
  const overhead = night.own + night.server - loop.own
  const [load] = loadavg()
  return [
    '## Cost',
    '',
    `${jobs} checks, half of them simulated runs (3 sessions, 30 transactions, ser), half of them files (about 40 transactions), on ${CORES} cores: a plain`,
    'loop over one pool of processes, and the fleet (planning, queueing, the embedded server, and writing results down included), in turns. Seconds by the clock, and',
    'of processors: of the processes that do the jobs, of this program (the loop; or coordinator and worker), of the server.',
    `The load of the machine was ${load!.toFixed(0)} in the end: where that is more than its cores, the clock says little, and processor time more.`,
    '',
    '| turn | checks | loop, s | its jobs | the loop itself | fleet, s | its jobs | coordinator, worker | server | memory of the coordinator at most, MB |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
    `By processor time the fleet has ${percent(ofProcessors(loop), ofProcessors(night))} of the pace of the loop, by the clock ${percent(loop.clock, night.clock)}. A job costs`,
    `${perJob(loop.others + loop.own)} ms of processors in the loop; queue, worker, coordinator and server add ${perJob(overhead)} ms, ${perJob(night.server)} ms of it the server's.`,
  ]
}
