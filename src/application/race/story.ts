// A run as a numbered list: who asked for what, and what came back. Main functions: tellRun,
// tellCoverage.

import { cut, inert } from '../../base/inert.ts'
import { alignRows } from '../../report/align.ts'
import type { Cure } from './cures.ts'
import type { Turn } from './play.ts'
import type { Coverage, RaceRun } from './race-result.ts'

const MAX_STATEMENT = 100
const MAX_ANSWER = 90
const MAX_LINE = 200

export function tellRun({ turns, errors }: RaceRun): string[] {
  const numbers = new Map(turns.map((turn, i) => [turn, i + 1]))
  const rows = turns.map((turn, i) => [
    `${i + 1}.`.padStart(4),
    inert(turn.actor),
    `${tellStatement(turn)}  ->  ${tellAnswer(turn, turns, numbers)}`,
  ])
  const ends = [...errors].map(
    ([actor, error]) =>
      `      ${inert(actor)} ended with: ${inert(cut(messageOf(error), MAX_ANSWER))}`,
  )
  return [...(rows.length === 0 ? [] : alignRows(rows)), ...ends]
}

function tellStatement({ step }: Turn): string {
  const text = step.text.replace(/\s+/g, ' ').trim()
  const values = step.values.length === 0 ? '' : ` [${step.values.map(tellValue).join(', ')}]`
  return inert(cut(`${text}${values}`, MAX_STATEMENT))
}

function tellAnswer(
  turn: Turn,
  turns: readonly Turn[],
  numbers: ReadonlyMap<Turn, number>,
): string {
  const { step } = turn
  const by = turns.find(({ woke }) => woke.includes(turn))
  const waited = !turn.waited
    ? ''
    : by === undefined
      ? 'waited, then '
      : `waited for ${numbers.get(by)}, then `
  const answer =
    step.error === undefined ? (step.returned ?? 'done') : `refused: ${messageOf(step.error)}`
  return inert(cut(`${waited}${answer || 'done'}`, MAX_ANSWER))
}

/** What could not be recorded, and what looks like a mistake, each once. */
export function tellGaps(runs: readonly RaceRun[]): string[] {
  const gaps = new Set(runs.flatMap(({ unrecorded }) => unrecorded))
  const warnings = new Set(runs.flatMap((run) => run.warnings))
  return [
    ...[...gaps].map((gap) => inert(cut(`not recorded: ${gap}`, MAX_LINE))),
    ...[...warnings].map((warning) => inert(cut(`warning: ${warning}`, MAX_LINE))),
  ]
}

/** What was tried against it, what helps first. */
export function tellCures(cures: readonly Cure[]): string[] {
  if (cures.length === 0) return []
  const sorted = [...cures].sort((a, b) => Number(b.isConfirmed) - Number(a.isConfirmed))
  return ['', 'What helps, tried on the same actors:', ...sorted.map(tellCure)]
}

function tellCure({ name, isConfirmed, coverage, retriesPerRun, waitsPerRun }: Cure): string {
  const what = inert(cut(name, MAX_STATEMENT))
  if (!isConfirmed) return `  no   ${what}: not satisfied`
  const count = `${coverage.schedules} schedules`
  const covered = coverage.isComplete ? `all ${count} that matter` : `${count} of more`
  const costs = [
    ...(retriesPerRun > 0 ? [`${retriesPerRun.toFixed(1)} retries a run`] : []),
    ...(waitsPerRun > 0 ? [`${waitsPerRun.toFixed(1)} statements wait in a run`] : []),
  ]
  return `  yes  ${what}: ${[`satisfied by ${covered}`, ...costs].join(', ')}`
}

export function tellCoverage({ runs, schedules, isComplete, limit }: Coverage): string {
  const count = schedules === 1 ? '1 schedule' : `${schedules} schedules`
  const ran = runs === schedules ? '' : `, ${runs} runs`
  if (isComplete) return `${schedules} of ${count} that matter${ran}`
  return `${count}${ran}; there may be more: ${limit}`
}

function tellValue(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
