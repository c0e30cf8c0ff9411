// Compares our verdicts with the labels of a corpus of histories: a folder with labels.csv, whose
// first column is a path below the folder and whose other columns are levels (1 satisfied, 0
// violated). Usage: npm run corpus -- FOLDER [level,…]

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkLevels } from '../src/check/check.ts'
import { readHistory } from '../src/formats/open.ts'
import { findLevel, type LevelId } from '../src/levels/levels.ts'

const [folder, only] = process.argv.slice(2)
if (!folder || !existsSync(join(folder, 'labels.csv'))) {
  console.error('usage: npm run corpus -- FOLDER [level,…]   (FOLDER holds labels.csv)')
  process.exit(2)
}
const [header, ...rows] = readFileSync(join(folder, 'labels.csv'), 'utf8').trim().split(/\r?\n/)
const columns = header!.split(',')
const levels = columns.filter(
  (name) => findLevel(name) && (!only || only.split(',').includes(name)),
) as LevelId[]

const agree = new Map<string, number>()
const differ = new Map<string, number>()
const started = performance.now()
for (const row of rows) {
  const cells = row.split(',')
  const { history } = await readHistory(join(folder, cells[0]!))
  for (const result of checkLevels(history, levels)) {
    const label = cells[columns.indexOf(result.level)]
    if (label !== '0' && label !== '1') continue
    const expected = label === '1' ? 'satisfied' : 'violated'
    const same = result.verdict === expected
    const table = same ? agree : differ
    table.set(result.level, (table.get(result.level) ?? 0) + 1)
    if (!same)
      console.log(`${cells[0]}: ${result.level} is ${result.verdict}, labelled ${expected}`)
  }
}
for (const level of levels) {
  console.log(`${level}: ${agree.get(level) ?? 0} agree, ${differ.get(level) ?? 0} differ`)
}
console.log(`${rows.length} histories in ${((performance.now() - started) / 1000).toFixed(1)} s`)
process.exitCode = differ.size > 0 ? 1 : 0
