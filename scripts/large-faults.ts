// Whether every fault is named at every level that forbids it, alone and beside all others, in
// histories of any size. What was measured is kept in bench/faults.json, fault by fault, so that
// large ones can be measured in parts; docs/faults.md has the table.
//
//   node --import tsx scripts/large-faults.ts 1000000 alone mini
//
// leaves out what is there already; faults.ts makes the document. Main functions: measure,
// namedTable.

import { readFileSync, writeFileSync } from 'node:fs'
import { checkLevels } from '../src/check/check.ts'
import { type LevelId, PROFILE } from '../src/levels/levels.ts'
import { generate } from '../src/pipeline/generate.ts'
import { FAULTS, type Fault, forbids } from '../src/sim/faults.ts'
import { rightNames } from './fault-names.ts'

export const SHAPE_NAMES = ['general', 'mini', 'append'] as const
export type ShapeName = (typeof SHAPE_NAMES)[number]

/** How often each fault strikes. */
export const STRIKES = 5

/** Transactions of the histories that are measured. */
const SIZES = [1_000, 100_000, 1_000_000] as const

/** Operations of a transaction of `general`, where they are not as many as usual. */
const FEW_OPS = { from: 1_000_000, ops: 5 }

/** What one run is of: all faults together, or one by itself. */
const TOGETHER = 'together'

/** Faults and levels at which they were not named: `1000000 mini`, then what was injected. */
type Measured = Record<string, Record<string, readonly string[]>>

const FILE = new URL('../bench/faults.json', import.meta.url)

/** Faults in one history, judged at levels. */
export function detectTogether(
  shape: ShapeName,
  injected: readonly Fault[],
  transactions: number,
  levels: readonly LevelId[] = PROFILE,
) {
  const faults = injected.map((fault) => ({ fault, count: STRIKES }))
  const isLarge = shape === 'general' && transactions >= FEW_OPS.from
  const workload = { shape, transactions, ...(isLarge ? { ops: FEW_OPS.ops } : {}) }
  const { history } = generate({ seed: 3, workload, store: { level: 'sser', faults } })
  return checkLevels(history, levels).map(({ level, anomalies }) => ({
    level,
    counts: new Map<string, number>(anomalies.map(({ name, count }) => [name, count])),
    forbidden: injected.filter((fault) => forbids(level, fault, shape === 'append')),
  }))
}

/** Faults that a level forbids and that none of the names tells of. */
export function unnamed(
  shape: ShapeName,
  counts: ReadonlyMap<string, number>,
  forbidden: readonly Fault[],
): string[] {
  const isNamed = (fault: Fault) =>
    rightNames(fault, shape === 'append').some((name) => counts.has(name))
  return forbidden.filter((fault) => !isNamed(fault)).map(({ name }) => name)
}

function readMeasured(): Measured {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/** Measures what is not there yet, and writes each down as soon as it is. */
function measure(transactions: number, isAlone: boolean, shapes: readonly ShapeName[]): void {
  for (const shape of shapes) {
    const run = `${transactions} ${shape}`
    const all = isAlone ? FAULTS.map((fault) => [fault]) : [FAULTS]
    for (const injected of all) {
      const what = isAlone ? injected[0]!.name : TOGETHER
      if (readMeasured()[run]?.[what]) continue
      const onLists = shape === 'append'
      const levels = PROFILE.filter((level) => injected.some((f) => forbids(level, f, onLists)))
      const missing = detectTogether(shape, injected, transactions, levels).flatMap(
        ({ level, counts, forbidden }) =>
          unnamed(shape, counts, forbidden).map((fault) => `${fault} at ${level}`),
      )
      const known = readMeasured()
      known[run] = { ...known[run], [what]: missing }
      writeFileSync(FILE, `${JSON.stringify(known, null, 2)}\n`)
      process.stdout.write(`${run} ${what}: ${missing.join(', ') || 'named'}\n`)
    }
  }
}

/** How many faults are named at every level that forbids them, by size and shape. */
export function namedTable(): string {
  const measured = readMeasured()
  const rows = SIZES.flatMap((size) =>
    ['alone', TOGETHER].map((how) => {
      const cells = SHAPE_NAMES.map((shape) => {
        const runs = measured[`${size} ${shape}`] ?? {}
        return how === 'alone' ? tellAlone(runs) : tellTogether(runs[TOGETHER])
      })
      return `| ${size.toLocaleString('en')} | ${how} | ${cells.join(' | ')} |`
    }),
  )
  return [
    `| transactions | | ${SHAPE_NAMES.join(' | ')} |`,
    `|---:|---|${SHAPE_NAMES.map(() => '---').join('|')}|`,
    ...rows,
  ].join('\n')
}

function tellAlone(runs: Readonly<Record<string, readonly string[]>>): string {
  const found = FAULTS.map(({ name }) => runs[name]).filter((missing) => missing !== undefined)
  const named = found.filter((missing) => missing.length === 0).length
  if (found.length === 0) return 'not measured'
  const isAll = found.length === FAULTS.length
  return tell(named, isAll ? '' : `, ${found.length} measured`, found.flat())
}

function tellTogether(missing: readonly string[] | undefined): string {
  if (!missing) return 'not measured'
  const unnamedFaults = new Set(missing.map((text) => text.split(' ')[0]))
  return tell(FAULTS.length - unnamedFaults.size, '', missing)
}

function tell(named: number, note: string, missing: readonly string[]): string {
  const not = missing.length > 0 ? `; not ${missing.join(', ')}` : ''
  return `${named} of ${FAULTS.length}${note}${not}`
}

if (process.argv[1]?.endsWith('/large-faults.ts')) {
  const [transactions, how, ...shapes] = process.argv.slice(2)
  const asked = SHAPE_NAMES.filter((shape) => shapes.length === 0 || shapes.includes(shape))
  measure(Number(transactions), how === 'alone', asked)
}
