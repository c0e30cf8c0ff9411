// A sweep: the same run at several values of one or two numbers, and what came of each, for a
// table, a spreadsheet and a chart. Main functions: parseSweeps, pointsOf, tabulate.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { RunSummary } from './run-summary.ts'

export interface Sweep {
  readonly name: string
  readonly values: readonly number[]
}

/** What a run of the sweep is asked for: option -> value. */
export type Point = ReadonlyMap<string, number>

/**
 * `sessions=2,4,8`, at most two of them. Throws UsageError.
 * @param names the options of a run that are numbers
 */
export function parseSweeps(texts: readonly string[], names: readonly string[]): Sweep[] {
  const sweeps = texts.map((text) => parseSweep(text, names))
  if (sweeps.length > 2) throw new UsageError('at most two options can be swept at once')
  if (new Set(sweeps.map(({ name }) => name)).size < sweeps.length) {
    throw new UsageError(`${sweeps[0]!.name} is swept twice`)
  }
  return sweeps
}

function parseSweep(text: string, names: readonly string[]): Sweep {
  const [, name = '', list = ''] = /^(?:--)?([\w-]+)=(.*)$/.exec(text) ?? []
  if (name === '') {
    const hint = 'write it as --sweep sessions=2,4,8,16'
    throw new UsageError(`cannot understand the sweep "${text}"`, hint)
  }
  if (!names.includes(name)) {
    throw new UsageError(`${name} cannot be swept`, hintFor(name, names))
  }
  const values = list.split(',').map((part) => {
    const value = Number(part)
    if (part.trim() !== '' && Number.isFinite(value) && value >= 0) return value
    throw new UsageError(`--sweep ${name}: "${part}" is no number`)
  })
  if (new Set(values).size < values.length) {
    throw new UsageError(`--sweep ${name} has a value twice`)
  }
  return { name, values }
}

/** Every combination, the last option fastest. */
export function pointsOf(sweeps: readonly Sweep[]): Point[] {
  let points: Point[] = [new Map()]
  for (const { name, values } of sweeps) {
    points = points.flatMap((point) => values.map((value) => new Map([...point, [name, value]])))
  }
  return points
}

export interface Measure {
  /** In a table and a spreadsheet. */
  readonly column: string
  /** In a chart. */
  readonly title: string
  readonly digits: number
  readonly of: (summary: RunSummary) => number
}

/** What is measured of each run. */
export const MEASURES: readonly Measure[] = [
  {
    column: 'commits_per_second',
    title: 'throughput, commits a second',
    digits: 0,
    of: ({ throughput }) => throughput.commitsPerSecond,
  },
  {
    column: 'aborted_percent',
    title: 'aborted, % of the transactions',
    digits: 1,
    of: ({ abortRate }) => 100 * abortRate,
  },
  {
    column: 'generation_seconds',
    title: 'generation, s (planning, running, recording)',
    digits: 2,
    of: ({ time }) => (time.planMs + time.runMs) / 1000,
  },
  {
    column: 'verification_seconds',
    title: 'verification, s (reading, judging)',
    digits: 2,
    of: ({ time }) => (time.parseMs + time.checkMs) / 1000,
  },
  {
    column: 'memory_mb',
    title: 'memory at most, MB',
    digits: 0,
    of: ({ memory }) => memory.peakBytes / 1e6,
  },
]

/** A run of a sweep, as it went. */
export interface Measured {
  readonly point: Point
  readonly summary: RunSummary
}

/** The table: a heading, and a row for each run. */
export function tabulate(sweeps: readonly Sweep[], runs: readonly Measured[]): string[][] {
  const names = sweeps.map(({ name }) => name)
  const heading = [...names, 'transactions', ...MEASURES.map(({ column }) => column), 'verdicts']
  // What is swept has a column already.
  const at = names.includes('transactions') ? names.length : -1
  const rows = runs.map(({ point, summary }) => [
    ...names.map((name) => String(point.get(name)!)),
    String(summary.transactions.recorded),
    ...MEASURES.map(({ of, digits }) => of(summary).toFixed(digits)),
    Object.entries(summary.verdicts)
      .map(([level, verdict]) => `${level} ${verdict}`)
      .join('; '),
  ])
  return [heading, ...rows].map((row) => row.filter((_, i) => i !== at))
}
