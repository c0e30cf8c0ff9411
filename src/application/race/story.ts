// A race in words: a run as a numbered list of who asked for what, and what came back, how much was
// run, and what helps. Main functions: tellRace for a page, the others for lines of text.

import { cut, inert } from '../../base/inert.ts'
import { alignRows } from '../../report/align.ts'
import type { ToldCure, ToldSchedule, ToldTurn } from '../../report/page/schedule.ts'
import type { Turn } from './play.ts'
import type { Coverage, Cure, RaceRun } from './race-run.ts'

const MAX_STATEMENT = 100
const MAX_ANSWER = 90
const MAX_LINE = 200

/** For the page of a report. */
export function tellRace(
  run: RaceRun,
  runs: readonly RaceRun[],
  coverage: Coverage,
  cures: readonly Cure[],
): ToldSchedule {
  return {
    coverage: tellCoverage(coverage),
    turns: tellTurns(run.turns),
    notes: [...tellEnds(run), ...tellGaps(runs)],
    cures: helpfulFirst(cures).map(tellCure),
  }
}

export function tellRun(run: RaceRun): string[] {
  const rows = tellTurns(run.turns).map(({ actor, statement, answer }, i) => [
    `${i + 1}.`.padStart(4),
    actor,
    `${statement}  ->  ${answer}`,
  ])
  const ends = tellEnds(run).map((end) => `      ${end}`)
  return [...(rows.length === 0 ? [] : alignRows(rows)), ...ends]
}

function tellTurns(turns: readonly Turn[]): ToldTurn[] {
  const numbers = new Map(turns.map((turn, i) => [turn, i + 1]))
  return turns.map((turn) => ({
    actor: inert(turn.actor),
    statement: tellStatement(turn),
    answer: tellAnswer(turn, turns, numbers),
  }))
}

function tellEnds({ errors }: RaceRun): string[] {
  return [...errors].map(
    ([actor, error]) => `${inert(actor)} ended with: ${inert(cut(messageOf(error), MAX_ANSWER))}`,
  )
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
    ...[...gaps].map((gap) => inert(cut(`not recorded: ${gap}${wayOut(gap)}`, MAX_LINE))),
    ...[...warnings].map((warning) => inert(cut(`warning: ${warning}`, MAX_LINE))),
  ]
}

/** What to do about a table that cannot be recorded. */
const WAYS_OUT: readonly [what: RegExp, hint: string][] = [
  [/: it has no primary key$/, 'give it one, if only in tests'],
  [/: it is a view$/, 'ask the tables behind it'],
  [/: it is partitioned$/, 'take a plain table in tests'],
]

function wayOut(gap: string): string {
  const found = WAYS_OUT.find(([what]) => what.test(gap))
  return found === undefined ? '' : ` (${found[1]})`
}

/** What was tried against it, what helps first. */
export function tellCures(cures: readonly Cure[]): string[] {
  if (cures.length === 0) return []
  const lines = helpfulFirst(cures)
    .map(tellCure)
    .map(({ name, helps, facts }) => `  ${helps ? 'yes' : 'no '}  ${name}: ${facts}`)
  return ['', 'What helps, tried on the same actors:', ...lines]
}

function helpfulFirst(cures: readonly Cure[]): Cure[] {
  return [...cures].sort((a, b) => Number(b.isConfirmed) - Number(a.isConfirmed))
}

function tellCure(cure: Cure): ToldCure {
  const name = inert(cut(cure.name, MAX_STATEMENT))
  return { name, helps: cure.isConfirmed, facts: tellCost(cure) }
}

function tellCost(cure: Cure): string {
  const { isConfirmed, coverage, retriesPerRun, waitsPerRun, refusalsPerRun } = cure
  if (!isConfirmed) return 'not satisfied'
  const count = `${coverage.schedules} schedules`
  const covered = coverage.isComplete ? `all ${count} that matter` : `${count} of more`
  const costs = [
    ...(retriesPerRun > 0 ? [`${retriesPerRun.toFixed(1)} retries a run`] : []),
    ...(refusalsPerRun > 0 ? [`${refusalsPerRun.toFixed(1)} refusals a run`] : []),
    ...(waitsPerRun > 0 ? [`${waitsPerRun.toFixed(1)} statements wait in a run`] : []),
  ]
  return [`satisfied by ${covered}`, ...costs].join(', ')
}

export function tellCoverage({ runs, schedules, isComplete, limit }: Coverage): string {
  const count = schedules === 1 ? '1 schedule' : `${schedules} schedules`
  const ran = runs === schedules ? '' : `, ${runs} runs`
  if (isComplete) return `${schedules} of ${count} that matter${schedules === 1 ? 's' : ''}${ran}`
  return `${count}${ran}; there may be more: ${limit}`
}

function tellValue(value: unknown): string {
  if (value === null || value === undefined) return 'NULL'
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
