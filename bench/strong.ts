// Measures si and ser on general histories as a user meets them, and sets the figures beside those
// of VeriStrong and PolySI: whole processes, wall clock and processor time, peak memory. Then the
// same histories with one fault each: what it is called, how few transactions show it, and how long
// that takes compared with the sound history. Writes bench/strong.md.
//
//   npm run bench:strong -- [--runs 3] [--histories FOLDER] [--only NAME]
//
// Without --histories, histories of the shapes on which the peers were measured come from the
// simulated store, laid out by session and without times, so that their order tells nothing. With
// it, every file and directory in the folder is a history. A peer runs beside it where
// ISOBAR_STRONG_PEER holds its command, e.g. 'peer -i {level} {file}'.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions } from './arguments.ts'
import { generate, type Measured, measureCheck, measurePeer } from './measure.ts'

const ROOT = resolve(import.meta.dirname, '..')
const REPORT = join(ROOT, 'bench/strong.md')
const PEER = 'ISOBAR_STRONG_PEER'
const LEVELS = ['si', 'ser'] as const
const FAULTS = ['lost-update', 'write-skew', 'long-fork']

type Level = (typeof LEVELS)[number]

const flags = readOptions<{ runs: string; histories: string; only: string }>(
  'npm run bench:strong --',
  'measures si and ser on general histories, and writes bench/strong.md',
  [
    ['--runs <n>', 'how often each is run', '3'],
    ['--histories <folder>', 'every file and directory in it is a history', ''],
    ['--only <name>', 'only histories of this name', ''],
  ],
)
const runs = Number(flags.runs)
const { only } = flags

/** Seconds and megabytes of a peer on a history of that shape. */
interface Published {
  readonly shape: string // what the name of the history starts with
  readonly level: Level
  readonly veriStrong: readonly [number, number] | null
  readonly polySi: readonly [number, number] | null
}

// VeriStrong: wall clock on a quiet machine for the general histories, else processor seconds;
// PolySI: processor seconds.
const PUBLISHED: readonly Published[] = [
  { shape: 'general-10k-reads-0.95', level: 'si', veriStrong: [1.5, 345], polySi: [6.5, 470] },
  { shape: 'general-10k-reads-0.95', level: 'ser', veriStrong: [1.6, 571], polySi: null },
  { shape: 'general-10k-reads-0.5', level: 'si', veriStrong: [12, 699], polySi: [43, 1760] },
  { shape: 'general-10k-reads-0.5', level: 'ser', veriStrong: [7.5, 695], polySi: null },
  { shape: 'general-10k-reads-0.3', level: 'si', veriStrong: [28, 817], polySi: [107, 1990] },
  { shape: 'general-10k-reads-0.3', level: 'ser', veriStrong: [16, 751], polySi: null },
  { shape: 'rubis', level: 'si', veriStrong: [3.1, 379], polySi: [10, 728] },
  { shape: 'rubis', level: 'ser', veriStrong: [2.3, 565], polySi: null },
  { shape: 'twitter', level: 'si', veriStrong: [4.9, 492], polySi: [9.3, 859] },
  { shape: 'twitter', level: 'ser', veriStrong: [4.3, 627], polySi: null },
  { shape: 'tpcc', level: 'si', veriStrong: [77, 3100], polySi: [44, 3100] },
]

interface Judged extends Measured {
  readonly verdict: string
  readonly name: string // of the first anomaly
  readonly txns: number // that show it
}

interface Row extends Judged {
  readonly history: string
  readonly level: Level
  readonly peerS: number | null
}

const folder = mkdtempSync(join(tmpdir(), 'isobar-bench-'))
const rows: Row[] = []
const faulty: (Row & { readonly fault: string })[] = []
try {
  const given = flags.histories
  if (given === '') measureGenerated()
  else for (const name of readdirSync(given).sort()) measureHistory(name, join(given, name))
} finally {
  rmSync(folder, { recursive: true, force: true })
}
writeFileSync(REPORT, render())

function measureGenerated(): void {
  const shapes: [string, string[]][] = ['0.95', '0.5', '0.3'].map((reads) => [
    `general-10k-reads-${reads}`,
    ['--transactions', '10000', '--sessions', '25', '--keys', '10000', '--reads', reads],
  ])
  const large = ['--transactions', '100000', '--sessions', '50', '--keys', '100000']
  shapes.push(['general-100k-reads-0.95', [...large, '--reads', '0.95']])
  for (const [name, flags] of shapes) {
    if (!name.includes(only)) continue
    measureHistory(name, make(flags, []))
    for (const fault of FAULTS) {
      const file = make(flags, ['--inject', `${fault}:1`])
      for (const level of LEVELS) {
        const row = { history: name, level, peerS: null, fault, ...measure(level, file) }
        faulty.push(row)
        console.log(`${name} with ${fault}, ${level}: ${row.bestS.toFixed(2)} s, ${row.verdict}`)
      }
    }
  }
}

/** The file of a history as Plume text, which knows nothing of time. */
function make(flags: readonly string[], more: readonly string[]): string {
  const file = join(folder, 'history.plume')
  generate(file, ['--ops', '8', '--layout', 'session', ...flags, ...more])
  return file
}

function measureHistory(history: string, file: string): void {
  if (!history.includes(only)) return
  for (const level of LEVELS) {
    const row = { history, level, peerS: measurePeer(level, file, PEER), ...measure(level, file) }
    rows.push(row)
    console.log(`${history}, ${level}: ${row.bestS.toFixed(2)} s, ${row.verdict}`)
  }
}

function measure(level: Level, file: string): Judged {
  const { output, ...measured } = measureCheck(file, ['--level', level], runs)
  const [result] = JSON.parse(output).results
  return {
    ...measured,
    verdict: result.verdict,
    name: result.anomalies[0]?.name ?? '',
    txns: result.anomalies[0]?.transactions.length ?? 0,
  }
}

function render(): string {
  const hasPeer = rows.some((row) => row.peerS !== null)
  const pair = (figures: readonly [number, number] | null | undefined) =>
    figures ? `${figures[0]} s, ${figures[1]} MB` : ''
  const lines = [
    '# Snapshot isolation and serializability on general histories',
    '',
    `Node ${process.version}, ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB.`,
    `Whole process, best and median of ${runs} runs, median processor time, peak resident memory.`,
    "The peers' figures were measured once, on a machine of that size, on the histories that the rows name or, for",
    'the general ones, on histories of the same shape: VeriStrong (C++) wall clock on general histories and',
    'processor seconds else, PolySI (Java) processor seconds. Where other work keeps the cores busy, compare processor',
    'seconds. Make it again with `npm run bench:strong`.',
    '',
    `| history | level | verdict | best s | median s | processor s | peak MB | VeriStrong | PolySI |${hasPeer ? ' peer s |' : ''}`,
    `|---|---|---|---|---|---|---|---|---|${hasPeer ? '---|' : ''}`,
    ...rows.map((row) => {
      const known = PUBLISHED.find(
        ({ shape, level }) => level === row.level && row.history.startsWith(shape),
      )
      const cells = [row.history, row.level, row.verdict, ...figures(row)]
      cells.push(pair(known?.veriStrong), pair(known?.polySi))
      if (hasPeer) cells.push(row.peerS === null ? '' : row.peerS.toFixed(2))
      return `| ${cells.join(' | ')} |`
    }),
    '',
  ]
  return [...lines, ...renderFaulty()].join('\n')
}

function figures(row: Judged): string[] {
  const seconds = [row.bestS, row.medianS, row.cpuS].map((value) => value.toFixed(2))
  return [...seconds, row.peakMb.toFixed(0)]
}

function renderFaulty(): string[] {
  if (faulty.length === 0) return []
  return [
    '## With one fault',
    '',
    'The same histories with one fault that the store was asked to show. `transactions` counts those of the',
    'counterexample; `of sound` is the processor time as a multiple of that of the history without the fault.',
    '',
    '| history | fault | level | verdict | name | transactions | best s | median s | processor s | peak MB | of sound |',
    '|---|---|---|---|---|---|---|---|---|---|---|',
    ...faulty.map((row) => {
      const sound = rows.find(
        ({ history, level }) => history === row.history && level === row.level,
      )!
      const cells = [row.history, row.fault, row.level, row.verdict, row.name]
      cells.push(row.txns > 0 ? String(row.txns) : '', ...figures(row))
      return `| ${cells.join(' | ')} | ${(row.cpuS / sound.cpuS).toFixed(2)} |`
    }),
    '',
  ]
}
