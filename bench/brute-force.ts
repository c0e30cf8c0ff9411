// Runs the comparisons with brute force, all small histories and all seeds, and writes how many
// verdicts of each level were confirmed: bench/brute-force.md.
//
//   npm run bench:brute-force               all of test/small: a quarter of an hour on two cores
//   npm run bench:brute-force -- --given FILE   what a run with ISOBAR_CONFIRMED=FILE has counted

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { LEVELS } from '../src/levels/levels.ts'
import type { ConfirmedCount } from '../test/small/confirmed.ts'
import { readOptions } from './arguments.ts'

const ROOT = resolve(import.meta.dirname, '..')
const REPORT = join(ROOT, 'bench/brute-force.md')

const flags = readOptions<{ given: string }>(
  'npm run bench:brute-force --',
  'counts the verdicts that brute force confirms, and writes bench/brute-force.md',
  [['--given <file>', 'what a run of the tests has counted, in place of a new run', '']],
)

const folder = mkdtempSync(join(tmpdir(), 'isobar-brute-force-'))
try {
  const file = flags.given || join(folder, 'confirmed.jsonl')
  if (!flags.given) runTests(file)
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  writeFileSync(REPORT, tell(lines.map((line) => JSON.parse(line))))
} finally {
  rmSync(folder, { recursive: true })
}

function runTests(file: string): void {
  const env = { ...process.env, ISOBAR_CONFIRMED: file, ISOBAR_EXHAUSTIVE: '1' }
  const args = ['node_modules/vitest/vitest.mjs', 'run', 'test/small']
  execFileSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' })
}

function tell(counts: readonly ConfirmedCount[]): string {
  const total = sum(counts)
  return `# Verdicts that brute force confirmed

${total.toLocaleString('en')} verdicts on small histories, each compared with brute force over every commit order, or over every order of
versions where a level is about those, and certified. *Gone through*: every history of a few transactions, keys and operations, or every so many-th where the test says so; *drawn*: by seed, with
aborts, unknown outcomes, times, and what the second column names. A comparison that differs anywhere fails, and counts nothing; canaries, checkers with one rule broken, are caught by the
same comparisons and not counted. \`unknown\` is the right verdict where a history has no times and a level asks for them.
Made by \`npm run bench:brute-force\`, which runs \`ISOBAR_EXHAUSTIVE=1 npx vitest run test/small\`.

| level | histories of | gone through: satisfied | violated | unknown | drawn: satisfied | violated | unknown |
|---|---|---|---|---|---|---|---|
${rowsOf(counts).join('\n')}
`
}

/** Levels in the order of their table; those that only SQL has come last. */
function rowsOf(counts: readonly ConfirmedCount[]): string[] {
  const known = LEVELS.map(({ id }) => id as string)
  const levels = [...new Set(counts.map(({ level }) => level))]
  const place = (level: string) => known.indexOf(level)
  levels.sort((a, b) => place(a) - place(b))
  return levels.flatMap((level) => {
    const here = counts.filter((count) => count.level === level)
    return [...new Set(here.map(({ what }) => what))].sort().map((what) => {
      const cells = [false, true].flatMap((isDrawn) =>
        ['satisfied', 'violated', 'unknown'].map((verdict) => {
          const some = here.filter(
            (each) => each.what === what && each.isDrawn === isDrawn && each.verdict === verdict,
          )
          return some.length > 0 ? sum(some).toLocaleString('en') : '·'
        }),
      )
      return `| \`${level}\` | ${what} | ${cells.join(' | ')} |`
    })
  })
}

function sum(counts: readonly ConfirmedCount[]): number {
  return counts.reduce((total, { count }) => total + count, 0)
}
