// Measures the deciders of mixed levels on SQL transactions, as Bouajjani, Enea and Román-Calvo did
// (Figures 6 and 7, and their third experiment), with histories of the simulated store, and writes
// bench/sql.md. Times are those of deciding, predicates and certificate included, in one process;
// the first table is whole processes of the command line.
//
//   npm run bench:sql -- [--seeds 5] [--gate-seeds 50] [--budget 2000] [--only gate|sessions|…]
//
// `solve` is what `isobar check` does, `extensions` the published algorithm (--algorithm search),
// `naive` enumeration. A run that does not end within the budget counts as a timeout.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Deadline } from '../src/base/deadline.ts'
import { BudgetExceeded } from '../src/base/errors.ts'
import { buildMixedProblem } from '../src/check/mixed/build-problem.ts'
import { checkMixed } from '../src/check/mixed/check-mixed.ts'
import { Outputs } from '../src/files/output.ts'
import { writeNative } from '../src/formats/native/write.ts'
import type { History } from '../src/history/history.ts'
import type { LevelId } from '../src/levels/levels.ts'
import { generateSql } from '../src/pipeline/generate-sql.ts'
import type { SqlShape } from '../src/workload/sql/parameters.ts'
import { readOptions } from './arguments.ts'
import { measureCheck } from './measure.ts'
import { decideNaively } from './naive-sql.ts'

const ROOT = resolve(import.meta.dirname, '..')
const REPORT = join(ROOT, 'bench/sql.md')
const SHAPES = ['tpcc', 'tpcc-pc', 'twitter'] as const
const CONFIGURATIONS = ['ser', 'si', 'rc', 'ser+rc', 'si+rc'] as const

const flags = readOptions<{ seeds: string; gateSeeds: string; budget: string; only: string }>(
  'npm run bench:sql --',
  'builds, measures the deciders of mixed levels on SQL transactions, and writes bench/sql.md',
  [
    ['--seeds <n>', 'histories of each kind', '5'],
    ['--gate-seeds <n>', 'histories of the first table', '50'],
    ['--budget <ms>', 'when to give up', '2000'],
    ['--only <name>', 'only this section: gate, sessions, …', ''],
  ],
)
const seeds = Number(flags.seeds)
const gateSeeds = Number(flags.gateSeeds)
const budgetMs = Number(flags.budget)
const { only } = flags
// Whole processes are measured of what stands in dist.
execFileSync('npm', ['run', '-s', 'build'], { cwd: ROOT, stdio: 'inherit' })

type Algorithm = 'solve' | 'extensions' | 'naive'

/** Seconds, or null if the budget ran out; and whether the levels were kept. */
interface Outcome {
  seconds: number | null
  satisfied: boolean | null
}

function historyOf(shape: SqlShape, sessions: number, each: number, levels: string, seed: number) {
  const workload = { shape, sessions, transactions: sessions * each, levels }
  return generateSql({ seed, workload }).history
}

function decide(history: History, level: LevelId, algorithm: Algorithm): Outcome {
  const started = performance.now()
  const outcome = (satisfied: boolean | null): Outcome => ({
    seconds: satisfied === null ? null : (performance.now() - started) / 1000,
    satisfied,
  })
  if (algorithm !== 'naive') {
    const search = algorithm === 'extensions' ? 'search' : 'solve'
    const [result] = checkMixed(history, [level], { algorithm: search, budgetMs })
    return outcome(result!.verdict === 'unknown' ? null : result!.verdict === 'satisfied')
  }
  try {
    const problem = buildMixedProblem(history, level)
    return outcome(decideNaively(problem, new Deadline(budgetMs, null, null)) !== null)
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error
    return outcome(null)
  }
}

/** `0.031 (max 0.12)`, `0.4, 2 timeouts`: over the runs that ended. */
function describe(outcomes: readonly Outcome[]): string {
  const times = outcomes.flatMap(({ seconds }) => (seconds === null ? [] : [seconds]))
  const timeouts = outcomes.length - times.length
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  const notes = [
    ...(times.length > 0 ? [mean < 0.0995 ? mean.toFixed(3) : mean.toFixed(2)] : []),
    ...(timeouts > 0 ? [`${timeouts} timeout${timeouts > 1 ? 's' : ''}`] : []),
  ]
  return notes.join(', ')
}

function sweep(name: string, points: [label: number, sessions: number, each: number][]): string[] {
  const lines = [
    `| workload | ${name} | ${CONFIGURATIONS.map((c) => `${c} solve`).join(' | ')} | ser extensions |`,
    `|${'---|'.repeat(CONFIGURATIONS.length + 3)}`,
  ]
  for (const shape of SHAPES) {
    for (const [label, sessions, each] of points) {
      const runs = (levels: string, algorithm: Algorithm) =>
        Array.from({ length: seeds }, (_, i) =>
          decide(historyOf(shape, sessions, each, levels, i + 1), 'mixed', algorithm),
        )
      const cells = CONFIGURATIONS.map((levels) => describe(runs(levels, 'solve')))
      lines.push(
        `| ${shape} | ${label} | ${cells.join(' | ')} | ${describe(runs('ser', 'extensions'))} |`,
      )
      process.stderr.write(`${lines.at(-1)}\n`)
    }
  }
  return lines
}

/** Histories made at rc and judged at ser: many are not serializable. */
function third(): string[] {
  const lines = [
    '| workload | transactions a session | solve | extensions | naive | violated |',
    '|---|---|---|---|---|---|',
  ]
  for (const shape of ['twitter', 'tpcc'] as const) {
    for (const each of [1, 2, 3, 4, 5, 10, 20, 40]) {
      const histories = Array.from({ length: seeds }, (_, i) =>
        historyOf(shape, 3, each, 'rc', i + 1),
      )
      const by = (algorithm: Algorithm) => histories.map((h) => decide(h, 'ser', algorithm))
      const [solve, extensions, naive] = [by('solve'), by('extensions'), by('naive')]
      histories.forEach((_, i) => {
        const verdicts = [solve, extensions, naive].map((runs) => runs![i]!.satisfied)
        const settled = new Set(verdicts.filter((verdict) => verdict !== null))
        if (settled.size > 1) throw new Error(`deciders disagree: ${shape} ${each} seed ${i + 1}`)
      })
      const violated = solve.filter(({ satisfied }) => satisfied === false).length
      const cells = [solve, extensions, naive].map(describe)
      lines.push(`| ${shape} | ${each} | ${cells.join(' | ')} | ${violated} of ${seeds} |`)
      process.stderr.write(`${lines.at(-1)}\n`)
    }
  }
  return lines
}

/** Whole processes on the sizes that the published tool cannot do. */
function gates(): string[] {
  const lines = [
    '| workload | sessions × transactions | levels | mean s | max s | max MB | satisfied |',
    '|---|---|---|---|---|---|---|',
  ]
  const folder = mkdtempSync(join(tmpdir(), 'isobar-sql-'))
  try {
    for (const [shape, sessions, each] of [
      ['tpcc', 10, 10],
      ['twitter', 20, 50],
      ['tpcc-pc', 20, 50],
    ] as const) {
      for (const levels of CONFIGURATIONS) {
        const runs = Array.from({ length: gateSeeds }, (_, i) =>
          runWhole(folder, shape, sessions, each, levels, i + 1),
        )
        const times = runs.map(({ bestS }) => bestS)
        const mean = times.reduce((sum, time) => sum + time, 0) / times.length
        const satisfied = runs.filter((run) => run.isSatisfied).length
        lines.push(
          `| ${shape} | ${sessions} × ${each} | ${levels} | ${mean.toFixed(2)} | ${Math.max(...times).toFixed(2)} | ${Math.round(Math.max(...runs.map((run) => run.peakMb)))} | ${satisfied} of ${gateSeeds} |`,
        )
        process.stderr.write(`${lines.at(-1)}\n`)
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
  return lines
}

function runWhole(
  folder: string,
  shape: SqlShape,
  sessions: number,
  each: number,
  levels: string,
  seed: number,
) {
  const file = join(folder, 'history.jsonl')
  const history = historyOf(shape, sessions, each, levels, seed)
  new Outputs(true).claim(file, 'the bench').write((sink) => writeNative(history, sink))
  const { output, ...measured } = measureCheck(file, ['--level', 'mixed'], 1)
  return { ...measured, isSatisfied: JSON.parse(output).results[0].verdict === 'satisfied' }
}

const SECTIONS: [id: string, title: string, text: string, make: () => string[]][] = [
  [
    'gate',
    'Whole processes',
    `\`isobar check h.jsonl --level mixed --json\`, ${gateSeeds} seeds a row, every verdict certified.`,
    gates,
  ],
  [
    'sessions',
    'Growing number of sessions, 10 transactions each (Figure 6)',
    `Mean seconds over ${seeds} histories, timeout ${budgetMs / 1000} s.`,
    () =>
      sweep(
        'sessions',
        [2, 4, 6, 8, 10, 12].map((n) => [n, n, 10]),
      ),
  ],
  [
    'transactions',
    'Growing number of transactions, 3 sessions (Figure 7)',
    `Mean seconds over ${seeds} histories, timeout ${budgetMs / 1000} s.`,
    () =>
      sweep(
        'transactions a session',
        [5, 10, 20, 30, 40, 50, 60].map((n) => [n, 3, n]),
      ),
  ],
  [
    'third',
    'Made at rc, judged at ser, 3 sessions (third experiment)',
    `Mean seconds over ${seeds} histories, timeout ${budgetMs / 1000} s; the deciders agree wherever they end.`,
    third,
  ],
]

/** A report keeps the sections that were not measured this time. */
function writeReport(made: Map<string, string>): void {
  const old = existsSync(REPORT) ? readFileSync(REPORT, 'utf8') : ''
  const known = new Map(
    old
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split('\n')[0]!, section.slice(section.indexOf('\n') + 1).trim()]),
  )
  const head = `# SQL transactions at mixed levels: what was measured\n\nNode ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}). Histories of the simulated store: TPC-C-like,\nits conflict-free variant (tpcc-pc) and Twitter-like transactions; levels as named, ser+rc and si+rc give the\ntransactions that matter the first one. Make it again with \`npm run bench:sql\`.\n`
  const sections = SECTIONS.flatMap(([, title]) => {
    const text = made.get(title) ?? known.get(title)
    return text === undefined ? [] : [`## ${title}\n\n${text}\n`]
  })
  writeFileSync(REPORT, `${head}\n${sections.join('\n')}`)
}

const made = new Map<string, string>()
for (const [id, title, text, make] of SECTIONS) {
  if (only !== '' && only !== id) continue
  made.set(title, `${text}\n\n${make().join('\n')}`)
  writeReport(made)
}
