// Files larger than memory: makes a history of millions of transactions in a stream, judges it in
// memory and beyond, as it is and with a few transactions more that violate a level or are told too
// late, and writes a section of bench/scale.md: processor time, clock, peak memory, what was found.
//
//   npm run bench:scale                                  1e6 transactions, a few minutes
//   npm run bench:scale -- --txns 1e7 --memory 500m      ten times as many, 2.3 GB of text
//   npm run bench:scale -- --layout session              told session by session, or `shuffled`
//   npm run bench:scale -- --txns 1e8 --memory 2g --no-memory-run   24 GB of text
//
// Files go to --dir (the system's directory for temporary files) and are removed afterwards.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions } from './arguments.ts'
import {
  addEnding,
  type Ending,
  type Layout,
  rearrange,
  writeScaleHistory,
} from './scale-history.ts'

const ROOT = resolve(import.meta.dirname, '..')
const REPORT = join(ROOT, 'bench/scale.md')
const LEVELS = ['rc', 'ra', 'cc'] as const
const LAG = 40
const LAYOUTS = { session: ' session by session', shuffled: ' shuffled within 20' }

interface Measured {
  readonly verdict: string
  readonly cpuSeconds: number
  readonly clockSeconds: number
  readonly peakMb: number
  readonly core: number // transactions of the evidence
}

interface Row {
  readonly history: string
  readonly level: string
  readonly beyond: Measured
  readonly inMemory: Measured | null
}

function main(): void {
  const flags = readOptions<{
    txns: string
    memory: string
    dir: string
    memoryRun: boolean
    layout?: Layout
  }>(
    'npm run bench:scale --',
    'judges files larger than memory, in memory and beyond, and writes bench/scale.md',
    [
      ['--txns <n>', 'transactions of the history', '1e6'],
      ['--memory <size>', 'what a check beyond memory may hold', '256m'],
      ['--dir <dir>', 'where the history is written', tmpdir()],
      ['--layout <session|shuffled>', 'told session by session, or shuffled within 20'],
      ['--no-memory-run', 'judge it beyond memory only'],
    ],
  )
  const txns = Number(flags.txns)
  const { layout } = flags
  const folder = mkdtempSync(join(flags.dir, 'isobar-scale-'))
  const path = join(folder, 'history.txt')
  const shape = { path, txns, ops: 8, sessions: 50, keys: 100_000, lag: LAG, seed: 1 }
  const rows: Row[] = []
  const judge = (history: string, level: string) => {
    const beyond = measure(path, level, ['--memory', flags.memory, '--scratch', folder])
    const inMemory = flags.memoryRun ? measure(path, level, []) : null
    rows.push({ history, level, beyond, inMemory })
    process.stdout.write(`${tellRow(rows.at(-1)!)}\n`)
    const title = `${txns.toLocaleString('en')} transactions${layout ? LAYOUTS[layout] : ''}`
    writeSection(tellSection(title, flags.memory, statSync(path).size, rows), title)
  }
  const judgeWith = (ending: Ending, history: string, level: string) => {
    const { size } = statSync(path)
    addEnding(shape, ending)
    judge(history, level)
    truncateSync(path, size)
  }
  try {
    writeScaleHistory(shape)
    if (layout) rearrange(path, layout)
    for (const level of LEVELS) judge('as it is', level)
    if (layout) return
    for (const level of LEVELS) judgeWith(level, `${level} violated at the end`, level)
    judgeWith('late', 'a read before its write at the end', 'cc')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs the built program; what the operating system counted of it. */
function measure(path: string, level: string, flags: string[]): Measured {
  const program = [join(ROOT, 'bin/isobar.js'), 'check', path, '--level', level, '--json', ...flags]
  const timed = spawnSync('/usr/bin/time', ['-f', '%U %S %e %M', process.execPath, ...program], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const counted = timed.stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
  const [user, system, clockSeconds, peakKb] = counted as [number, number, number, number]
  const verdict = JSON.parse(timed.stdout)
  const [result] = verdict.results
  const core = verdict.transactions.length
  const cpuSeconds = user + system
  return { verdict: result.verdict, cpuSeconds, clockSeconds, peakMb: peakKb / 1024, core }
}

function tellRow({ history, level, beyond, inMemory }: Row): string {
  const tell = ({ verdict, cpuSeconds, clockSeconds, peakMb, core }: Measured) => [
    `${verdict}${core > 0 ? ` by ${core}` : ''}`,
    `${cpuSeconds.toFixed(1)} s`,
    `${clockSeconds.toFixed(1)} s`,
    `${Math.round(peakMb)} MB`,
  ]
  const ratio = inMemory === null ? '' : (beyond.cpuSeconds / inMemory.cpuSeconds).toFixed(2)
  const other = inMemory === null ? ['', '', '', ''] : tell(inMemory)
  return `| ${[history, level, ...tell(beyond), ...other, ratio].join(' | ')} |`
}

function tellSection(title: string, memory: string, bytes: number, rows: readonly Row[]): string {
  const load = loadavg()[0]!.toFixed(0)
  return `## ${title}, ${(bytes / 1e9).toFixed(2)} GB, \`--memory ${memory}\`

| history | level | beyond memory | processor | clock | peak | in memory | processor | clock | peak | ratio |
|---|---|---|---|---|---|---|---|---|---|---|
${rows.map(tellRow).join('\n')}

The load of the machine was ${load}.
`
}

const HEAD = `# Files larger than memory

Transactions of 8 operations in 50 sessions on 100,000 keys, Plume text, each up to ${LAG} commits behind, so that reads are stale. Made by \`npm run bench:scale\`.
Processor time is user and system time of the whole process, \`--json\` included, with the order that proves the level where it fits; peak is the most
memory that was resident; the ratio is of processor time. A violation is told with the number of transactions that show it. Where a read comes before its write, the file is read to its end
as it stands, then cut up on disk.
`

/** Puts a section where it belongs; those of other sizes stay. */
function writeSection(section: string, title: string): void {
  const sizeOf = (text: string) => Number(/^## ([\d,]+)/.exec(text)![1]!.replaceAll(',', ''))
  const others = readFileSync(REPORT, 'utf8')
    .split(/^(?=## )/m)
    .slice(1)
  const kept = others
    .map((each) => each.trimEnd())
    .filter((each) => !each.startsWith(`## ${title},`))
  const sections = [...kept, section.trimEnd()].sort((a, b) => sizeOf(a) - sizeOf(b))
  writeFileSync(REPORT, `${[HEAD.trimEnd(), ...sections].join('\n\n')}\n`)
}

main()
