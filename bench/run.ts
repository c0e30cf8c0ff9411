// Measures the command line as a user meets it: whole processes, wall clock, best and median of
// several runs, peak memory. Sweeps one parameter at a time around a usual history, writes the
// table and the curves into bench/report.md, and says what got slower than the table recorded last.
//
//   npm run bench -- [--runs 3] [--base 100000] [--full] [--only NAME] [--figure TEXT] [--hard]
//
// --full sweeps up to 1e6 transactions and measures all figures that Isobar promises (figures.ts),
// in about 20 minutes; --figure only those whose name contains the text, whose rows are put in place
// of the old ones; --hard only the section on the hardest families (hard.ts), which any other run
// leaves as it stands. A peer runs beside it
// where ISOBAR_PEER holds its command, e.g. ISOBAR_PEER='peer -i {level} {file}': {level} is rc, ra
// or cc, {file} a history in Plume text. Files live in a temporary folder and do not stay.

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions } from './arguments.ts'
import { type Figure, measureFigures } from './figures.ts'
import { hardSection, measureHard, withHardSection } from './hard.ts'
import { generate, measureCheck, measurePeer } from './measure.ts'
import { plotGrowth, type Series } from './plot.ts'

const ROOT = resolve(import.meta.dirname, '..')
const LAST = join(ROOT, 'bench/last.json')
const REPORT = join(ROOT, 'bench/report.md')
const SLOWER = 1.3 // beyond this factor a row is called slower; machines are noisy

const flags = readOptions<{
  runs: string
  base: string
  only: string
  figure: string
  full?: boolean
  hard?: boolean
}>('npm run bench --', 'measures whole processes of isobar check, and writes bench/report.md', [
  ['--runs <n>', 'how often each is run', '3'],
  ['--base <n>', 'transactions of the usual history', '100000'],
  ['--full', 'sweep up to 1e6 transactions, and measure all figures that are promised: 20 minutes'],
  ['--only <name>', 'only the sweeps of this name', ''],
  ['--figure <text>', 'only the figures whose name contains the text', ''],
  ['--hard', 'only the hardest families of histories'],
])
const runs = Number(flags.runs)
const base = Number(flags.base)
const { only, figure: figureOnly } = flags

interface Point {
  sweep: string
  label: string
  x: number
  flags: string[]
  levels: string[]
}

interface Row {
  id: string
  megabytes: number
  bestS: number
  medianS: number
  peakMb: number
  peerS: number | null
}

const WEAK = ['rc', 'ra', 'cc']

function point(sweep: string, x: number | string, extra: string[], levels = WEAK): Point {
  const given = new Map<string, string>([
    ['--transactions', String(base)],
    ['--sessions', '50'],
    ['--ops', '8'],
    ['--reads', '0.5'],
    ['--keys', '100000'],
  ])
  for (let i = 0; i < extra.length; i += 2) given.set(extra[i]!, extra[i + 1]!)
  return { sweep, label: String(x), x: Number(x), flags: [...given].flat(), levels }
}

function points(): Point[] {
  const sizes = flags.full ? [1e5, 3e5, 1e6] : [base / 4, base / 2, base, base * 2]
  return [
    ...sizes.map((n) => point('transactions', n, ['--transactions', String(n)])),
    ...[10, 50, 200, 1000].map((n) => point('sessions', n, ['--sessions', String(n)])),
    ...[4, 8, 20, 100].map((n) => point('operations', n, ['--ops', String(n)])),
    ...[1000, 10_000, 100_000].map((n) => point('keys', n, ['--keys', String(n)])),
    ...['uniform', 'zipfian', 'hotspot', 'exponential'].map((name) =>
      point('distribution', name, ['--distribution', name, '--keys', '10000']),
    ),
    ...['commit', 'session', 'interleaved'].map((name) =>
      point('layout', name, ['--layout', name]),
    ),
    ...['fractured-read:100', 'causality-violation:100'].map((name) =>
      point('faults', name, ['--inject', name]),
    ),
    point('mini', 'ser', ['--shape', 'mini', '--distribution', 'uniform'], ['rc', 'si', 'ser']),
  ].filter((each) => only === '' || each.sweep === only)
}

const folder = mkdtempSync(join(tmpdir(), 'isobar-bench-'))
const rows: Row[] = []
let figures: Figure[] = []
let unitS: number | null = null
try {
  if (flags.hard) {
    const section = measureHard(folder, runs)
    writeFileSync(REPORT, withHardSection(readFileSync(REPORT, 'utf8'), section))
  } else if (figureOnly === '') for (const each of points()) measurePoint(each)
  if (flags.full || figureOnly !== '') {
    ;({ figures, unitS } = await measureFigures(folder, runs, figureOnly))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
if (figureOnly !== '') replaceFigures()
else if (!flags.hard) report()

function measurePoint(each: Point): void {
  const file = join(folder, 'history.plume')
  generate(file, each.flags)
  const megabytes = statSync(file).size / 1e6
  for (const level of each.levels) {
    const { bestS, medianS, peakMb } = measureCheck(file, ['--level', level], runs)
    const peerS = WEAK.includes(level) ? measurePeer(level, file) : null
    const row: Row = {
      id: `${each.sweep} ${each.label} ${level}`,
      megabytes,
      bestS,
      medianS,
      peakMb,
      peerS,
    }
    rows.push(row)
    console.log(`${row.id}: ${row.bestS.toFixed(2)} s best, ${row.medianS.toFixed(2)} s median`)
  }
}

function report(): void {
  const last = existsSync(LAST) ? (JSON.parse(readFileSync(LAST, 'utf8')) as Row[]) : []
  const before = new Map(last.map((row) => [row.id, row]))
  const all: Row[] = [...rows, ...figures]
  const slower = all.filter((row) => row.bestS > SLOWER * (before.get(row.id)?.bestS ?? Infinity))
  const peer = rows.some((row) => row.peerS !== null)
  const lines = [
    '# What was measured',
    '',
    `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB.`,
    `Whole process, wall clock, best and median of ${runs} runs; peak resident memory. Unless the row says`,
    `otherwise: ${base} transactions of 8 operations, 50 % reads, 50 sessions, 100,000 keys, uniform, Plume text in`,
    'commit order, from a serializable store. Make it again with `npm run bench -- --full`.',
    '',
    ...figureLines(),
    ...(existsSync(REPORT) ? hardSection(readFileSync(REPORT, 'utf8')) : []),
    '## Sweeps',
    '',
    `| history and level | MB | best s | median s | peak MB |${peer ? ' peer s |' : ''}`,
    `|---|---|---|---|---|${peer ? '---|' : ''}`,
    ...rows.map((row) => {
      const cells = [
        row.id,
        row.megabytes.toFixed(1),
        row.bestS.toFixed(2),
        row.medianS.toFixed(2),
        row.peakMb.toFixed(0),
      ]
      if (peer) cells.push(row.peerS === null ? '' : row.peerS.toFixed(2))
      return `| ${cells.join(' | ')} |`
    }),
    '',
    '![growth with the number of transactions](growth.svg)',
    '',
  ]
  writeFileSync(REPORT, lines.join('\n'))
  writeFileSync(join(ROOT, 'bench/growth.svg'), plotGrowth('transactions', growth()))
  writeFileSync(LAST, `${JSON.stringify(all, null, 2)}\n`)
  for (const row of slower) {
    console.log(
      `slower: ${row.id}: ${before.get(row.id)!.bestS.toFixed(2)} s before, ${row.bestS.toFixed(2)} s now`,
    )
  }
  if (last.length > 0 && slower.length === 0) console.log('nothing got slower than last time')
}

/** The promised figures, with what they are held to. */
function figureLines(): string[] {
  if (figures.length === 0) return []
  const peer = figures.some((figure) => figure.peerS !== null)
  const unit = unitS === null ? '' : ` ${unitText(unitS)}`
  return [
    '## Figures',
    '',
    `1,000,000 transactions unless the name says otherwise.${unit}`,
    '',
    `| history and question | MB | best s | median s | CPU s | peak MB |${peer ? ' peer s |' : ''} limit | met |`,
    `|---|---|---|---|---|---|${peer ? '---|' : ''}---|---|`,
    ...figures.map((figure) => figureLine(figure, peer)),
    '',
  ]
}

function unitText(seconds: number): string {
  return `\`md5sum\` of the usual file takes ${seconds.toFixed(2)} s.`
}

function figureLine(figure: Figure, peer: boolean): string {
  const { id, megabytes, bestS, medianS, cpuS, peakMb, peerS, limit, isMet } = figure
  const numbers = [bestS, medianS, cpuS].map((seconds) => seconds.toFixed(2))
  const cells = [id, megabytes.toFixed(0), ...numbers, peakMb.toFixed(0)]
  if (peer) cells.push(peerS === null ? '' : peerS.toFixed(2))
  cells.push(limit, limit === '' ? '' : isMet ? 'yes' : '**no**')
  return `| ${cells.join(' | ')} |`
}

/** Puts what was measured in place of what the report had of it, after the last figure if it is new. */
function replaceFigures(): void {
  const lines = readFileSync(REPORT, 'utf8').split('\n')
  const last = JSON.parse(readFileSync(LAST, 'utf8')) as Row[]
  const peer = lines.some(
    (line) => line.startsWith('| history and question') && / peer s /.test(line),
  )
  if (unitS !== null) {
    const line = lines.findIndex((each) => each.includes('`md5sum`'))
    lines[line] = lines[line]!.replace(/`md5sum`.*/, unitText(unitS))
  }
  for (const figure of figures) {
    const line = lines.findIndex((each) => each.startsWith(`| ${figure.id} |`))
    if (line >= 0) lines[line] = figureLine(figure, peer)
    else
      lines.splice(lines.indexOf('', lines.indexOf('## Figures') + 4), 0, figureLine(figure, peer))
    const row = last.findIndex(({ id }) => id === figure.id)
    if (row >= 0) last[row] = figure
    else last.push(figure)
  }
  writeFileSync(REPORT, lines.join('\n'))
  writeFileSync(LAST, `${JSON.stringify(last, null, 2)}\n`)
}

function growth(): Series[] {
  return WEAK.map((level) => ({
    name: level,
    points: rows
      .filter((row) => row.id.startsWith('transactions ') && row.id.endsWith(` ${level}`))
      .map((row) => ({ x: Number(row.id.split(' ')[1]), y: row.bestS })),
  })).filter((series) => series.points.length > 1)
}
