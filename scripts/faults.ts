// Writes docs/faults.md: what every fault does, and under which names it is found at every level,
// measured by injecting it: node --import tsx scripts/faults.ts && npm run format. What takes long
// is measured by large-faults.ts.

import { writeFileSync } from 'node:fs'
import { checkLevels } from '../src/check/check.ts'
import { renderNotation } from '../src/history/render-notation.ts'
import { ANOMALIES, type AnomalyName } from '../src/levels/anomalies.ts'
import { type LevelId, PROFILE } from '../src/levels/levels.ts'
import { generate } from '../src/pipeline/generate.ts'
import { FAULTS, type Fault, forbids } from '../src/sim/faults.ts'
import type { WorkloadRequest } from '../src/workload/parameters.ts'
import { detectTogether, namedTable, SHAPE_NAMES, type ShapeName, STRIKES } from './large-faults.ts'
import { renderSqlFaults } from './sql-faults.ts'

/** Those of a profile. */
const LEVELS = PROFILE

/** Histories for each fault and shape. */
const SEEDS = 5

export const SHAPES: Record<ShapeName, WorkloadRequest> = {
  general: { shape: 'general', sessions: 6, transactions: 100, ops: 5, reads: 0.7, keys: 30 },
  mini: { shape: 'mini', sessions: 6, transactions: 100, keys: 30, distribution: 'uniform' },
  append: { shape: 'append', sessions: 6, transactions: 100, ops: 4, keys: 5 },
}

/** One history with one strike, judged at one level. */
export interface Detection {
  readonly fault: Fault
  readonly shape: ShapeName
  readonly seed: number
  readonly level: LevelId
  readonly forbidden: boolean
  readonly verdict: string
  readonly names: readonly AnomalyName[]
}

/** Injects the fault once into histories of a store that is otherwise strictly serializable. */
export function detect(fault: Fault): Detection[] {
  const found: Detection[] = []
  for (const shape of SHAPE_NAMES) {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const store = { level: 'sser' as const, faults: [{ fault, count: 1 }] }
      const { history } = generate({ seed, workload: SHAPES[shape], store })
      for (const { level, verdict, anomalies } of checkLevels(history, LEVELS)) {
        const names = [...new Set(anomalies.map(({ name }) => name))]
        const forbidden = forbids(level, fault, shape === 'append')
        found.push({ fault, shape, seed, level, forbidden, verdict, names })
      }
    }
  }
  return found
}

/** Transactions of the history with all faults together whose names are counted. */
const TOGETHER = 1000

function togetherTable(found: readonly ReadonlyMap<string, number>[]): string {
  const names = ANOMALIES.map(({ name }) => name)
  return [
    `| name | ${SHAPE_NAMES.join(' | ')} |`,
    `|---|${SHAPE_NAMES.map(() => '---:').join('|')}|`,
    ...names
      .filter((name) => found.some((counts) => counts.has(name)))
      .map((name) => `| ${name} | ${found.map((counts) => counts.get(name) ?? '').join(' | ')} |`),
  ].join('\n')
}

/** The document, as it should be. */
export function renderFaults(): string {
  const examples = FAULTS.map(renderExample).join('')
  return `# Faults

\`isobar generate --inject lost-update:3,long-fork\` has a simulated store misbehave. For each
strike a few transactions of the workload give way to others that show the fault, with planned
operations around it; the command prints which transactions and keys they are. Every level with a ✓
still holds: a fault breaks what its name says and nothing else. The levels are those of a profile.

${table(FAULTS, 'general')}

On lists (\`--shape append\`) a read tells more, and two faults break weaker levels too:

${table(
  FAULTS.filter((fault) => fault.onLists),
  'append',
)}

\`stale-read\` and \`real-time-violation\` show only in start and finish times, so they need a format
that holds them.

## Detection

How each fault is found and named, measured: one strike in a store that is otherwise strictly
serializable, ${SEEDS} histories of ${SHAPES.general.transactions} transactions for each fault and shape (registers:
\`general\` and \`mini\`; lists: \`append\`). ✓ says that the level holds in all of them, as it should;
otherwise it was found violated in all of them, under these names. A verdict names several anomalies
where one strike shows in several ways; where the names differ from history to history, all of them
are listed.

What is counted: at \`rc\`, \`ra\` and \`cc\` reads. A read that misses something counts once, at the weakest level that forbids it; if it
misses several versions, it is named by the one that tells most (FracturedRead before SessionGuaranteeViolation at \`ra\`,
SessionGuaranteeViolation before CausalityViolation at \`cc\`). Where only several reads together contradict each other (names in CM), each
read counts that forces an order inside the knot, a strongly connected part of all that is known and forced at the level; a knot
with a read that is told already counts not at all. None of that depends on the order in which transactions or sessions are
told, which the tests see to by telling them in another order. After a circle in session order and reads-from, what
is left without one of its transactions is counted, and which of them that is may differ.

${detectionTable(FAULTS.map(detect))}

## All at once

All ${FAULTS.length} faults, ${STRIKES} strikes each, in one history of ${TOGETHER.toLocaleString('en')} transactions: what \`sser\`, the strongest level, finds, and
how often. Counts of lost updates, long forks, write skews and stale reads are
of those that share no transaction. A stale read is also what \`lost-write\` and \`duplicate-delivery\` leave behind.

${togetherTable(SHAPE_NAMES.map((shape) => detectTogether(shape, FAULTS, TOGETHER).at(-1)!.counts))}

## None hides another

How many of the ${FAULTS.length} faults are named at every level that forbids them, ${STRIKES} strikes each in a store that is otherwise strictly
serializable: each fault alone in a history of its own, and all of them together in one. Transactions of \`general\` have 20 operations, and 5 where
there are 1,000,000 of them.

${namedTable()}

Measured with \`node --import tsx scripts/large-faults.ts 1000000 alone mini\` and its like, and kept in \`bench/faults.json\`. Two parts are older than
the code: \`general\` alone at 100,000, and there the first four faults of \`mini\`, were measured at all ten levels before searches were cut short where only single
reads are at fault.

${renderSqlFaults()}
## Examples

One strike each, on registers, in a store that is otherwise strictly serializable.
${examples}`
}

function table(faults: readonly Fault[], shape: ShapeName): string {
  const rows = faults.map((fault) => {
    const cells = LEVELS.map((level) => (forbids(level, fault, shape === 'append') ? '✗' : '✓'))
    return `| \`${fault.name}\` | ${fault.meaning} | ${cells.join(' | ')} |`
  })
  return [
    `| fault | what happens | ${LEVELS.join(' | ')} |`,
    `|---|---|${LEVELS.map(() => ':-:').join('|')}|`,
    ...rows,
  ].join('\n')
}

/** A row for each run of levels at which a fault is found in the same way. */
function detectionTable(measured: readonly Detection[][]): string {
  const rows = ['| fault | levels | on registers | on lists |', '|---|---|---|---|']
  for (const found of measured) {
    const runs: { levels: LevelId[]; cells: string }[] = []
    for (const level of LEVELS) {
      const here = found.filter((detection) => detection.level === level)
      const registers = describe(here.filter(({ shape }) => shape !== 'append'))
      const cells = `${registers} | ${describe(here.filter(({ shape }) => shape === 'append'))}`
      const last = runs.at(-1)
      if (last?.cells === cells) last.levels.push(level)
      else runs.push({ levels: [level], cells })
    }
    runs.forEach(({ levels, cells }, i) => {
      const fault = i === 0 ? `\`${found[0]!.fault.name}\`` : ''
      rows.push(`| ${fault} | ${levels.join(' ')} | ${cells} |`)
    })
  }
  return rows.join('\n')
}

function describe(detections: readonly Detection[]): string {
  const wrong = detections.find(
    ({ forbidden, verdict }) => verdict !== (forbidden ? 'violated' : 'satisfied'),
  )
  if (wrong) throw new Error(`${wrong.fault.name}, seed ${wrong.seed}: ${wrong.level}`)
  const found = new Set<string>(detections.flatMap(({ names }) => names))
  const names = ANOMALIES.map(({ name }) => name).filter((name) => found.has(name))
  return names.join(', ') || '✓'
}

function renderExample(fault: Fault): string {
  const sessions = fault.sessions.length
  const transactions = sessions * Math.max(...fault.sessions.map((roles) => roles.length))
  const { history } = generate({
    seed: 1,
    workload: { shape: 'mini', sessions, transactions, keys: 4, distribution: 'uniform' },
    store: { level: 'sser', faults: [{ fault, count: 1 }] },
  })
  return `\n### ${fault.name}\n\n\`\`\`\n${renderNotation(history)}\`\`\`\n`
}

if (process.argv[1]?.endsWith('/faults.ts')) {
  writeFileSync(new URL('../docs/faults.md', import.meta.url), renderFaults())
}
