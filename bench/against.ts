// Measures this checkout against another one, built, of the same project: whole processes of
// `isobar check` on the same files, one after the other in turns, the least processor time of each.
// Writes bench/against.md; rows that are not measured this time stay as they were.
//
//   npm run bench:against -- --folder PATH [--runs 5] [--only PATTERN]
//
// The rows are those of `npm run bench -- --full`, `bench:strong` and `bench:sql` that tell
// something new: each sweep at its ends, each layout, faults, what is violated and what is not.

import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Outputs } from '../src/files/output.ts'
import { writeNative } from '../src/formats/native/write.ts'
import { generateSql } from '../src/pipeline/generate-sql.ts'
import type { SqlShape } from '../src/workload/sql/parameters.ts'
import { readOptions } from './arguments.ts'
import { generate, sampleCheck } from './measure.ts'

const ROOT = resolve(import.meta.dirname, '..')
const REPORT = join(ROOT, 'bench/against.md')

const flags = readOptions<{ folder: string; runs: string; only: string }>(
  'npm run bench:against --',
  'measures this checkout against another one, and writes bench/against.md',
  [
    ['--folder <path>', 'the other checkout, built', ''],
    ['--runs <n>', 'how often each is run', '5'],
    ['--only <pattern>', 'only histories whose name matches it', ''],
  ],
)
const runs = Number(flags.runs)
if (!existsSync(join(flags.folder, 'bin/isobar.js'))) throw new Error('no checkout: --folder')

interface Subject {
  readonly name: string
  readonly levels: readonly string[]
  /** Writes the history. */
  readonly make: (file: string) => void
  readonly ending: 'plume' | 'jsonl'
}

const USUAL = ['--sessions', '50', '--ops', '8', '--reads', '0.5', '--keys', '100000']

/** Registers of the simulated store; what is given last counts. */
function registers(name: string, given: string, levels: readonly string[]): Subject {
  const flags = ['--transactions', '100000', ...USUAL, ...given.split(' ').filter(Boolean)]
  return { name, levels, ending: 'plume', make: (file) => generate(file, flags) }
}

function sql(shape: SqlShape, sessions: number, each: number, made: string, level: string) {
  const name = `${shape}, ${sessions} × ${each}, made at ${made}`
  const workload = { shape, sessions, transactions: sessions * each, levels: made }
  const make = (file: string) => {
    const { history } = generateSql({ seed: 1, workload })
    new Outputs(true).claim(file, 'the bench').write((sink) => writeNative(history, sink))
  }
  return { name, levels: [level], ending: 'jsonl' as const, make }
}

const WEAK = ['rc', 'ra', 'cc']
const STRONG = ['si', 'ser']
const general = '--transactions 10000 --sessions 25 --keys 10000 --layout session --reads'

const SUBJECTS: readonly Subject[] = [
  registers('commit order', '', WEAK),
  registers('session by session', '--layout session', WEAK),
  registers('interleaved', '--layout interleaved', WEAK),
  registers('1,000,000', '--transactions 1000000', WEAK),
  registers('10 sessions', '--sessions 10', WEAK),
  registers('1,000 sessions', '--sessions 1000', WEAK),
  registers('100 operations', '--transactions 20000 --ops 100', WEAK),
  registers('1,000 keys', '--keys 1000', WEAK),
  registers('zipfian', '--distribution zipfian --keys 10000', WEAK),
  registers('fractured reads', '--inject fractured-read:100', ['ra']),
  registers('causality violations', '--inject causality-violation:100', ['cc']),
  registers('mini', '--shape mini --distribution uniform', ['rc', 'si', 'ser']),
  registers('general, reads 0.95', `${general} 0.95`, STRONG),
  registers('general, reads 0.5', `${general} 0.5`, STRONG),
  registers('general, lost update', `${general} 0.5 --inject lost-update:1`, STRONG),
  registers('general, long fork', `${general} 0.5 --inject long-fork:1`, STRONG),
  ...['ser', 'si', 'rc', 'ser+rc'].map((made) => sql('tpcc', 10, 10, made, 'mixed')),
  ...['ser', 'rc'].map((made) => sql('twitter', 20, 50, made, 'mixed')),
  ...['ser', 'rc'].map((made) => sql('tpcc-pc', 20, 50, made, 'mixed')),
  sql('twitter', 3, 40, 'rc', 'ser'),
  sql('tpcc', 3, 10, 'rc', 'ser'),
  sql('tpcc', 3, 40, 'rc', 'ser'),
]

const measured = new Map<string, string>()
const folder = mkdtempSync(join(tmpdir(), 'isobar-bench-'))
try {
  for (const subject of SUBJECTS) {
    if (!new RegExp(flags.only).test(subject.name)) continue
    const file = join(folder, `history.${subject.ending}`)
    subject.make(file)
    for (const level of subject.levels) measure(subject.name, file, level)
    rmSync(file)
    writeFileSync(REPORT, render())
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function measure(name: string, file: string, level: string): void {
  const bins = [resolve(flags.folder, 'bin/isobar.js'), join(ROOT, 'bin/isobar.js')]
  const best = bins.map(() => Number.POSITIVE_INFINITY)
  const told: string[] = []
  for (let run = 0; run < runs; run++) {
    for (const [i, bin] of bins.entries()) {
      const { cpuSeconds, output } = sampleCheck(file, ['--level', level], null, false, bin)
      best[i] = Math.min(best[i]!, cpuSeconds)
      const [{ verdict, anomalies }] = JSON.parse(output).results
      told[i] = anomalies.length > 0 ? `${verdict}, ${anomalies.length} told` : verdict
    }
  }
  const [before, after] = best as [number, number]
  const change = `${after > before ? '+' : '−'}${Math.abs(100 * (after / before - 1)).toFixed(0)} %`
  const verdict = told[0] === told[1] ? told[1] : `${told[0]} → ${told[1]}`
  const id = `| ${name} | ${level} |`
  measured.set(id, `${id} ${before.toFixed(2)} | ${after.toFixed(2)} | ${change} | ${verdict} |`)
  console.log(measured.get(id))
}

function render(): string {
  const old = existsSync(REPORT) ? readFileSync(REPORT, 'utf8').split('\n') : []
  const rowOf = (id: string) => measured.get(id) ?? old.find((line) => line.startsWith(id))
  const rows = SUBJECTS.flatMap(({ name, levels }) =>
    levels.flatMap((level) => rowOf(`| ${name} | ${level} |`) ?? []),
  )
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: flags.folder })
  return [
    `# Against ${String(commit).trim()}`,
    '',
    'Processor seconds of the whole process of `isobar check FILE --level LEVEL --json`, start included, verdict',
    `certified, least of ${runs} runs of each in turns. 100,000 transactions unless the name says otherwise;`,
    '`general` is 10,000. Since verdict and certificate are one file, `--json` prints the proof, too: 6.9 MB for a',
    'million transactions. Make it again with `npm run bench:against -- --folder PATH`.',
    '',
    '| history | level | before, s | now, s | change | verdict, anomalies |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
