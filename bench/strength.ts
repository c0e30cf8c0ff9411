// How much a workload finds, and how soon: every workload on stores that break their word in known
// ways. Writes bench/strength.md.
//
//   npm run bench:strength -- [--seeds 10] [--seed 1] [--transactions 2000] [--seconds 5] [--only sim|servers] [--scenario replica] [--workload churn]
//
// The simulated store misbehaves in a share of its transactions. Servers are real PostgreSQLs that
// are asked for less than they are judged by, crash without having written what they promised, or
// have more nodes than one. A violation counts if the checker finds it; `after` is how many
// transactions the history has up to the example found, and the time of a find is that of the whole
// run, with reading and judging, in proportion to them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
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
import { foundAfter, median, recordRun, SESSIONS } from './finding.ts'
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
  workload: string
}>('npm run bench:strength --', 'measures what workloads find, and writes bench/strength.md', [
  ['--seeds <n>', 'runs of each workload on each store', '10'],
  ['--seed <n>', 'of the first run; a workload is not measured by the seeds it was tuned on', '1'],
  ['--transactions <n>', 'transactions of each run on a simulated store', '2000'],
  ['--seconds <n>', 'how long each run on a server is', '5'],
  ['--only <sim|servers>', 'only simulated stores, or only servers', ''],
  ['--scenario <name>', 'only this scenario, e.g. replica', ''],
  ['--workload <name>', 'only this workload, e.g. churn', ''],
])
const seeds = Number(flags.seeds)
const firstSeed = Number(flags.seed)
const eachSeed = Array.from({ length: seeds }, (_, i) => firstSeed + i)
const transactions = Number(flags.transactions)
const seconds = Number(flags.seconds)
const { only, scenario, workload: shape } = flags

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

/** What a workload found of one fault, over all seeds. */
interface Row {
  found: number
  unknown: number
  positions: number[]
  seconds: number
}

const scratch = mkdtempSync(join(tmpdir(), 'isobar-strength-'))
const sections: string[] = []
try {
  if (only !== 'servers') sections.push(...(await simulated()))
  if (only !== 'sim') sections.push(...(await onServers()))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
const target = join(ROOT, only === '' ? 'bench/strength.md' : `bench/strength-${only}.md`)
writeFileSync(target, `${[...intro(), ...sections].join('\n')}\n`)

async function simulated(): Promise<string[]> {
  const lines = ['## Simulated stores', '']
  const registers = REGISTERS.filter(({ name }) => name.includes(shape))
  for (const [share, words] of [
    [1, 'every transaction'],
    [1 / 50, '1 transaction in 50'],
    [1 / 1000, '1 transaction in 1,000'],
  ] as const) {
    const table = new Map<string, Row[]>()
    const rowsOf = async (fault: Fault) => {
      const level = fault.forbiddenFrom === 'sser' ? 'sser' : 'ser'
      const store = { level, sessionCount: SESSIONS, faults: [fault], faultShare: share } as const
      const rows = registers.map(emptyRow)
      // In turn, so that a moment at which the machine is busy falls to all.
      for (const seed of eachSeed) {
        for (const [i, workload] of registers.entries()) {
          const database = new SimDatabase({ ...store, seed })
          await measure(rows[i]!, workload, level, level, seed, { database, restart: null })
        }
      }
      return rows
    }
    // Else whoever comes first pays for the compiler.
    await rowsOf(FAULTS[0]!)
    for (const fault of FAULTS) {
      if (fault.needsPlan) continue // a store that runs cannot show it
      const rows = await rowsOf(fault)
      table.set(fault.name, rows)
      progress(`${fault.name}, ${words}`, rows)
    }
    lines.push(`### A fault in ${words}`, '', ...render('fault', registers, table), '')
  }
  return lines
}

interface Scenario {
  readonly name: string
  readonly asked: LevelId
  readonly judged: LevelId
  readonly start: () => Promise<Nodes>
  readonly restartEveryMs?: number
  readonly workloads: readonly Workload[]
}

async function onServers(): Promise<string[]> {
  const all = [...REGISTERS, ...SQL]
  const scenarios: Scenario[] = [
    {
      name: 'READ COMMITTED, judged at si',
      asked: 'rc',
      judged: 'si',
      start: oneNode,
      workloads: all,
    },
    {
      name: 'REPEATABLE READ, judged at ser',
      asked: 'si',
      judged: 'ser',
      start: oneNode,
      workloads: all,
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
  const table = new Map<string, Row[]>()
  for (const { name, asked, judged, start, restartEveryMs, workloads } of scenarios) {
    if (!name.includes(scenario)) continue
    const nodes = await start()
    const rows: Row[] = []
    try {
      for (const workload of workloads) {
        if (!workload.name.includes(shape)) continue
        const row = emptyRow()
        for (const seed of eachSeed) {
          const store = { database: await nodes.open(), restart: nodes.restart }
          await measure(row, workload, asked, judged, seed, store, restartEveryMs ?? null)
        }
        rows.push(row)
      }
    } finally {
      await nodes.stop()
    }
    table.set(name, rows)
    progress(name, rows)
  }
  return ['## Real servers', '', ...render('server', all, table)]
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
      const position = foundAfter(result!, history.txnCount)
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

function render(what: string, workloads: readonly Workload[], table: Map<string, Row[]>): string[] {
  const lines = [
    `| ${what} | ${workloads.map(({ name }) => name).join(' | ')} |`,
    `|---|${workloads.map(() => '---').join('|')}|`,
  ]
  for (const [name, rows] of table) {
    lines.push(`| ${name} | ${workloads.map((_, i) => cell(rows[i])).join(' | ')} |`)
  }
  const totals = workloads.map((_, i) => {
    const rows = [...table.values()].flatMap((all) => all[i] ?? [])
    const found = rows.reduce((sum, row) => sum + row.found, 0)
    const seconds = rows.reduce((sum, row) => sum + row.seconds, 0)
    return `**${found} of ${rows.length * seeds}**, ${((60 * found) / seconds).toFixed(0)} a minute`
  })
  lines.push(`| **all** | ${totals.join(' | ')} |`)
  return lines
}

function cell(row: Row | undefined): string {
  if (!row) return '–'
  const mean = row.seconds / seeds
  const pace = mean < 1 ? `${(mean * 1000).toFixed(0)} ms` : `${mean.toFixed(1)} s`
  const unknown = row.unknown > 0 ? `, ${row.unknown} unknown` : ''
  if (row.found === 0) return `0${unknown}, ${pace}`
  return `${row.found} after ${median(row.positions)}${unknown}, ${pace}`
}

function progress(name: string, rows: readonly Row[]): void {
  console.log(`${name}: ${rows.map((row) => cell(row)).join(' | ')}`)
}

function intro(): string[] {
  return [
    '# What each workload finds',
    '',
    `Made by \`npm run bench:strength\`: ${seeds} seeds from ${firstSeed} on, ${SESSIONS} sessions; ${transactions} transactions a run on simulated stores,`,
    `${seconds} seconds on servers (SQL: ${SQL_TRANSACTIONS} transactions). A cell says in how many of the seeds the violation was found,`,
    'after how many transactions (median), and how long a run took with its judging, in proportion to those, or in all where nothing was',
    'found (mean; of simulated stores, processor time). The last line adds up: finds, and finds a minute.',
    '',
  ]
}
