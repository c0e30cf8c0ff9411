// Files larger than memory: makes histories of millions of transactions in a stream, judges each in
// memory and on disk, and writes bench/scale.md: processor time, peak memory, what was found.
//
//   npm run bench:scale                       1e6 transactions, minutes
//   npm run bench:scale -- --txns 1e7         ten times as many, 2.1 GB of text
//   npm run bench:scale -- --txns 1e8 --memory 2g --no-memory-run   on disk only
//
// Files go to --dir (the system's directory for temporary files) and are removed afterwards.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions } from './arguments.ts'
import { writeScaleHistory } from './scale-history.ts'

const ROOT = resolve(import.meta.dirname, '..')
const LEVELS = ['rc', 'ra', 'cc'] as const

interface Measured {
  readonly verdict: string
  readonly cpuSeconds: number
  readonly peakMb: number
  readonly core: number // transactions of the evidence
}

function main(): void {
  const flags = readOptions<{ txns: string; memory: string; dir: string; memoryRun: boolean }>(
    'npm run bench:scale --',
    'judges files larger than memory, in memory and on disk, and writes bench/scale.md',
    [
      ['--txns <n>', 'transactions of each history', '1e6'],
      ['--memory <size>', 'what a check on disk may hold', '256m'],
      ['--dir <dir>', 'where the histories are written', tmpdir()],
      ['--no-memory-run', 'judge them on disk only'],
    ],
  )
  const txns = Number(flags.txns)
  const folder = mkdtempSync(join(flags.dir, 'isobar-scale-'))
  const rows: string[] = []
  try {
    for (const lag of [0, 40]) {
      for (const violate of [null, ...LEVELS]) {
        if (lag === 0 && violate !== null) continue
        const path = join(folder, 'history.txt')
        const shape = { txns, ops: 8, sessions: 50, keys: 100_000, seed: 1 }
        writeScaleHistory({ ...shape, path, lag, violate })
        const size = `${(statSync(path).size / 1e9).toFixed(2)} GB`
        const levels = violate === null ? LEVELS : [violate]
        for (const level of levels) {
          const disk = measure(path, level, ['--memory', flags.memory, '--scratch', folder])
          const memory = flags.memoryRun ? measure(path, level, []) : null
          rows.push(rowOf(violate, lag, size, level, disk, memory))
          process.stdout.write(`${rows.at(-1)}\n`)
          writeFileSync(join(ROOT, 'bench/scale.md'), report(txns, flags.memory, rows))
        }
        rmSync(path)
      }
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function rowOf(
  violate: string | null,
  lag: number,
  size: string,
  level: string,
  disk: Measured,
  memory: Measured | null,
): string {
  const kind = `${lag === 0 ? 'serial' : `up to ${lag} commits behind`}${violate ? `, ${violate} violated once` : ''}`
  const told = ({ verdict, cpuSeconds, peakMb, core }: Measured) => [
    `${verdict}${core > 0 ? `, ${core} transactions` : ''}`,
    `${cpuSeconds.toFixed(1)} s`,
    `${Math.round(peakMb)} MB`,
  ]
  const cells = [kind, size, level, ...told(disk), ...(memory ? told(memory) : ['', '', ''])]
  return `| ${cells.join(' | ')} |`
}

/** Runs the built program; user and system time, and what the operating system counted at most. */
function measure(path: string, level: string, flags: string[]): Measured {
  const program = [join(ROOT, 'bin/isobar.js'), 'check', path, '--level', level, '--json', ...flags]
  const timed = spawnSync('/usr/bin/time', ['-f', '%U %S %M', process.execPath, ...program], {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  const [user, system, peakKb] = timed.stderr.trim().split('\n').at(-1)!.split(' ').map(Number)
  const verdict = JSON.parse(timed.stdout)
  const [result] = verdict.results
  return {
    verdict: result.verdict,
    cpuSeconds: user! + system!,
    peakMb: peakKb! / 1024,
    core: verdict.transactions.length,
  }
}

function report(txns: number, memory: string, rows: readonly string[]): string {
  return `# Files larger than memory

${txns.toLocaleString('en')} transactions of 8 operations, 50 sessions, 100,000 keys, Plume text, \`--memory ${memory}\`; made by \`npm run bench:scale\`.
Time is user and system time of the whole process, \`--json\` with the order that proves the level included; memory is the most that was resident.

| history | text | level | on disk | time | peak | in memory | time | peak |
|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}
`
}

main()
