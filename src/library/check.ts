// The door of the library: a history in any form goes in, certified verdicts come out. Deciders,
// SQL, gzip and pages are loaded when they are used, so `check` is asynchronous. Main function:
// check.

import type { LevelWord } from '../levels/words.ts'
import type { CheckOptions } from './arguments.ts'
import type { CheckResult } from './check-result.ts'
import type { HistoryInput } from './input.ts'
import { expectOptions } from './options.ts'

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
  levels: LevelWord | readonly LevelWord[] | null = null,
  options: CheckOptions = {},
): Promise<CheckResult> {
  const [{ CHECK_OPTIONS, expectLevels, expectTransactions }, { namingTransactions, readInput }] =
    await Promise.all([import('./arguments.ts'), import('./input.ts')])
  const asked = expectLevels(levels)
  const given = expectOptions(options, CHECK_OPTIONS)
  const history = expectTransactions(await readInput(input, given))
  const [{ judge }, { describeVerdict }, { idOf }, { CheckResult }] = await Promise.all([
    import('../check/judge.ts'),
    import('../report/describe-verdict.ts'),
    import('../levels/levels.ts'),
    import('./check-result.ts'),
  ])
  const results = await namingTransactions(input, () => judge(history, asked, given))
  return new CheckResult(history, results, asked?.map(idOf) ?? null, describeVerdict)
}
