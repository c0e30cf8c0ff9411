// The door of the library: a history in any form goes in, certified verdicts come out. SQL, gzip
// and pages are loaded when they are used, so `check` is asynchronous; `checkSync` judges what needs
// none of them.

import { InputError, UsageError } from '../base/errors.ts'
import { checkLevels, type CheckOptions as EngineOptions, profile } from '../check/check.ts'
import { judge } from '../check/judge.ts'
import type { History } from '../history/history.ts'
import { LEVELS, type LevelId } from '../levels/levels.ts'
import { CheckResult } from './check-result.ts'
import { type HistoryInput, isHistory, type ReadOptions, readInput } from './input.ts'

export interface CheckOptions extends EngineOptions, ReadOptions {}

/**
 * Judges a history at one level, at several, or, if none is named, at every level that applies.
 *
 * @example
 * const result = await check('s1: r(x,0) w(x,1)\ns2: r(x,0) w(x,2)', 'si')
 * result.verdict // 'violated'
 * result.levels[0].anomalies[0].name // 'LostUpdate'
 */
export async function check(
  input: HistoryInput,
  levels: LevelId | readonly LevelId[] | null = null,
  options: CheckOptions = {},
): Promise<CheckResult> {
  const asked = expectLevels(levels)
  const history = await readInput(input, expectOptions(options))
  if (history.txnCount === 0) {
    // Nothing judged must not look like a pass.
    throw new InputError('empty-history', 'the history has no transactions')
  }
  return new CheckResult(history, await judge(history, asked, options), asked)
}

/**
 * As `check`, at once: for histories of registers and lists that were parsed before.
 *
 * @example
 * checkSync(parseHistory(text), 'cc').verdict
 */
export function checkSync(
  history: History,
  levels: LevelId | readonly LevelId[] | null = null,
  options: CheckOptions = {},
): CheckResult {
  const asked = expectLevels(levels)
  expectOptions(options)
  if (!isHistory(history)) {
    throw new UsageError(
      'checkSync() takes a parsed history',
      'parseHistory(text), or await check(text)',
    )
  }
  if (history.sql !== null || asked?.includes('mixed')) {
    const what = history.sql !== null ? 'SQL statements are' : 'level mixed is'
    throw new UsageError(`${what} judged by check(), not by checkSync()`, 'await check(history, …)')
  }
  const results = asked ? checkLevels(history, asked, options) : profile(history, options)
  return new CheckResult(history, results, asked)
}

function expectLevels(levels: LevelId | readonly LevelId[] | null): readonly LevelId[] | null {
  if (levels === null || levels === undefined) return null
  const asked = typeof levels === 'string' ? [levels] : levels
  const known = LEVELS.map(({ id }) => id)
  if (!Array.isArray(asked) || asked.length === 0) {
    throw new UsageError(
      'levels: a level or a list of levels was expected',
      `there are ${known.join(', ')}`,
    )
  }
  for (const level of asked) {
    if (known.includes(level)) continue
    throw new UsageError(
      `levels: unknown level ${JSON.stringify(level)}`,
      `there are ${known.join(', ')}`,
    )
  }
  return asked
}

function expectOptions(options: CheckOptions): CheckOptions {
  if (typeof options !== 'object' || options === null) {
    throw new UsageError('options: an object was expected', 'such as { budgetMs: 10_000 }')
  }
  for (const name of ['budgetMs', 'memoryBytes'] as const) {
    const amount = options[name]
    if (amount === undefined || amount === null || amount > 0) continue
    throw new UsageError(`options.${name}: a number above 0 was expected, not ${String(amount)}`)
  }
  return options
}
