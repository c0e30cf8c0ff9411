// Trouble must not make a sound database look broken: many short runs with faults from outside, on
// databases that promise serializability, each judged at it. What the faults of a run are comes
// from its seed. A run that is violated keeps its files, is named with the command that makes such
// a run, and ends the whole with 1. One database that promises less is run alike, so that it shows
// that violations are seen. Writes bench/trouble.md.
//
//   scripts/live-databases.sh run npm run bench:trouble -- [--runs 200] [--seed 1] [--only sqlite]
//
// Databases whose address is not in the environment are left out, and named.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Random } from '../src/base/random.ts'
import type { LevelId } from '../src/levels/levels.ts'
import { type RunOutcome, run } from '../src/pipeline/run.ts'
import { parseFaultPlan } from '../src/record/faults.ts'
import { parseTarget } from '../src/record/targets.ts'
import { readOptions } from './arguments.ts'

const ROOT = resolve(import.meta.dirname, '..')
const DURATION_MS = 2500
const BUDGET_MS = 30_000

const flags = readOptions<{ runs: string; seed: string; only: string }>(
  'npm run bench:trouble --',
  'runs databases in trouble, counts what is violated, and writes bench/trouble.md',
  [
    ['--runs <n>', 'runs in all, shared out evenly', '200'],
    ['--seed <n>', 'of the first run', '1'],
    ['--only <name>', 'only the databases whose name has this in it', ''],
  ],
)

interface Subject {
  readonly name: string
  readonly address: string | null
  /** What is asked of it; it is judged at ser, SQL as each transaction asked for. */
  readonly level: LevelId
  readonly shapes: readonly ('churn' | 'mini' | 'append' | 'general' | 'lwt' | 'twitter')[]
  readonly faults: readonly string[]
  /** It promises less than it is judged at. */
  readonly isControl?: boolean
}

const scratch = mkdtempSync(join(tmpdir(), 'isobar-trouble-'))
const CUTS = ['kill-connection:10%', 'kill-connection:40%', 'latency:1-8ms', 'connection-storm:30']
const PAUSES = ['pause:5%:0.2s', 'pause:20%:0.05s']
const REGISTERS = ['churn', 'mini', 'append', 'general', 'lwt'] as const
const KEY_VALUE = { shapes: REGISTERS, faults: [...CUTS, ...PAUSES] }
const SQL = ['churn', 'mini', 'append', 'general', 'twitter'] as const

/** PostgreSQL is not paused: docs/found.md says why. */
const SUBJECTS: readonly Subject[] = [
  {
    ...{ name: 'embedded PostgreSQL', address: 'embedded', level: 'ser', shapes: SQL },
    faults: [...CUTS, 'kill-server:0.7s', 'stop-server:0.5s', 'restart-server:0.7s'],
  },
  {
    ...{ name: 'MariaDB', address: process.env['ISOBAR_TEST_MYSQL'] ?? null, level: 'ser' },
    ...{ shapes: SQL, faults: [...CUTS, ...PAUSES] },
  },
  {
    ...{ name: 'SQLite', address: `sqlite:${join(scratch, 'sqlite')}`, level: 'ser' },
    ...{ shapes: SQL, faults: PAUSES },
  },
  {
    ...{ name: 'Redis', address: process.env['ISOBAR_TEST_REDIS'] ?? null, level: 'ser' },
    ...KEY_VALUE,
  },
  {
    ...{ name: 'etcd', address: process.env['ISOBAR_TEST_ETCD'] ?? null, level: 'ser' },
    ...KEY_VALUE,
  },
  {
    ...{ name: 'Redis without WATCH', address: process.env['ISOBAR_TEST_REDIS'] ?? null },
    ...{ level: 'rc', shapes: ['churn', 'mini'], faults: CUTS, isControl: true },
  },
]

interface Tally {
  runs: number
  violated: number
  unknown: number
  committed: number
  indeterminate: number
  cuts: number
  restarts: number
  faults: Map<string, number> // fault -> runs that had it
}

/** One or two faults, by the seed, which can come to such a run. */
function drawFaults({ faults }: Subject, shape: string, random: Random): string[] {
  const fitting = faults.filter((fault) => {
    if (shape === 'lwt') return !fault.startsWith('pause') // there is nothing to stay open
    return shape !== 'twitter' || !/-server|-storm/.test(fault) // it is over too soon for those
  })
  const [first, second] = [random.pick(fitting), random.pick(fitting)]
  const isSameKind = first.split(':')[0] === second.split(':')[0]
  return isSameKind || random.chance(0.5) ? [first] : [first, second]
}

async function troubled(subject: Subject, seed: number, tally: Tally): Promise<void> {
  const random = new Random(seed)
  const shape = random.pick(subject.shapes)
  const faults = drawFaults(subject, shape, random)
  const directory = join(scratch, `run-${subject.name.replace(/\W/g, '-')}-${seed}`)
  const outcome = await run({
    workload: { shape, seed, sessions: 8, ...(shape === 'twitter' ? { transactions: 150 } : {}) },
    ownWorkload: null,
    dbLevel: subject.level,
    levels: shape === 'twitter' ? null : ['ser'],
    durationMs: shape === 'twitter' ? null : DURATION_MS,
    rate: null,
    retries: 1,
    patienceMs: 60_000,
    directory,
    check: { budgetMs: BUDGET_MS },
    signal: null,
    onPhase: () => {},
    onProgress: null,
    version: 'bench',
    target: parseTarget(subject.address!, process.env),
    faults: parseFaultPlan(faults),
  })
  const said = count(outcome, tally, faults)
  const options = `--shape ${shape} --seed ${seed} ${faults.map((each) => `--fault ${each}`).join(' ')}`
  process.stdout.write(`${subject.name}: ${options}: ${said}\n`)
  if (said === 'violated' && !subject.isControl) {
    process.stdout.write(`  its files are in ${directory}\n`)
  } else rmSync(directory, { recursive: true, force: true })
}

function count({ judged, summary }: RunOutcome, tally: Tally, faults: readonly string[]): string {
  const verdicts = judged!.results.map(({ verdict }) => verdict)
  const said = verdicts.find((verdict) => verdict !== 'satisfied') ?? 'satisfied'
  tally.runs++
  if (said === 'violated') tally.violated++
  if (said === 'unknown') tally.unknown++
  tally.committed += summary.transactions.committed
  tally.indeterminate += summary.transactions.indeterminate
  tally.cuts += summary.connectionsCut
  tally.restarts += summary.serverRestarts
  for (const fault of faults) {
    const kind = fault.split(':')[0]!
    tally.faults.set(kind, (tally.faults.get(kind) ?? 0) + 1)
  }
  return said
}

const subjects = SUBJECTS.filter(({ name, address }) => {
  const isMeant = name.toLowerCase().includes(flags.only.toLowerCase())
  if (isMeant && address === null) process.stdout.write(`SKIPPED: ${name} (no address)\n`)
  return isMeant && address !== null
})
const tallies = subjects.map((): Tally => {
  const none = { runs: 0, violated: 0, unknown: 0, committed: 0, indeterminate: 0 }
  return { ...none, cuts: 0, restarts: 0, faults: new Map() }
})
const runs = Number(flags.runs)
const sound = subjects.filter(({ isControl }) => !isControl).length
const startMs = performance.now()
for (let done = 0, turn = 0; done < runs && sound > 0; turn++) {
  const at = turn % subjects.length
  if (!subjects[at]!.isControl) done++
  else if (tallies[at]!.runs >= 5) continue
  await troubled(subjects[at]!, Number(flags.seed) + turn, tallies[at]!)
}

const rows = subjects.map(({ name, isControl }, i) => {
  const { faults, ...each } = tallies[i]!
  const kinds = [...faults].map(([kind, times]) => `${kind} ${times}`).join(', ')
  const cells = [each.runs, each.violated, each.unknown, each.committed, each.indeterminate]
  const title = isControl ? `${name} (control: promises rc)` : name
  return `| ${[title, ...cells, each.cuts, each.restarts, kinds].join(' | ')} |`
})
const heads = ['database', 'runs', 'violated', 'unknown', 'committed', 'indeterminate']
const table = [
  `| ${[...heads, 'connections cut', 'server restarts', 'runs with'].join(' | ')} |`,
  '|---|---|---|---|---|---|---|---|---|',
  ...rows,
].join('\n')
process.stdout.write(`${table}\n`)
const minutes = Math.round((performance.now() - startMs) / 60_000)
if (flags.only === '') {
  const page = `# Runs in trouble

Made by \`scripts/live-databases.sh run npm run bench:trouble -- --runs ${flags.runs} --seed ${flags.seed}\` in ${minutes} minutes: runs of ${DURATION_MS / 1000} s (of
\`twitter\` 150 transactions) with 8 sessions, each with one or two faults and a workload by its seed, judged at serializability.

${table}
`
  writeFileSync(join(ROOT, 'bench/trouble.md'), page)
}
const bad = subjects.some(({ isControl }, i) => !isControl && tallies[i]!.violated > 0)
const blind = subjects.some(({ isControl }, i) => isControl && tallies[i]!.violated === 0)
if (blind) process.stdout.write('the control was not found to be violated\n')
if (!bad) rmSync(scratch, { recursive: true, force: true })
process.exitCode = bad || blind ? 1 : 0
