// Measures the command line as a user meets it: whole processes, wall clock, best and median of
// several runs, peak memory. Sweeps one parameter at a time around a usual history, writes the
// table and the curves into bench/report.md, and says what got slower than the table recorded last.
//
//   npm run bench -- [--runs 3] [--base 100000] [--full] [--only NAME]
//
// --full adds 1e6 and 4e6 transactions. A peer runs beside it where ISOBAR_PEER holds its command,
// e.g. ISOBAR_PEER='peer -i {level} {file}': {level} is rc, ra or cc, {file} a history in Plume
// text.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { plotGrowth, type Series } from './plot.ts'

const ROOT = resolve(import.meta.dirname, '..')
const BIN = join(ROOT, 'bin/isobar.js')
const LAST = join(ROOT, 'bench/last.json')
const REPORT = join(ROOT, 'bench/report.md')
const SLOWER = 1.3 // beyond this factor a row is called slower; machines are noisy

const flag = (name: string) => process.argv.includes(`--${name}`)
const option = (name: string, fallback: string) => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? fallback : process.argv[at + 1]!
}
const runs = Number(option('runs', '3'))
const base = Number(option('base', '100000'))
const only = option('only', '')

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
  const sizes = flag('full') ? [1e5, 3e5, 1e6, 4e6] : [base / 4, base / 2, base, base * 2]
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
    point('mini', 'ser', ['--shape', 'mini'], ['rc', 'si', 'ser']),
  ].filter((each) => only === '' || each.sweep === only)
}

const folder = mkdtempSync(join(tmpdir(), 'isobar-bench-'))
const rows: Row[] = []
try {
  for (const each of points()) measurePoint(each)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
report()

function measurePoint(each: Point): void {
  const file = join(folder, 'history.plume')
  execFileSync(process.execPath, [BIN, 'generate', file, '--force', ...each.flags], {
    stdio: 'ignore',
  })
  const megabytes = statSync(file).size / 1e6
  for (const level of each.levels) {
    const times: number[] = []
    let peakMb = 0
    for (let run = 0; run < runs; run++) {
      const { seconds, peak } = measure(level, file)
      times.push(seconds)
      peakMb = Math.max(peakMb, peak)
    }
    times.sort((a, b) => a - b)
    const row: Row = {
      id: `${each.sweep} ${each.label} ${level}`,
      megabytes,
      bestS: times[0]!,
      medianS: times[times.length >> 1]!,
      peakMb,
      peerS: measurePeer(level, file),
    }
    rows.push(row)
    console.log(`${row.id}: ${row.bestS.toFixed(2)} s best, ${row.medianS.toFixed(2)} s median`)
  }
}

/** Whole process, its peak memory told by itself on the way out. */
function measure(level: string, file: string): { seconds: number; peak: number } {
  const tell = `process.on('exit',()=>process.stderr.write('peak '+process.resourceUsage().maxRSS))`
  const hook = `data:text/javascript,${encodeURIComponent(tell)}`
  const started = performance.now()
  const child = spawnSync(
    process.execPath,
    ['--import', hook, BIN, 'check', file, '--level', level, '--json'],
    { encoding: 'utf8', maxBuffer: 1 << 30 },
  )
  const seconds = (performance.now() - started) / 1000
  if (child.status !== 0 && child.status !== 1) throw new Error(child.stderr)
  const peak = Number(/peak (\d+)/.exec(child.stderr)?.[1] ?? 0) / 1024
  return { seconds, peak }
}

function measurePeer(level: string, file: string): number | null {
  const command = process.env['ISOBAR_PEER']
  if (!command || !WEAK.includes(level)) return null
  const [program, ...args] = command
    .split(' ')
    .map((word) => word.replace('{level}', level).replace('{file}', file))
  const started = performance.now()
  const child = spawnSync(program!, args, { stdio: 'ignore' })
  return child.error ? null : (performance.now() - started) / 1000
}

function report(): void {
  const last = existsSync(LAST) ? (JSON.parse(readFileSync(LAST, 'utf8')) as Row[]) : []
  const before = new Map(last.map((row) => [row.id, row]))
  const slower = rows.filter((row) => row.bestS > SLOWER * (before.get(row.id)?.bestS ?? Infinity))
  const peer = rows.some((row) => row.peerS !== null)
  const lines = [
    '# What was measured',
    '',
    `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB.`,
    `Whole process, wall clock, best and median of ${runs} runs; peak resident memory. Unless the row says`,
    `otherwise: ${base} transactions of 8 operations, 50 % reads, 50 sessions, 100,000 keys, uniform, Plume text in`,
    'commit order, from a serializable store. Make it again with `npm run bench`.',
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
  writeFileSync(LAST, `${JSON.stringify(rows, null, 1)}\n`)
  for (const row of slower) {
    console.log(
      `slower: ${row.id}: ${before.get(row.id)!.bestS.toFixed(2)} s before, ${row.bestS.toFixed(2)} s now`,
    )
  }
  if (last.length > 0 && slower.length === 0) console.log('nothing got slower than last time')
}

function growth(): Series[] {
  return WEAK.map((level) => ({
    name: level,
    points: rows
      .filter((row) => row.id.startsWith('transactions ') && row.id.endsWith(` ${level}`))
      .map((row) => ({ x: Number(row.id.split(' ')[1]), y: row.bestS })),
  })).filter((series) => series.points.length > 1)
}
