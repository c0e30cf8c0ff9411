// Judges a history in which reads have several possible writers at the levels asked for, or at all
// that apply, one after another: each level may choose its own writers. What satisfies a level
// satisfies weaker ones by the same choice, and what no choice satisfies violates stronger ones.
// Main function: judgeWriters.

import { nowMs } from '../../base/deadline.ts'
import { UsageError } from '../../base/errors.ts'
import { type History, hasTimes } from '../../history/history.ts'
import { type LevelId, type LevelRequest, PROFILE, WITHOUT_TIMES } from '../../levels/levels.ts'
import type { LevelResult } from '../../verdict/verdict.ts'
import { findImplied, settled } from '../implied.ts'
import type { CheckOptions } from '../options.ts'
import { chooseWriters } from './choose-writers.ts'

/** In which order a profile settles the most with the least. */
const PLAN: readonly LevelId[] = [
  'cc',
  'ra',
  'rc',
  'ci',
  'ser',
  'si',
  'psi',
  'pc',
  'sser',
  'strong-si',
]

/** @param asked null: every level that applies */
export function judgeWriters(
  history: History,
  asked: readonly (LevelId | LevelRequest)[] | null,
  options: CheckOptions = {},
): LevelResult[] {
  const share = shares(options)
  if (asked !== null) {
    const requests = asked.map((each) => (typeof each === 'string' ? { level: each } : each))
    const unique = requests.find(({ level }) => level === 'mixed' || level === 'stale')
    if (unique) {
      throw new UsageError(
        `level ${unique.level} needs unique values: reads of this history have several possible writers`,
        unique.level === 'mixed'
          ? 'ask for one level for all transactions, such as --level ser'
          : null,
      )
    }
    return requests.map((request, i) => {
      return chooseWriters(history, request, share(requests.length - i))
    })
  }
  const isTimed = hasTimes(history) && !options.realTime
  const plan = PLAN.filter((level) => !WITHOUT_TIMES[level] || isTimed)
  const results: LevelResult[] = []
  plan.forEach((level, i) => {
    const implied = findImplied(level, results)
    results.push(implied ?? chooseWriters(history, { level }, share(plan.length - i)))
  })
  return PROFILE.flatMap((level) => results.filter((result) => result.level === level)).map(
    (result) => settled(result, results),
  )
}

/** The options of a level: of the time that is left, its part. */
function shares(options: CheckOptions): (levelsLeft: number) => CheckOptions {
  const { budgetMs, budgetFromMs = nowMs() } = options
  if (!budgetMs) return () => options
  return (levelsLeft) => {
    // The last one has what is left of the whole, and says of what it ran out.
    if (levelsLeft === 1) return { ...options, budgetFromMs }
    const left = Math.max(1, budgetFromMs + budgetMs - nowMs())
    return { ...options, budgetMs: left / levelsLeft, budgetFromMs: nowMs() }
  }
}
