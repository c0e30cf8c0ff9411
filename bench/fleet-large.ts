// One large history of groups that do not communicate, judged by one process and by a fleet to which
// each part and level is a job: the verdicts must be the same, and how long both take. In one of two
// such histories a group violates the level. Main function: measureLarge.

import { spawnSync } from 'node:child_process'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Fleet } from '../src/fleet/fleet.ts'
import { readOverview } from '../src/fleet/overview.ts'
import { readPlan } from '../src/fleet/read-plan.ts'
import { CORES, now, ofProcessors, openIn, since, timeNight } from './fleet-night.ts'
import { generate } from './measure.ts'

const BIN = join(resolve(import.meta.dirname, '..'), 'bin/isobar.js')
const GROUPS = 16
const SESSIONS = 20 // of a group
const KEYS = 500
const LEVELS = ['cc', 'si', 'ser']

/** @param txns of the whole history */
function writeHistory(folder: string, path: string, txns: number, isBroken: boolean): void {
  const each = Math.floor(txns / GROUPS)
  const part = join(folder, 'group.txt')
  writeFileSync(path, '')
  for (let group = 0; group < GROUPS; group++) {
    const store = isBroken && group === GROUPS / 2 ? 'si' : 'ser'
    generate(part, [
      ...['--sessions', `${SESSIONS}`, '--keys', `${KEYS}`, '--ops', '8', '--layout', 'session'],
      ...['--transactions', `${each}`, '--seed', `${group + 1}`, '--store', store],
    ])
    const moved = readFileSync(part, 'utf8').replaceAll(
      /\((\d+),(\d+),(\d+),(\d+)\)/g,
      (_, key, value, session, txn) =>
        `(${group * KEYS + Number(key)},${value},${group * SESSIONS + Number(session)},${group * 10 * each + Number(txn)})`,
    )
    appendFileSync(path, moved)
  }
}

/** What one process says of it, level by level. */
function judgeAlone(path: string): string {
  const args = [BIN, 'check', path, '--level', LEVELS.join(','), '--json']
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  if (stdout === '') throw new Error(stderr)
  const { results } = JSON.parse(stdout) as { results: { level: string; verdict: string }[] }
  return results.map(({ level, verdict }) => `${level} ${verdict}`).join(', ')
}

async function judgeTogether(fleet: Fleet, path: string) {
  const text = `histories: ${path}\nlevels: [${LEVELS.join(', ')}]\nsplit: [levels, parts]\n`
  const { spent, night } = await timeNight(fleet, readPlan(text, 'large'), [path])
  const { splits } = await readOverview(fleet.store, (await fleet.store.findNight(night))!)
  const verdictOf = (level: string) => splits.find((each) => each.level === level)?.verdict
  return { spent, said: LEVELS.map((level) => `${level} ${verdictOf(level)}`).join(', ') }
}

/** @param txns of each history */
export async function measureLarge(folder: string, txns: number): Promise<string[]> {
  const fleet = await openIn(join(folder, 'large'))
  const rows: string[] = []
  try {
    for (const isBroken of [false, true]) {
      const path = join(folder, isBroken ? 'broken.txt' : 'sound.txt')
      writeHistory(folder, path, txns, isBroken)
      const started = now()
      const alone = judgeAlone(path)
      const one = since(started)
      const { spent, said } = await judgeTogether(fleet, path)
      const times = [one.clock, ofProcessors(one), spent.clock, ofProcessors(spent)]
      const told = [alone, said === alone ? 'the same' : said]
      rows.push(`| ${[...told, ...times.map((s) => s.toFixed(1))].join(' | ')} |`)
      process.stdout.write(`${rows.at(-1)}\n`)
    }
  } finally {
    await fleet.close()
  }
  return [
    `Histories of ${txns} transactions in ${GROUPS} groups that do not communicate, told session by session; in the second, one group was made by a store that keeps less.`,
    `Judged by one process, and by a fleet with ${CORES} jobs at once as jobs of one part and one level each (\`split: [levels, parts]\`), splitting and queueing included.`,
    '',
    '| one process says | the fleet says | one process, s | of processors | fleet, s | of processors |',
    '|---|---|---|---|---|---|',
    ...rows,
  ]
}
