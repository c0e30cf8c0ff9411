// Judging at once: for histories of registers and lists that were parsed before. Main function:
// checkSync.

import { UsageError } from '../base/errors.ts'
import { checkLevels, profile } from '../check/check.ts'
import { withheld } from '../check/partial.ts'
import { judgeWriters } from '../check/writers/judge-writers.ts'
import type { History } from '../history/history.ts'
import { idOf } from '../levels/levels.ts'
import type { LevelWord } from '../levels/words.ts'
import { describeVerdict } from '../report/describe-verdict.ts'
import { CHECK_OPTIONS, type CheckOptions, expectLevels, expectTransactions } from './arguments.ts'
import { CheckResult } from './check-result.ts'
import { expectOptions, isHistory } from './options.ts'

/**
 * As `check`, at once: for histories of registers and lists that were parsed before.
 *
 * @example
 * checkSync(parseHistory(text), 'cc').verdict
 */
export function checkSync(
  history: History,
  levels: LevelWord | readonly LevelWord[] | null = null,
  options: CheckOptions = {},
): CheckResult {
  const asked = expectLevels(levels)
  const given = expectOptions(options, CHECK_OPTIONS)
  if (!isHistory(history)) {
    throw new UsageError(
      'checkSync() takes a parsed history',
      'parseHistory(text), or await check(text)',
    )
  }
  if (history.sql !== null || asked?.some(({ level }) => level === 'mixed')) {
    const what = history.sql !== null ? 'SQL statements are' : 'level mixed is'
    throw new UsageError(`${what} judged by check(), not by checkSync()`, 'await check(history, …)')
  }
  expectTransactions(history)
  const told =
    history.writers !== null
      ? judgeWriters(history, asked, given)
      : asked
        ? checkLevels(history, asked, given)
        : profile(history, given)
  const results = told.map((result) => withheld(history, result))
  return new CheckResult(history, results, asked?.map(idOf) ?? null, describeVerdict)
}
