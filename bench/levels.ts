// Measures every level, as a user meets it, on the same few histories: whole processes, processor
// time and peak memory. Writes bench/levels.md.
//
//   npm run bench:levels -- [--runs 1] [--only NAME] [--budget 60s]
//
// Histories come from the simulated store, in the order of its commits and with times, or from
// level-histories.ts. What a level does not settle in its budget is told as unknown.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { LEVELS } from '../src/levels/levels.ts'
import { readOptions } from './arguments.ts'
import { LEVEL_HISTORIES } from './level-histories.ts'
import { generate, measureCheck } from './measure.ts'

const REPORT = join(resolve(import.meta.dirname, '..'), 'bench/levels.md')

const flags = readOptions<{ runs: string; only: string; budget: string }>(
  'npm run bench:levels --',
  'measures every level on a few histories, and writes bench/levels.md',
  [
    ['--runs <n>', 'how often each is run', '1'],
    ['--only <name>', 'only histories of this name', ''],
    ['--budget <time>', 'for each level', '60s'],
  ],
)

const general = ['--sessions', '50', '--ops', '8', '--keys', '5000']
/** Levels that any history of registers or lists may be asked for. */
const USUAL = LEVELS.map(({ id }) => id).filter((id) => id !== 'mixed' && id !== 'lin')
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

const folder = mkdtempSync(join(tmpdir(), 'isobar-levels-'))
const lines: string[] = []
try {
  const made = HISTORIES.map(([name, options, levels]) => {
    return [name, (file: string) => generate(file, options), levels, []] as const
  })
  for (const [name, make, levels, options] of [...made, ...LEVEL_HISTORIES]) {
    if (!name.includes(flags.only)) continue
    const file = join(folder, 'history.jsonl')
    make(file)
    for (const level of levels) {
      const args = ['--level', level, '--budget', flags.budget, ...options]
      const { cpuS, peakMb, output } = measureCheck(file, args, Number(flags.runs), null, true)
      const [result] = JSON.parse(output).results
      const cells = [name, `\`${level}\``, result.verdict, cpuS.toFixed(2), peakMb.toFixed(0)]
      lines.push(`| ${cells.join(' | ')} |`)
      process.stdout.write(`${lines.at(-1)}\n`)
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`
writeFileSync(
  REPORT,
  `# Every level on the same histories

Node ${process.version}, ${machine}.
Whole process, reading and verifying included; median processor seconds of ${flags.runs} and peak resident memory. Histories are of the
simulated store, 50 sessions (SQL: 20), in the order of its commits, with times, or made by \`bench/level-histories.ts\`; \`unknown\` is what
${flags.budget} did not settle, or what a level says is too large for it.
Make it again with \`npm run bench:levels\`.

| history | level | verdict | processor s | peak MB |
|---|---|---|---|---|
${lines.join('\n')}
`,
)
