// Measures every level, as a user meets it, on the same few histories: whole processes, processor
// time and peak memory. Writes bench/levels.md.
//
//   npm run bench:levels -- [--runs 1] [--only NAME] [--level ID] [--budget 60s]
//
// Histories come from the simulated store, in the order of its commits and with times, or from
// level-histories.ts. What a level does not settle in its budget is told as unknown. Rows are written
// as they come, and those of histories that --only leaves out stay as they were.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { readOptions } from './arguments.ts'
import { LEVEL_HISTORIES, USUAL } from './level-histories.ts'
import { generate, measureCheck } from './measure.ts'

const REPORT = join(resolve(import.meta.dirname, '..'), 'bench/levels.md')

const flags = readOptions<{ runs: string; only: string; level: string; budget: string }>(
  'npm run bench:levels --',
  'measures every level on a few histories, and writes bench/levels.md',
  [
    ['--runs <n>', 'how often each is run', '1'],
    ['--only <name>', 'only histories whose names have this in them; other rows stay', ''],
    ['--level <id>', 'only this level; other rows stay', ''],
    ['--budget <time>', 'for each level', '60s'],
  ],
)

const general = ['--sessions', '50', '--ops', '8', '--keys', '5000']
const OF_SQL = ['rc', 'ra', 'cc', 'pc', 'si', 'ser', 'sser', 'mixed'] as const
const HISTORIES: readonly (readonly [
  name: string,
  flags: readonly string[],
  levels: readonly string[],
])[] = [
  ['general, 10,000', ['--store', 'ser', '--transactions', '10000', ...general], USUAL],
  ['general, 100,000', ['--store', 'ser', '--transactions', '100000', ...general], USUAL],
  [
    'general, 1,000,000',
    [...['--store', 'ser', '--transactions', '1000000', ...general], '--keys', '100000'],
    USUAL,
  ],
  ['general at rc, 10,000', ['--store', 'rc', '--transactions', '10000', ...general], USUAL],
  [
    'read-modify-write, 100,000',
    ['--shape', 'mini', '--store', 'ser', '--transactions', '100000', '--sessions', '50'],
    USUAL,
  ],
  [
    'lists, 100,000',
    ['--shape', 'append', '--store', 'ser', '--transactions', '100000', '--sessions', '50'],
    USUAL,
  ],
  [
    'compare-and-set, 100,000',
    ['--shape', 'lwt', '--transactions', '100000', '--sessions', '50'],
    ['lin', 'ser+lin', 'ser'],
  ],
  [
    'SQL (tpcc), 3,000',
    ['--shape', 'tpcc', '--store', 'ser', '--transactions', '3000', '--sessions', '20'],
    OF_SQL,
  ],
]

type Row = readonly [history: string, level: string, ...cells: string[]]

const folder = mkdtempSync(join(tmpdir(), 'isobar-levels-'))
try {
  const made = HISTORIES.map(([name, options, levels]) => {
    return [name, (file: string) => generate(file, options), levels, []] as const
  })
  const all = [...made, ...LEVEL_HISTORIES]
  const places = all.flatMap(([name, , levels]) => levels.map((level) => placeOf(name, level)))
  const rows = readRows(places)
  for (const [name, make, levels, options] of all) {
    if (!name.includes(flags.only)) continue
    const file = join(folder, 'history.jsonl')
    make(file)
    for (const level of levels) {
      if (flags.level && level !== flags.level) continue
      const args = ['--level', level, '--budget', flags.budget, ...options]
      const { cpuS, peakMb, output } = measureCheck(file, args, Number(flags.runs), null, true)
      const [result] = JSON.parse(output).results
      const row: Row = [name, level, result.verdict, cpuS.toFixed(2), peakMb.toFixed(0)]
      rows.set(placeOf(name, level), row)
      process.stdout.write(`${renderRow(row)}\n`)
      // At once, so that what was measured stays if this is stopped.
      writeReport(places.map((place) => rows.get(place)).filter((each) => each !== undefined))
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function placeOf(history: string, level: string): string {
  return `${history} | ${level}`
}

/** What was measured before, of histories and levels that there still are. */
function readRows(places: readonly string[]): Map<string, Row> {
  const rows = new Map<string, Row>()
  if (!existsSync(REPORT)) return rows
  for (const line of readFileSync(REPORT, 'utf8').split('\n')) {
    const [history, level, ...cells] = line.split(' | ').map((cell) => cell.replace(/[|`]/g, ''))
    if (history === undefined || level === undefined) continue
    const row: Row = [history.trim(), level, ...cells.map((cell) => cell.trim())]
    const place = placeOf(row[0], level)
    if (places.includes(place)) rows.set(place, row)
  }
  return rows
}

function renderRow([history, level, ...cells]: Row): string {
  return `| ${[history, `\`${level}\``, ...cells].join(' | ')} |`
}

function writeReport(rows: readonly Row[]): void {
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`
  writeFileSync(
    REPORT,
    `# Every level on the same histories

Node ${process.version}, ${machine}.
Whole process, reading and verifying included; processor seconds (median of ${flags.runs}) and peak resident memory; others used the machine at the same time. Histories are of the
simulated store, 50 sessions (SQL: 20), in the order of its commits, with times, or made by \`bench/level-histories.ts\`; \`unknown\` is what
60s by the clock did not settle (with --budget as told where rows are measured again; a busy machine gives a part of that), or what a level says is too large for it.
Make it again with \`npm run bench:levels\`, in parts with \`-- --only NAME\`, which keeps all other rows.

| history | level | verdict | processor s | peak MB |
|---|---|---|---|---|
${rows.map(renderRow).join('\n')}
`,
  )
}
