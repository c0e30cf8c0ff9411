// How soon a workload finds what is wrong: the share of runs that have found it within a given
// time, and where in the record the first example is complete. Mini-transactions against appends and
// general transactions of several lengths, as in MTC's Figures 13 and 14; then workloads that are
// aimed at one anomaly (workload/aims.ts) against the default one. Writes bench/effectiveness.md.
//
//   scripts/live-databases.sh run npm run bench:effectiveness -- [--seeds 5] [--seconds 2] [--only shapes|aims]
//
// Without a MariaDB in ISOBAR_TEST_MYSQL its rows are left out.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { judge } from '../src/check/judge.ts'
import { readHistory } from '../src/formats/open.ts'
import type { History } from '../src/history/history.ts'
import type { LevelId } from '../src/levels/levels.ts'
import type { Database } from '../src/record/database.ts'
import { NO_FAULTS } from '../src/record/faults.ts'
import { SimDatabase } from '../src/record/sim/database.ts'
import { openTarget } from '../src/record/target.ts'
import { parseTarget } from '../src/record/targets.ts'
import { PlannedWork } from '../src/record/work.ts'
import { findFault } from '../src/sim/faults.ts'
import type { AimName } from '../src/workload/aims.ts'
import type { WorkloadRequest } from '../src/workload/parameters.ts'
import { planWorkload } from '../src/workload/workload.ts'
import { readOptions } from './arguments.ts'
import { firstViolation, median, recordRun, SESSIONS } from './finding.ts'
import { type Nodes, oneNode, withReplica } from './strength-nodes.ts'

const ROOT = resolve(import.meta.dirname, '..')
const BUDGET_MS = 20_000
const PLAN_AHEAD = 50_000
const SIM_TRANSACTIONS = 2000

const flags = readOptions<{ seeds: string; simSeeds: string; seconds: string; only: string }>(
  'npm run bench:effectiveness --',
  'measures how soon workloads find what is wrong, and writes bench/effectiveness.md',
  [
    ['--seeds <n>', 'runs of each workload on each server', '5'],
    ['--sim-seeds <n>', 'runs of each workload on each simulated store', '10'],
    ['--seconds <n>', 'how long each run on a server is', '2'],
    ['--only <shapes|aims>', 'only this half, into a file of its own', ''],
  ],
)
const seconds = Number(flags.seconds)
const scratch = mkdtempSync(join(tmpdir(), 'isobar-effectiveness-'))

interface Workload {
  readonly name: string
  readonly request: WorkloadRequest
}

/** A store that breaks its word, and what it is judged by. */
interface Scenario {
  readonly name: string
  readonly asked: LevelId
  readonly judged: LevelId
  /** Simulated stores run transactions, servers seconds. */
  readonly isSimulated: boolean
  readonly start: () => Promise<Nodes> | Nodes
  readonly openFor?: (seed: number) => Database
}

interface Finds {
  readonly runs: number
  readonly positions: number[]
  readonly times: number[] // ms
}

/** The same few keys for all, half of the draws among a few of them. */
const KEYS = { keys: 20, distribution: 'exponential' } as const
const SHAPES: readonly Workload[] = [
  { name: 'mini', request: { shape: 'mini', ...KEYS } },
  { name: 'append', request: { shape: 'append', ...KEYS } },
  ...[2, 4, 8, 16].map((ops) => ({
    name: `general, ${ops}`,
    request: { shape: 'general' as const, ops, ...KEYS },
  })),
  { name: 'churn', request: { shape: 'churn' } },
]
const CHURN: Workload = { name: 'churn (plain)', request: { shape: 'churn' } }

/** Fault of the simulated store -> what is aimed at to meet it. */
const SIM_AIMS: readonly (readonly [fault: string, aim: AimName])[] = [
  ['lost-update', 'lost-update'],
  ['write-skew', 'write-skew'],
  ['long-fork', 'long-fork'],
  ['causality-violation', 'causality-violation'],
  ['fractured-read', 'fractured-read'],
  ['non-repeatable-read', 'non-repeatable-read'],
  ['non-monotonic-read', 'non-monotonic-read'],
  ['dirty-read', 'circular-information-flow'],
  ['aborted-read', 'aborted-read'],
  ['intermediate-read', 'intermediate-read'],
  ['stale-read', 'stale-read'],
]
const AIMED_HEAD = [
  '| store | aimed at | churn: found in | after | aimed: found in | after |',
  '|---|---|---|---|---|---|',
]

function aimedAt(aim: AimName): Workload {
  return { name: 'aimed', request: { shape: 'aimed', aim } }
}

function simulated(fault: string, oneIn: number): Scenario {
  const faults = [findFault(fault)]
  const level: LevelId = faults[0]!.forbiddenFrom === 'sser' ? 'sser' : 'ser'
  return {
    name: `sim, ${fault} in 1 of ${oneIn}`,
    ...{ asked: level, judged: level, isSimulated: true },
    start: () => ({ open: async () => null as never, restart: null, stop: async () => {} }),
    openFor: (seed) =>
      new SimDatabase({ level, seed, sessionCount: SESSIONS, faults, faultShare: 1 / oneIn }),
  }
}

function embedded(asked: LevelId, judged: LevelId): Scenario {
  const name = `PostgreSQL at ${asked}, judged at ${judged}`
  return { name, asked, judged, isSimulated: false, start: oneNode }
}

function mariadb(asked: LevelId, judged: LevelId): Scenario[] {
  const address = process.env['ISOBAR_TEST_MYSQL']
  if (!address) {
    console.error('SKIPPED: MariaDB (set ISOBAR_TEST_MYSQL)')
    return []
  }
  const start = (): Nodes => {
    let close = async () => {}
    const open = async () => {
      await close()
      const options = { levels: [], sessions: SESSIONS, seed: 1, faults: NO_FAULTS }
      const opened = await openTarget(parseTarget(address), { ...options, patienceMs: 15_000 })
      close = opened.close
      return opened.database
    }
    return { open, restart: null, stop: () => close() }
  }
  const own = asked === 'si' ? 'REPEATABLE READ' : asked
  const name = `MariaDB at ${own}, judged at ${judged}`
  return [{ name, asked, judged, isSimulated: false, start }]
}

try {
  const sections: string[] = []
  if (flags.only !== 'aims') sections.push(...(await measureShapes()))
  if (flags.only !== 'shapes') sections.push(...(await measureAims()))
  const name = flags.only === '' ? 'effectiveness' : `effectiveness-${flags.only}`
  const path = join(ROOT, 'bench', `${name}.md`)
  const text = [...intro(), ...remarksIn(path), ...sections].join('\n')
  writeFileSync(path, `${text.trimEnd()}\n`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** What somebody wrote beneath "What it says", which is to be read again after each run. */
function remarksIn(path: string): string[] {
  if (!existsSync(path)) return []
  const remarks = /^\*\*What it says\.\*\*.*?(?=^## )/ms.exec(readFileSync(path, 'utf8'))
  if (remarks) process.stderr.write('bench: is "What it says" still so?\n')
  return remarks ? [remarks[0].trimEnd(), ''] : []
}

async function measureShapes(): Promise<string[]> {
  const scenarios = [
    ...mariadb('si', 'si'),
    embedded('rc', 'si'),
    embedded('si', 'ser'),
    ...[50, 500].flatMap((oneIn) =>
      ['lost-update', 'write-skew', 'fractured-read', 'aborted-read'].map((fault) =>
        simulated(fault, oneIn),
      ),
    ),
  ]
  const lines = ['## Mini-transactions, appends, general transactions of 2 to 16 operations', '']
  for (const scenario of scenarios) lines.push(...(await tableOf(scenario, SHAPES)))
  return lines
}

async function measureAims(): Promise<string[]> {
  const pairs: (readonly [Scenario, AimName])[] = [
    [embedded('rc', 'si'), 'lost-update'],
    [embedded('rc', 'ra'), 'non-repeatable-read'],
    [embedded('rc', 'ra'), 'fractured-read'],
    [embedded('si', 'ser'), 'write-skew'],
    [embedded('si', 'ser'), 'read-only-anomaly'],
    [
      {
        name: 'a primary and a replica, judged at si',
        ...{ asked: 'si', judged: 'si', isSimulated: false, start: withReplica },
      },
      'long-fork',
    ],
    ...mariadb('si', 'si').map((scenario) => [scenario, 'lost-update'] as const),
    ...[50, 1000].flatMap((oneIn) =>
      SIM_AIMS.map(([fault, aim]) => [simulated(fault, oneIn), aim] as const),
    ),
  ]
  const lines = ['## Aimed workloads', '', ...AIMED_HEAD]
  for (const [scenario, aim] of pairs) {
    const workloads = [CHURN, aimedAt(aim)]
    const finds = await measure(scenario, workloads)
    const cells = finds.map((each) => `${share(each)} | ${middle(each)}`)
    lines.push(`| ${scenario.name} | ${aim} | ${cells.join(' | ')} |`)
    console.log(lines.at(-1))
  }
  return [...lines, '']
}

async function tableOf(scenario: Scenario, workloads: readonly Workload[]): Promise<string[]> {
  const finds = await measure(scenario, workloads)
  const within = scenario.isSimulated ? [50, 200, 500, 2000] : [0.05, 0.1, 0.25, 0.5, seconds]
  const words = within.map((limit) => (scenario.isSimulated ? `within ${limit}` : `in ${limit} s`))
  const lines = [
    `### ${scenario.name}`,
    '',
    `| workload | ${words.join(' | ')} | first example after |`,
    `|---|${words.map(() => '---').join('|')}|---|`,
  ]
  for (const [i, { name }] of workloads.entries()) {
    const { runs, positions, times } = finds[i]!
    const shares = within.map((limit) => {
      const count = scenario.isSimulated
        ? positions.filter((position) => position <= limit).length
        : times.filter((ms) => ms <= limit * 1000).length
      return `${Math.round((100 * count) / runs)} %`
    })
    lines.push(`| ${name} | ${shares.join(' | ')} | ${middle(finds[i]!)} |`)
  }
  console.log(lines.join('\n'))
  return [...lines, '']
}

function share({ runs, positions }: Finds): string {
  return `${positions.length} of ${runs}`
}

function middle({ positions }: Finds): string {
  return positions.length === 0 ? '–' : String(median(positions))
}

async function measure(scenario: Scenario, workloads: readonly Workload[]): Promise<Finds[]> {
  const nodes = await scenario.start()
  try {
    const all: Finds[] = []
    for (const workload of workloads) all.push(await measureOne(scenario, workload, nodes))
    return all
  } finally {
    await nodes.stop()
  }
}

async function measureOne(scenario: Scenario, workload: Workload, nodes: Nodes): Promise<Finds> {
  const { isSimulated, asked: level, judged } = scenario
  const runs = Number(isSimulated ? flags.simSeeds : flags.seeds)
  const finds: Finds = { runs, positions: [], times: [] }
  const path = join(scratch, 'history.jsonl')
  for (let seed = 1; seed <= runs; seed++) {
    const database = scenario.openFor?.(seed) ?? (await nodes.open())
    const transactions = isSimulated ? SIM_TRANSACTIONS : PLAN_AHEAD
    const plan = planWorkload({ ...workload.request, sessions: SESSIONS, transactions, seed })
    try {
      await recordRun({
        ...{ name: workload.name, database, level, seed, path },
        work: new PlannedWork(plan, !isSimulated),
        durationMs: isSimulated ? null : seconds * 1000,
      })
      const { history } = await readHistory(path)
      const [result] = await judge(history, [judged], { budgetMs: BUDGET_MS })
      if (result!.verdict !== 'violated') continue
      const isViolated = async (part: History) =>
        (await judge(part, [judged], { budgetMs: BUDGET_MS }))[0]!.verdict === 'violated'
      const { position, ms } = await firstViolation(history, result!, isViolated)
      finds.positions.push(position)
      finds.times.push(ms)
    } finally {
      await database.close()
      rmSync(path, { force: true })
    }
  }
  return finds
}

function intro(): string[] {
  return [
    '# How soon workloads find what is wrong',
    '',
    `Made by \`scripts/live-databases.sh run npm run bench:effectiveness -- --seeds ${flags.seeds} --seconds ${flags.seconds}\`: ` +
      `${SESSIONS} sessions; on servers ${flags.seeds} runs of ${seconds} s for each cell,`,
    `on simulated stores ${flags.simSeeds} runs of ${SIM_TRANSACTIONS} transactions. Found is what the checker finds in the record of a run. So many`,
    'transactions of it are enough for a violation, at the least (median of the runs that found any); the time is when they had ended.',
    'mini, append and general use the same 20 keys, a few of them most; churn is the default workload.',
    '',
  ]
}
