// The levels as a lattice: every level of the chain rc → sser with its verdict, in one column with
// those that were judged beside it; then levels that are not of the lattice.

import { CHAIN, implies, LATTICE, LEVELS, type LevelId, levelName } from '../../levels/levels.ts'
import type { ResultJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { escapeMarkup as esc } from '../escape.ts'
import { scopeOf } from '../scope.ts'
import { nameAll } from '../summary.ts'

const SIGNS = { satisfied: '✓', violated: '✗', unknown: '?', absent: '–' }

export function renderLadder(verdict: VerdictJson): string {
  const byLevel = new Map(verdict.results.map((result) => [result.level, result]))
  // Of several verdicts on one level, the one that its name alone stands for.
  for (const result of verdict.results) if (isPlain(result)) byLevel.set(result.level, result)
  const isChainJudged = CHAIN.some((level) => byLevel.has(level))
  const rows = LATTICE.map((row) =>
    row.filter((level) => CHAIN.includes(level) || (isChainJudged && byLevel.has(level))),
  ).filter((row) => row.length > 0)
  const rungs = rows.map((row) => {
    const inside = row.map((level) => renderRung(verdict, level, byLevel.get(level), 'div'))
    return `<li class="row">${inside.join('')}</li>`
  })
  const beside = verdict.results.filter(
    (result) => !rows.flat().includes(result.level) || byLevel.get(result.level) !== result,
  )
  const note = (what: string, levels: readonly LevelId[]) =>
    levels.length > 0 ? [`${what}: <b>${esc(nameAll(levels))}</b>.`] : []
  const notes = [
    ...note('Strongest satisfied', verdict.strongest),
    ...note('Weakest violated', verdict.weakestViolated),
  ]
  return [
    isChainJudged
      ? `<ol class="ladder" aria-label="Levels, weakest first; of two in one place neither implies the other">${rungs.join('')}</ol>`
      : '',
    beside.length > 0
      ? `<ul class="ladder beside" aria-label="Levels beside these">${beside.map((result) => renderRung(verdict, result.level, result, 'li')).join('')}</ul>`
      : '',
    notes.length > 0 ? `<p class="summary">${notes.join(' ')}</p>` : '',
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function renderRung(
  verdict: VerdictJson,
  level: LevelId,
  result: ResultJson | undefined,
  tag: 'li' | 'div',
): string {
  const implied = result ? null : findImplied(verdict, level)
  const outcome = result?.verdict ?? implied?.verdict ?? 'absent'
  const word = outcome === 'absent' ? 'not judged' : outcome
  const instead = implied ? `implied by ${implied.level}` : absence(verdict, level)
  const why = result ? notesOf(result) : instead
  const meaning = LEVELS.find((each) => each.id === level)?.meaning ?? ''
  const name = `<b>${level}</b> <span class="level">${esc(`${levelName(level)}${result ? scopeOf(result) : ''}`)}</span>`
  const sign = `<span class="sign" aria-hidden="true">${SIGNS[outcome]}</span>`
  const more = why ? `<span class="why">${esc(why)}</span>` : ''
  return `<${tag} class="rung ${outcome}" title="${esc(meaning)}">${sign}${name}<span class="word">${word}</span>${more}</${tag}>`
}

/** Whether the name of the level says all that was asked for. */
function isPlain(result: ResultJson): boolean {
  return scopeOf(result) === ''
}

/** The verdict on another level that settles this one: levels of the chain imply those below. */
function findImplied(verdict: VerdictJson, level: LevelId): ResultJson | null {
  const settles = (result: ResultJson) =>
    isPlain(result) &&
    ((result.verdict === 'violated' && implies(level, result.level)) ||
      (result.verdict === 'satisfied' && implies(result.level, level)))
  return verdict.results.find(settles) ?? null
}

function notesOf(result: ResultJson): string {
  const notes: string[] = [...new Set(result.anomalies.map((anomaly) => anomaly.name))]
  if (result.reason) notes.push(result.reason)
  if (result.impliedBy) notes.push(`implied by ${result.impliedBy}`)
  return notes.join(', ')
}

function absence(verdict: VerdictJson, level: LevelId): string {
  if (verdict.asked !== null) return 'not asked for'
  if (verdict.tables) return 'not for SQL statements'
  return level === 'sser' ? 'needs start and finish times' : ''
}
