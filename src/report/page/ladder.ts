// The ladder rc → sser: every level of the chain with its verdict, and those beside the chain.

import { CHAIN, implies, LEVELS, type LevelId, levelName } from '../../levels/levels.ts'
import type { ResultJson, VerdictJson } from '../../verdict/verdict-file.ts'
import { escapeMarkup as esc } from '../escape.ts'

const SIGNS = { satisfied: '✓', violated: '✗', unknown: '?', absent: '–' }

export function renderLadder(verdict: VerdictJson): string {
  const byLevel = new Map(verdict.results.map((result) => [result.level, result]))
  const rungs = CHAIN.map((level) => renderRung(verdict, level, byLevel.get(level)))
  const beside = verdict.results.filter(({ level }) => !CHAIN.includes(level))
  const notes = [
    verdict.strongest ? `Strongest satisfied: <b>${esc(levelName(verdict.strongest))}</b>.` : '',
    verdict.weakestViolated
      ? `Weakest violated: <b>${esc(levelName(verdict.weakestViolated))}</b>.`
      : '',
  ].filter((note) => note !== '')
  const isChainJudged = CHAIN.some((level) => byLevel.has(level))
  return [
    isChainJudged
      ? `<ol class="ladder" aria-label="Levels, weakest first">${rungs.join('')}</ol>`
      : '',
    beside.length > 0
      ? `<ul class="ladder beside" aria-label="Levels beside the chain">${beside.map((result) => renderRung(verdict, result.level, result)).join('')}</ul>`
      : '',
    notes.length > 0 ? `<p class="summary">${notes.join(' ')}</p>` : '',
  ]
    .filter((part) => part !== '')
    .join('\n')
}

function renderRung(verdict: VerdictJson, level: LevelId, result: ResultJson | undefined): string {
  const implied = result ? null : findImplied(verdict, level)
  const outcome = result?.verdict ?? implied?.verdict ?? 'absent'
  const word = outcome === 'absent' ? 'not judged' : outcome
  const why = result
    ? notesOf(result)
    : implied
      ? `implied by ${implied.level}`
      : absence(verdict, level)
  const meaning = LEVELS.find((each) => each.id === level)?.meaning ?? ''
  const name = `<b>${level}</b> <span class="level">${esc(levelName(level))}</span>`
  const sign = `<span class="sign" aria-hidden="true">${SIGNS[outcome]}</span>`
  const more = why ? `<span class="why">${esc(why)}</span>` : ''
  return `<li class="${outcome}" title="${esc(meaning)}">${sign}${name}<span class="word">${word}</span>${more}</li>`
}

/** The verdict on another level that settles this one: levels of the chain imply those below. */
function findImplied(verdict: VerdictJson, level: LevelId): ResultJson | null {
  const settles = (result: ResultJson) =>
    (result.verdict === 'violated' && implies(level, result.level)) ||
    (result.verdict === 'satisfied' && implies(result.level, level))
  return verdict.results.find(settles) ?? null
}

function notesOf(result: ResultJson): string {
  const names = [...new Set(result.anomalies.map((anomaly) => anomaly.name))]
  const notes = [...names]
  if (result.reason) notes.push(result.reason)
  if (result.impliedBy) notes.push(`implied by ${result.impliedBy}`)
  return notes.join(', ')
}

function absence(verdict: VerdictJson, level: LevelId): string {
  if (verdict.asked !== null) return 'not asked for'
  if (verdict.tables) return 'not for SQL statements'
  return level === 'sser' ? 'needs start and finish times' : ''
}
