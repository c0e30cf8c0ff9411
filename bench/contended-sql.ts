// Measures what becomes of contended SQL: 20 sessions of 50 transactions on 6 rows of the simulated
// store, each history judged at the levels at which its transactions ran. By layout: in the order of
// commits with times, the same without times, and session by session, the sessions shuffled, without
// times, so that nothing but what was read tells the order. Writes bench/contended-sql.md.
//
//   npm run bench:contended -- [--seeds 10] [--budget 60] [--only sessions] [--levels rc] [--seed 1]
//
// Seconds are of the processor, of judging and certificate; the budget is kept by the clock.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join, resolve } from 'node:path'
import { Random } from '../src/base/random.ts'
import { checkMixed } from '../src/check/mixed/check-mixed.ts'
import type { History } from '../src/history/history.ts'
import type { SqlExecution } from '../src/sim/sql/execution.ts'
import { layOutSql } from '../src/sim/sql/layout.ts'
import { simulateSql } from '../src/sim/sql/simulate.ts'
import { planSql } from '../src/workload/sql/workload.ts'
import { readOptions } from './arguments.ts'

const REPORT = join(resolve(import.meta.dirname, '..'), 'bench/contended-sql.md')
const LEVELS = ['rc', 'ra', 'cc', 'pc', 'si', 'ser', 'ser+rc', 'si+rc', 'mixed']
const LAYOUTS = ['times', 'commits', 'sessions'] as const

const flags = readOptions<Record<'seeds' | 'seed' | 'budget' | 'only' | 'levels', string>>(
  'npm run bench:contended --',
  'measures contended SQL, and writes bench/contended-sql.md',
  [
    ['--seeds <n>', 'histories of each kind', '10'],
    ['--seed <n>', 'the first seed', '1'],
    ['--budget <seconds>', 'when to give up', '60'],
    ['--only <layout>', `only this layout: ${LAYOUTS.join(', ')}`, ''],
    ['--levels <name>', 'only stores at these levels, which changes no report', ''],
  ],
)

interface Outcome {
  readonly seconds: number
  readonly verdict: string
}

function historyOf(levels: string, seed: number, layout: (typeof LAYOUTS)[number]): History {
  const plan = planSql({ shape: 'sql', sessions: 20, transactions: 1000, keys: 6, levels, seed })
  const execution = simulateSql(plan, { seed })
  if (layout !== 'sessions') return layOutSql(execution, 'commit', layout === 'times').history
  return layOutSql(withSessionsShuffled(execution, seed), 'session', false).history
}

/** The same with sessions numbered anew. */
function withSessionsShuffled(execution: SqlExecution, seed: number): SqlExecution {
  const random = new Random(seed)
  const numbers = Int32Array.from({ length: execution.sessionCount }, (_, i) => i)
  for (let i = numbers.length - 1; i > 0; i--) {
    const j = random.below(i + 1)
    const number = numbers[i]!
    numbers[i] = numbers[j]!
    numbers[j] = number
  }
  const { txns, txnSession } = execution
  return {
    ...execution,
    txnSession: txnSession.map((session) => numbers[session]!),
    txns: txns.map((txn) => ({ ...txn, session: numbers[txn.session]! })),
  }
}

function judge(history: History): Outcome {
  const before = process.cpuUsage()
  const [result] = checkMixed(history, ['mixed'], { budgetMs: 1000 * Number(flags.budget) })
  const { user, system } = process.cpuUsage(before)
  return { seconds: (user + system) / 1e6, verdict: result!.verdict }
}

function measure(layout: (typeof LAYOUTS)[number]): string[] {
  const lines = ['| levels | decided | median s | greatest s |', '|---|---|---|---|']
  for (const levels of LEVELS) {
    if (flags.levels !== '' && flags.levels !== levels) continue
    const outcomes = Array.from({ length: Number(flags.seeds) }, (_, i) => {
      const seed = Number(flags.seed) + i
      const outcome = judge(historyOf(levels, seed, layout))
      const { verdict, seconds } = outcome
      process.stderr.write(
        `${layout} ${levels} seed ${seed}: ${verdict}, ${seconds.toFixed(2)} s\n`,
      )
      if (verdict === 'violated') throw new Error('the store keeps the levels it promises')
      return outcome
    })
    const decided = outcomes.filter(({ verdict }) => verdict !== 'unknown')
    const seconds = decided.map((outcome) => outcome.seconds).sort((a, b) => a - b)
    const [median, greatest] = [seconds[seconds.length >> 1], seconds.at(-1)]
    const cells = [median, greatest].map((time) => time?.toFixed(2) ?? '')
    const share = `${decided.length} of ${outcomes.length}`
    lines.push(`| ${levels} | ${share} | ${cells.join(' | ')} |`)
  }
  return lines
}

const TITLES: Readonly<Record<(typeof LAYOUTS)[number], string>> = {
  times: 'In the order of commits, with times',
  commits: 'In the order of commits, without times',
  sessions: 'Session by session, without times',
}

/** A report keeps the layouts that were not measured this time. */
function writeReport(made: ReadonlyMap<string, string>): void {
  const old = existsSync(REPORT) ? readFileSync(REPORT, 'utf8') : ''
  const known = new Map(
    old
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split('\n')[0]!, section.slice(section.indexOf('\n') + 1).trim()]),
  )
  const head = `# Contended SQL: what was decided\n\nNode ${process.version}, ${cpus()[0]?.model.trim()}. 20 sessions of 50 transactions on 6 rows of the simulated store, each judged at the level at\nwhich it ran, within ${flags.budget} s; seconds are of the processor. Make it again with \`npm run bench:contended\`.\n`
  const sections = LAYOUTS.flatMap((layout) => {
    const title = TITLES[layout]
    const text = made.get(title) ?? known.get(title)
    return text === undefined ? [] : [`## ${title}\n\n${text}\n`]
  })
  writeFileSync(REPORT, `${head}\n${sections.join('\n')}`)
}

const made = new Map<string, string>()
for (const layout of LAYOUTS) {
  if (flags.only !== '' && flags.only !== layout) continue
  made.set(TITLES[layout], measure(layout).join('\n'))
  if (flags.levels === '') writeReport(made)
}
