// How much a workload finds, and how soon: every workload on stores that break their word in known
// ways. Writes bench/strength.md.
//
//   npm run bench:strength -- [--seeds 10] [--seed 9501] [--transactions 2000] [--seconds 4] [--only sim|servers] [--scenario replica]
//
// What was measured is kept in bench/strength.json, row by row, and left out the next time, so that
// it can be measured in parts; `--fresh` begins anew with
// what is asked for, other options than the last time with all.
//
// The simulated store misbehaves in a share of its transactions. Servers are real PostgreSQLs that
// are asked for less than they are judged by, crash without having written what they promised, or
// have more nodes than one. A violation counts if the checker finds it; `after` is how many
// transactions from the beginning of the history are enough for one, whichever of them the verdict
// shows, and the time of a find is that of the whole run, with reading and judging, in proportion.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { judge } from '../src/check/judge.ts'
import { readHistory } from '../src/formats/open.ts'
import type { LevelId } from '../src/levels/levels.ts'
import type { Database } from '../src/record/database.ts'
import type { PlannedEvent } from '../src/record/faults.ts'
import { SimDatabase } from '../src/record/sim/database.ts'
import { SqlWork } from '../src/record/sql-work.ts'
import { PlannedWork } from '../src/record/work.ts'
import { FAULTS, type Fault } from '../src/sim/faults.ts'
import type { WorkloadRequest } from '../src/workload/parameters.ts'
import type { SqlShape } from '../src/workload/sql/parameters.ts'
import { planSql } from '../src/workload/sql/workload.ts'
import { planWorkload } from '../src/workload/workload.ts'
import { readOptions } from './arguments.ts'
import { firstViolation, median, recordRun, SESSIONS } from './finding.ts'
import { forgetfulNode, type Nodes, oneNode, twoNodes, withReplica } from './strength-nodes.ts'

const ROOT = resolve(import.meta.dirname, '..')
const BUDGET_MS = 20_000
const PLAN_AHEAD = 50_000

const SQL_TRANSACTIONS = 400

const flags = readOptions<{
  seeds: string
  seed: string
  transactions: string
  seconds: string
  only: string
  scenario: string
  fresh?: true
}>('npm run bench:strength --', 'measures what workloads find, and writes bench/strength.md', [
  ['--seeds <n>', 'runs of each workload on each store', '10'],
  [
    '--seed <n>',
    'of the first run; a workload is not measured by the seeds it was tuned on',
    '9501',
  ],
  ['--transactions <n>', 'transactions of each run on a simulated store', '2000'],
  ['--seconds <n>', 'how long each run on a server is', '4'],
  ['--only <sim|servers>', 'only simulated stores, or only servers', ''],
  ['--scenario <name>', 'only this scenario, e.g. replica', ''],
  ['--fresh', 'measure again what was measured before'],
])
const seeds = Number(flags.seeds)
const firstSeed = Number(flags.seed)
const eachSeed = Array.from({ length: seeds }, (_, i) => firstSeed + i)
const transactions = Number(flags.transactions)
const seconds = Number(flags.seconds)
const { only, scenario } = flags

interface Workload {
  readonly name: string
  readonly registers?: WorkloadRequest
  readonly sql?: SqlShape
}

const REGISTERS: Workload[] = [
  { name: 'churn (default)', registers: { shape: 'churn' } },
  { name: 'mini', registers: { shape: 'mini', keys: 100, distribution: 'exponential' } },
  {
    name: 'mini, 5 keys',
    registers: { shape: 'mini', keys: 5, distribution: 'exponential' },
  },
  { name: 'general', registers: { shape: 'general' } },
  { name: 'general, 20 keys × 6', registers: { shape: 'general', keys: 20, ops: 6 } },
  { name: 'append', registers: { shape: 'append' } },
]
const SQL: Workload[] = (['sql', 'tpcc', 'twitter'] as const).map((sql) => ({ name: sql, sql }))

const ALL = [...REGISTERS, ...SQL]

/** A store that runs cannot show those that need a plan. */
const SHOWN = FAULTS.filter(({ needsPlan }) => !needsPlan)

/** What a workload found of one fault, over all seeds. */
interface Row {
  found: number
  unknown: number
  positions: number[]
  seconds: number
}

/** Rows by table, line and workload; of runs with the same options. */
interface Kept {
  readonly options: string
  readonly rows: Record<string, Row>
}

const KEPT = join(ROOT, 'bench/strength.json')
const options = `${seeds} seeds from ${firstSeed}, ${transactions} transactions, ${seconds} s`
const NOTHING: Kept = { options, rows: {} }
const RATES = [
  [1, 'every transaction'],
  [1 / 50, '1 transaction in 50'],
  [1 / 1000, '1 transaction in 1,000'],
] as const

function readKept(): Kept {
  if (!existsSync(KEPT)) return NOTHING
  const known: Kept = JSON.parse(readFileSync(KEPT, 'utf8'))
  return known.options === options ? known : NOTHING
}

/** What this call measures, and nothing else. */
function forget(): void {
  const isAsked = (name: string) => {
    const isServer = name.startsWith(`${SERVERS}; `)
    return isServer ? only !== 'sim' && name.includes(scenario) : only !== 'servers'
  }
  const left = Object.entries(readKept().rows).filter(([name]) => !isAsked(name))
  writeFileSync(KEPT, `${JSON.stringify({ options, rows: Object.fromEntries(left) })}\n`)
}

function nameOf(table: string, line: string, workload: Workload): string {
  return [table, line, workload.name].join('; ')
}

function keep(table: string, line: string, workloads: readonly Workload[], rows: Row[]): void {
  const fresh = workloads.map((workload, i) => [nameOf(table, line, workload), rows[i]!])
  // Another part may have been measured meanwhile.
  kept = { options, rows: { ...kept.rows, ...readKept().rows, ...Object.fromEntries(fresh) } }
  writeFileSync(KEPT, `${JSON.stringify(kept)}\n`)
  console.log(`${line}, ${table}: ${rows.map((row) => cell(row)).join(' | ')}`)
}

/** Those of whom nothing is kept. */
function missing(table: string, line: string, workloads: readonly Workload[]): Workload[] {
  return workloads.filter((workload) => !kept.rows[nameOf(table, line, workload)])
}

async function simulate(share: number, words: string): Promise<void> {
  const rowsOf = async (fault: Fault) => {
    const level = fault.forbiddenFrom === 'sser' ? 'sser' : 'ser'
    const store = { level, sessionCount: SESSIONS, faults: [fault], faultShare: share } as const
    const rows = REGISTERS.map(emptyRow)
    // In turn, so that a moment at which the machine is busy falls to all.
    for (const seed of eachSeed) {
      for (const [i, workload] of REGISTERS.entries()) {
        const database = new SimDatabase({ ...store, seed })
        await measure(rows[i]!, workload, level, level, seed, { database, restart: null })
      }
    }
    return rows
  }
  const left = SHOWN.filter(({ name }) => missing(words, name, REGISTERS).length > 0)
  // Else whoever comes first pays for the compiler.
  if (left.length > 0) await rowsOf(FAULTS[0]!)
  for (const fault of left) keep(words, fault.name, REGISTERS, await rowsOf(fault))
}

interface Scenario {
  readonly name: string
  readonly asked: LevelId
  readonly judged: LevelId
  readonly start: () => Promise<Nodes>
  readonly restartEveryMs?: number
  readonly workloads: readonly Workload[]
}

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'READ COMMITTED, judged at si',
    asked: 'rc',
    judged: 'si',
    start: oneNode,
    workloads: ALL,
  },
  {
    name: 'REPEATABLE READ, judged at ser',
    asked: 'si',
    judged: 'ser',
    start: oneNode,
    workloads: ALL,
  },
  {
    name: 'synchronous_commit = off, and a crash every second, at ser',
    asked: 'ser',
    judged: 'ser',
    start: forgetfulNode,
    restartEveryMs: 1000,
    workloads: REGISTERS,
  },
  {
    name: 'a primary and a replica, at si',
    asked: 'si',
    judged: 'si',
    start: withReplica,
    workloads: REGISTERS,
  },
  {
    name: 'two nodes that replicate to each other, at si',
    asked: 'si',
    judged: 'si',
    start: twoNodes,
    workloads: REGISTERS,
  },
]

const SERVERS = 'servers'

async function runServers(): Promise<void> {
  for (const { name, asked, judged, start, restartEveryMs, workloads } of SCENARIOS) {
    const left = missing(SERVERS, name, workloads)
    if (!name.includes(scenario) || left.length === 0) continue
    const nodes = await start()
    try {
      for (const workload of left) {
        const row = emptyRow()
        for (const seed of eachSeed) {
          const store = { database: await nodes.open(), restart: nodes.restart }
          await measure(row, workload, asked, judged, seed, store, restartEveryMs ?? null)
        }
        keep(SERVERS, name, [workload], [row])
      }
    } finally {
      await nodes.stop()
    }
  }
}

function emptyRow(): Row {
  return { found: 0, unknown: 0, positions: [], seconds: 0 }
}

/** One run, which is added to the row. */
async function measure(
  row: Row,
  workload: Workload,
  asked: LevelId,
  judged: LevelId,
  seed: number,
  { database, restart }: { database: Database; restart: Nodes['restart'] },
  restartEveryMs: number | null = null,
): Promise<void> {
  const path = join(scratch, 'history.jsonl')
  const clock = database instanceof SimDatabase ? processorMs : () => performance.now()
  const started = clock()
  try {
    await record(database, workload, asked, seed, path, restart, restartEveryMs)
    const { history } = await readHistory(path)
    const [result] = await judge(history, [judged], { budgetMs: BUDGET_MS })
    const seconds = (clock() - started) / 1000
    if (result!.verdict === 'violated') {
      const { position } = await firstViolation(history, result!, async (part) => {
        const [of] = await judge(part, [judged], { budgetMs: BUDGET_MS })
        return of!.verdict === 'violated'
      })
      row.found++
      row.positions.push(position)
      row.seconds += (seconds * position) / history.txnCount
    } else row.seconds += seconds
    if (result!.verdict === 'unknown') row.unknown++
  } finally {
    await database.close()
    rmSync(path, { force: true })
  }
}

function restartsEvery(ms: number | null): PlannedEvent[] {
  return ms === null ? [] : [{ event: { kind: 'restart' }, firstMs: ms, everyMs: ms }]
}

/** A store that is simulated takes this process's own time only, however busy the machine is. */
function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

async function record(
  database: Database,
  workload: Workload,
  level: LevelId,
  seed: number,
  path: string,
  restart: Nodes['restart'],
  restartEveryMs: number | null,
): Promise<void> {
  const size = { sessions: SESSIONS, seed }
  const isTimed = !workload.sql && !(database instanceof SimDatabase)
  const sql = workload.sql
    ? planSql({
        ...size,
        transactions: SQL_TRANSACTIONS,
        shape: workload.sql,
        levels: level,
      })
    : null
  if (sql) await database.addTables(sql.tables, sql.rows)
  const work = sql
    ? new SqlWork(sql)
    : new PlannedWork(planWorkload({ ...registersFor(workload, isTimed), ...size }), isTimed)
  await recordRun({
    ...{ name: workload.name, database, work, level, seed, path, sql },
    tables: sql?.tables ?? [],
    durationMs: isTimed ? seconds * 1000 : null,
    events: restartsEvery(restartEveryMs),
    makers: restart === null ? {} : { restart },
  })
}

/** A run of given duration begins its plan again when it comes to the end. */
function registersFor(workload: Workload, isTimed: boolean): WorkloadRequest {
  return { ...workload.registers!, transactions: isTimed ? PLAN_AHEAD : transactions }
}

/** A table, and before it what its last line says. */
function render(
  what: string,
  table: string,
  names: readonly string[],
  workloads: readonly Workload[],
): string[] {
  const rowOf = (name: string, workload: Workload) => kept.rows[nameOf(table, name, workload)]
  const totals = workloads.map((workload) => {
    const rows = names.flatMap((name) => rowOf(name, workload) ?? [])
    const found = rows.reduce((sum, row) => sum + row.found, 0)
    const all = rows.reduce((sum, row) => sum + row.seconds, 0)
    return { workload, found, runs: rows.length * seeds, perMinute: (60 * found) / all }
  })
  return [
    ...ranking(totals.filter(({ runs }) => runs === names.length * seeds)),
    '',
    `| ${what} | ${workloads.map(({ name }) => name).join(' | ')} |`,
    `|---|${workloads.map(() => '---').join('|')}|`,
    ...names.map((name) => {
      const cells = workloads.map((workload) => cell(rowOf(name, workload)))
      return `| ${name} | ${cells.join(' | ')} |`
    }),
    `| **all** | ${totals
      .map(({ found, runs, perMinute }) =>
        runs === 0 ? '–' : `**${found} of ${runs}**, ${count(perMinute)} a minute`,
      )
      .join(' | ')} |`,
    '',
  ]
}

/** Who finds the most, of those that were measured on everything. */
function ranking(totals: readonly { workload: Workload; found: number; perMinute: number }[]) {
  const [first, second] = totals.toSorted((a, b) => b.perMinute - a.perMinute)
  if (!first || !second) return ['Not measured whole.']
  const tell = ({ workload, found, perMinute }: typeof first) =>
    `${workload.name} (${found} found, ${count(perMinute)} a minute)`
  return [`Most a minute: ${tell(first)}; then ${tell(second)}.`]
}

const count = (n: number) => Math.round(n).toLocaleString('en')

function cell(row: Row | undefined): string {
  if (!row) return '–'
  const mean = row.seconds / seeds
  const pace = mean < 1 ? `${(mean * 1000).toFixed(0)} ms` : `${mean.toFixed(1)} s`
  const unknown = row.unknown > 0 ? `, ${row.unknown} unknown` : ''
  if (row.found === 0) return `0${unknown}, ${pace}`
  return `${row.found} after ${median(row.positions)}${unknown}, ${pace}`
}

function document(): string[] {
  const faults = SHOWN.map(({ name }) => name)
  const servers = SCENARIOS.map(({ name }) => name)
  const withSql = SCENARIOS.filter(({ workloads }) => workloads === ALL).map(({ name }) => name)
  return [
    '# What each workload finds',
    '',
    `Made by \`npm run bench:strength\`: ${seeds} seeds from ${firstSeed} on, ${SESSIONS} sessions; ${transactions} transactions a run on simulated stores,`,
    `${seconds} seconds on servers (SQL: ${SQL_TRANSACTIONS} transactions). A cell says in how many of the seeds a violation was found,`,
    'after how many transactions (median; as many from the beginning of the history as are enough for one), and how long a run took with its',
    'judging, in proportion to those, or in all where nothing was found (mean; of simulated stores, processor time). The last line adds up:',
    'finds, and finds a minute. Only churn has rows that come and go.',
    '',
    '## Simulated stores',
    '',
    ...RATES.flatMap(([, words]) => [
      `### A fault in ${words}`,
      '',
      ...render('fault', words, faults, REGISTERS),
    ]),
    '## Real servers',
    '',
    'By the clock, on a machine that other work used at times. A replica is there as `isobar run --replicas 1` has it.',
    '',
    ...render('server', SERVERS, servers, REGISTERS),
    'On those that SQL runs on as well:',
    '',
    ...render('server', SERVERS, withSql, ALL).slice(0, -1),
  ]
}

const scratch = mkdtempSync(join(tmpdir(), 'isobar-strength-'))
if (flags.fresh) forget()
let kept = readKept()
try {
  if (only !== 'servers') for (const [share, words] of RATES) await simulate(share, words)
  if (only !== 'sim') await runServers()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
writeFileSync(join(ROOT, 'bench/strength.md'), `${document().join('\n')}\n`)
