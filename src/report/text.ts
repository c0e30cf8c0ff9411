// The verdict for a person at a terminal: a line a level, then each anomaly as a story in plain
// words with its transactions in notation beneath. Colours come as functions, so that this file
// stays pure. Main function: renderText.

import { Deadline } from '../base/deadline.ts'
import { addAll } from '../base/grow.ts'
import { cut as cutTo, sentence } from '../base/inert.ts'
import type { History } from '../history/history.ts'
import { renderNotation } from '../history/render-notation.ts'
import { assume } from '../history/writers.ts'
import { findAnomaly } from '../levels/anomalies.ts'
import { type LevelId, levelName } from '../levels/levels.ts'
import { adyaNames } from '../verdict/adya.ts'
import {
  type Anomaly,
  type Case,
  type Edge,
  type LevelResult,
  storyOf,
} from '../verdict/verdict.ts'
import { countWords } from './count-words.ts'
import { describeTxn } from './describe-txn.ts'
import { drawLattice } from './lattice.ts'
import { cut, nameOf } from './names.ts'
import { haveSameOrders, scopeOf } from './scope.ts'
import { describeTables } from './sql-json.ts'
import { nameAll, summarise } from './summary.ts'
import { timeToTell } from './told.ts'
import { tellTxns } from './txn-text.ts'
import { tellWitness } from './witness.ts'
import { because, headCase, sourceWords, tellOffence } from './words.ts'

type Paint = (text: string) => string
export type Colours = Record<'good' | 'bad' | 'unsure' | 'strong' | 'faint', Paint>

const same: Paint = (text) => text
const NO_COLOURS: Colours = { good: same, bad: same, unsure: same, strong: same, faint: same }

export interface TextOptions {
  colours?: Colours
  /** What was checked, for the heading. */
  title?: string
  /** Tell everything that a satisfied verdict rests on, and what is counted but not listed. */
  all?: boolean
  /** When it runs out, only one anomaly of each kind is told of every level that is left. */
  deadline?: Deadline
}

const SHORT_ID = 5 // letters of a level, at least
const MAX_NOTATION_TXNS = 40
const MAX_TOLD_CASES = 12 // cases whose cycles are told edge by edge
const MAX_CASES = 240 // a story for people: what is longer is for machines
const MAX_LINE = 4000 // characters of a session or statement
const MAX_INDENT = 20 // reasons of reasons that are set further in

export function renderText(
  history: History,
  results: readonly LevelResult[],
  options: TextOptions = {},
): string {
  return [...tellText(history, results, options)].join('')
}

/** The text in pieces, an anomaly each. */
export function* tellText(
  history: History,
  results: readonly LevelResult[],
  options: TextOptions = {},
): Generator<string> {
  const colours = options.colours ?? NO_COLOURS
  const lines: string[] = []
  if (options.title) lines.push(colours.strong(options.title))
  for (const warning of history.warnings)
    lines.push(`  ${colours.unsure('warning:')} ${sentence(warning)}`)
  // It satisfies every level, but whoever reads "satisfied" takes it for a test that was passed.
  if (history.txnCount === 0) {
    yield `${[...lines, '  the history is empty: there is nothing to judge'].join('\n')}\n`
    return
  }
  const width = Math.max(...results.map(({ level }) => level.length), SHORT_ID)
  const witnesses = new Set<string>() // levels that hold alike are explained alike, once
  for (const result of results) {
    lines.push(renderVerdict(result, width, colours))
    const witness = tellWitness(history, result, options.all === true)
    if (witnesses.has(witness.join('\n'))) continue
    witnesses.add(witness.join('\n'))
    for (const line of witness) lines.push(`    ${line}`)
  }
  lines.push(...tellSummary(results).map((line) => `  ${line}`))
  const lattice = drawLattice(results)
  if (lattice !== null) lines.push(`  weaker < stronger: ${lattice}`)
  yield `${lines.join('\n')}\n`
  const told = new Map<string, string>() // story -> name of the anomaly it was told for
  for (const result of results) yield* tellAnomalies(history, result, told, options)
}

/** Nothing of one level, or of levels under different orders. */
function tellSummary(results: readonly LevelResult[]): string[] {
  if (results.length < 2 || !haveSameOrders(results)) return []
  const { strongest, weakestViolated } = summarise(results)
  const named = (level: LevelId) => `${level} (${levelName(level)})`
  const isNone = results.every(({ verdict }) => verdict !== 'satisfied')
  const lines: string[] = []
  if (strongest.length > 0 || isNone) {
    lines.push(`strongest satisfied: ${isNone ? 'none' : nameAll(strongest, named)}`)
  }
  if (weakestViolated.length > 0) lines.push(`weakest violated: ${nameAll(weakestViolated, named)}`)
  return lines
}

/** @param told stories told already, with the names they were told for */
export function* tellAnomalies(
  history: History,
  result: LevelResult,
  told: Map<string, string>,
  { colours = NO_COLOURS, all = false, deadline = Deadline.none() }: TextOptions,
): Generator<string> {
  const isTold = timeToTell(deadline)
  let left = 0
  let cases = 0 // of writers, so far
  for (const anomaly of result.anomalies) {
    if (anomaly.given && cases++ >= MAX_TOLD_CASES && !all) continue
    if (!isTold(anomaly)) {
      left += anomaly.count
      continue
    }
    const story = storyOf(anomaly)
    const known = told.get(story)
    if (known === anomaly.name) continue
    if (known === undefined) told.set(story, anomaly.name)
    const lines = renderAnomaly(history, result, anomaly, colours)
    if (known !== undefined) {
      lines.splice(2, lines.length, `  Shown by the same cycle as ${known} above.`)
    }
    if (all && anomaly.count > 1) {
      const left = `${anomaly.count - 1} more of ${anomaly.name}`
      lines.push('', `… and ${left}, counted but not listed; --limit lists more`)
    }
    yield `\n${lines.join('\n')}\n`
  }
  if (cases > MAX_TOLD_CASES && !all) {
    yield `\n… and ${cases - MAX_TOLD_CASES} more cases at ${result.level}; --all tells them\n`
  }
  if (left > 0) yield `\n… and ${left} more at ${result.level} that there is no budget to tell of\n`
}

function renderVerdict(result: LevelResult, width: number, colours: Colours): string {
  const { good, bad, unsure } = colours
  const paint = { satisfied: good, violated: bad, unknown: unsure }[result.verdict]
  const names = result.anomalies.map((anomaly) => anomaly.name)
  const notes: string[] = []
  if (names.length > 0) notes.push([...new Set(names)].join(', '))
  if (result.reason) notes.push(sentence(result.reason))
  if (result.impliedBy) notes.push(`implied by ${result.impliedBy}`)
  const verdict = paint(result.verdict.padEnd(10))
  const line = `  ${result.level.padEnd(width)} ${verdict} ${levelName(result.level)}${scopeOf(result)}`
  return notes.length > 0 ? `${line}: ${notes.join('; ')}` : line
}

/** The story of one anomaly, step by step. */
function renderAnomaly(
  recorded: History,
  result: LevelResult,
  anomaly: Anomaly,
  colours: Colours,
): string[] {
  const { given } = anomaly
  const history = given ? assume(recorded, given) : recorded
  const kind = findAnomaly(anomaly.name)
  const pattern = kind?.tap ? [`pattern ${kind.tap}`] : []
  const names = [...pattern, ...adyaNames(history, anomaly)]
  const codes = names.filter((code) => code !== anomaly.name).join(', ')
  const heading = `${anomaly.name}${codes ? ` (${codes})` : ''}`
  const count = countWords(anomaly, result.level, history.sql !== null)
  const lines = [
    `${colours.bad(heading)} violates ${levelName(result.level)}${scopeOf(result)}${count}`,
  ]
  if (kind) lines.push(`  ${kind.meaning}`)
  if (given && given.length > 0) {
    lines.push(`  If ${given.map((source) => sourceWords(history, source)).join(' and ')}:`)
  }
  if (anomaly.cases.length > 0) addAll(lines, renderCases(history, anomaly.cases))
  else if (anomaly.edges.length > 0) addAll(lines, renderCycle(history, anomaly.edges, '  '))
  else lines.push(`  ${tellOffence(history, anomaly)}.`)
  const all = [...anomaly.txns, ...anomaly.earlier]
  const note = (what: string, txns: readonly number[]) => {
    const list = txns.map((txn) => nameOf(history, txn)).join(', ')
    if (txns.length > 0) lines.push(`  ${what}: ${list}.`)
  }
  note('Earlier ones, which only show what the others started from', anomaly.earlier)
  const rolledBack = all.filter((txn) => history.sql?.txnRolledBack[txn])
  note('Rolled back, but judged for what it read (--aborted-reads)', rolledBack)
  const shown = all.slice(0, MAX_NOTATION_TXNS)
  const text = history.sql
    ? tellTxns(
        shown.map((txn) => describeTxn(history, txn)),
        describeTables(history, history.sql, shown, []),
      )
    : renderNotation(recorded, shown, { ids: true, maxLength: MAX_LINE }).trimEnd().split('\n')
  lines.push('', ...text.map((line) => colours.faint(`    ${cutTo(line, MAX_LINE)}`)))
  const left = all.length - shown.length
  if (left > 0) lines.push(`    … and ${left} more transactions`)
  return lines
}

function renderCycle(history: History, edges: readonly Edge[], indent: string): string[] {
  const lines: string[] = []
  edges.forEach((edge, i) => {
    const step = `${nameOf(history, edge.from)} → ${nameOf(history, edge.to)}`
    lines.push(`${indent}${i + 1}. ${step}: ${because(history, edge)}.`)
    addAll(lines, renderPremises(history, edge, `${indent}   `))
  })
  lines.push(`${indent}That is a circle: ${circleOf(history, edges)}.`)
  return lines
}

/**
 * Premises that are arguments of their own; plain reads and session order speak for themselves, but
 * not that a row was passed over.
 */
function renderPremises(history: History, edge: Edge, indent: string): string[] {
  const lines: string[] = []
  const pending = untold(edge, 0)
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { premise, depth } = next
    lines.push(`${indent}${'  '.repeat(Math.min(depth, MAX_INDENT))}- ${because(history, premise)}`)
    if (premise.kind === 'SO' || premise.kind === 'WR') continue
    addAll(pending, untold(premise, depth + 1))
  }
  return lines
}

/** Premises that the sentence about the edge does not speak of, last ones first. */
function untold(edge: Edge, depth: number): { premise: Edge; depth: number }[] {
  const left = edge.premises.filter((premise) => {
    const isTold =
      (edge.kind === 'CO' && (premise === edge.premises[0] || edge.premises.length === 2)) ||
      (edge.kind === 'RW' && premise.kind === 'WR')
    return !isTold || premise.event !== undefined
  })
  return left.map((premise) => ({ premise, depth })).reverse()
}

/** Case by case; where there are many, each as its heading and its circle. */
function renderCases(history: History, cases: readonly Case[]): string[] {
  const isLong = cases.length > MAX_TOLD_CASES
  const lines: string[] = []
  for (const step of cases.slice(0, MAX_CASES)) {
    const heading = headCase(history, step)
    if (step.cycle.length === 0) lines.push(`  ${heading}.`)
    else if (isLong) lines.push(`  ${heading}: ${circleOf(history, step.cycle)}.`)
    else lines.push(`  ${heading}:`, ...renderCycle(history, step.cycle, '    '))
  }
  const left = cases.length - MAX_CASES
  if (left > 0) lines.push(`  … and ${left} more, all of them in the JSON.`)
  lines.push('  No case is left.')
  return lines
}

function circleOf(history: History, edges: readonly Edge[]): string {
  const names = edges.map((edge) => nameOf(history, edge.from))
  return cut([...names, names[0]].join(' < '))
}
