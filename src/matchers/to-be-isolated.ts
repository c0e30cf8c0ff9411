// The matcher behind isobar/vitest and isobar/jest: await expect(history).toBeIsolated('si'). A
// history is whatever `check` takes, and what `check` returned may be asked again, as may what came
// of a race, whose schedules must all satisfy the level. A failure tells the whole story. A level
// that could not be decided fails in both directions: an unknown verdict is never a pass.

import { RaceResult } from '../application/race/race-result.ts'
import { InputError, UsageError } from '../base/errors.ts'
import { CheckResult, check, type HistoryInput, type LevelWord, render } from '../index.ts'
import { levelName } from '../levels/levels.ts'
import type { CheckOptions } from '../library/arguments.ts'

/**
 * How a history is read and judged.
 *
 * @example
 * await expect(history).toBeIsolated('si', { budgetMs: 5000 })
 */
export type IsolatedOptions = Pick<
  CheckOptions,
  'budgetMs' | 'memoryBytes' | 'sessionOrder' | 'realTime' | 'format'
>

/** What test runners ask of a matcher. */
export interface MatcherResult {
  pass: boolean
  message: () => string
}

/**
 * Passes if the history satisfies the level.
 *
 * @example
 * expect.extend({ toBeIsolated })
 * await expect(history).toBeIsolated('si')
 */
export async function toBeIsolated(
  received: unknown,
  expected: LevelWord,
  options: IsolatedOptions = {},
): Promise<MatcherResult> {
  if (received instanceof RaceResult) return raceIsolated(received, expected, options)
  const result = await judged(received, expected, options)
  const { verdict, reason, level } = result.results[0]!
  if (verdict === 'unknown') {
    throw new UsageError(`toBeIsolated('${expected}'): not decided: ${reason ?? 'unknown'}`)
  }
  const pass = verdict === 'satisfied'
  const name = `${levelName(level)} (${expected})`
  const title = pass
    ? `expected a history that violates ${name}, but it satisfies it`
    : `expected a history that satisfies ${name}`
  const text = await render.text(result, { title })
  return { pass, message: () => text }
}

async function raceIsolated(
  received: RaceResult,
  expected: LevelWord,
  { format: _, ...options }: IsolatedOptions,
): Promise<MatcherResult> {
  const result = await received.at(expected, options)
  const text = String(result)
  if (result.verdict === 'unknown') {
    const undecided = result.runs.find((run) => run.verdict === 'unknown')
    const reason = undecided?.result?.results[0]?.reason ?? undecided?.unrecorded.join(', ')
    throw new UsageError(`toBeIsolated('${expected}'): not decided: ${reason || 'unknown'}`)
  }
  return { pass: result.verdict === 'satisfied', message: () => text }
}

async function judged(
  received: unknown,
  level: LevelWord,
  options: IsolatedOptions,
): Promise<CheckResult> {
  const input = received instanceof CheckResult ? received.history : (received as HistoryInput)
  try {
    return await check(input, level, options)
  } catch (error) {
    if (error instanceof InputError) throw new UsageError(`toBeIsolated: ${error.describe()}`)
    if (error instanceof UsageError)
      throw new UsageError(`toBeIsolated: ${error.message}`, error.hint)
    throw error
  }
}
