// The matcher behind isobar/vitest and isobar/jest: expect(history).toSatisfy('si'). A history is
// what the library parsed or recorded, or text in any format it knows, notation included. A failure
// tells the whole story. A level that could not be decided fails in both directions: an unknown
// verdict is never a pass.

import { InputError, UsageError } from '../base/errors.ts'
import {
  type CheckOptions,
  check,
  type History,
  LEVELS,
  type LevelId,
  parseHistory,
  renderText,
} from '../index.ts'

/** What a test hands over. */
export type HistoryLike = History | string | Uint8Array

export type SatisfyOptions = Pick<CheckOptions, 'budgetMs' | 'memoryBytes'> & {
  /** The format of a text; by content if absent. */
  format?: string
}

export interface MatcherResult {
  pass: boolean
  message: () => string
}

/**
 * True if the history satisfies the level. Test runners that have a toSatisfy of their own keep it:
 * a function is asked as a predicate.
 */
export function toSatisfy(
  received: unknown,
  expected: LevelId | ((value: unknown) => boolean),
  options: SatisfyOptions | string = {},
): MatcherResult {
  if (typeof expected === 'function') return askPredicate(received, expected, options)
  const level = LEVELS.find((each) => each.id === expected)
  if (!level) {
    const known = LEVELS.map((each) => each.id).join(', ')
    throw new UsageError(`toSatisfy: unknown level ${JSON.stringify(expected)}; there are ${known}`)
  }
  const given = typeof options === 'string' ? {} : options
  const history = historyOf(received, given)
  const { budgetMs = null, memoryBytes = null } = given
  const result = check(history, level.id, { budgetMs, memoryBytes })
  if (result.verdict === 'unknown') {
    throw new UsageError(`toSatisfy('${level.id}'): not decided: ${result.reason ?? 'unknown'}`)
  }
  const pass = result.verdict === 'satisfied'
  const title = pass
    ? `expected a history that violates ${level.name} (${level.id}), but it satisfies it`
    : `expected a history that satisfies ${level.name} (${level.id})`
  return { pass, message: () => renderText(history, [result], { title }) }
}

function historyOf(received: unknown, { format }: SatisfyOptions): History {
  if (typeof received === 'string' || received instanceof Uint8Array) {
    try {
      return parseHistory(received, format === undefined ? {} : { format })
    } catch (error) {
      if (error instanceof InputError) throw new UsageError(`toSatisfy: ${error.describe()}`)
      throw error
    }
  }
  if (typeof received === 'object' && received !== null && 'txnOpStart' in received) {
    return received as History
  }
  throw new UsageError('toSatisfy: a history, or the text of one, was expected')
}

function askPredicate(
  received: unknown,
  predicate: (value: unknown) => boolean,
  note: SatisfyOptions | string,
): MatcherResult {
  const pass = predicate(received)
  const words =
    typeof note === 'string' ? note : `expected ${String(received)} to satisfy the predicate`
  return { pass, message: () => words }
}
