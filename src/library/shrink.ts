// The least of a history that still violates a level.

import type { History } from '../history/history.ts'
import { expectWriters } from '../history/writers.ts'
import type { LevelWord } from '../levels/words.ts'
import { CHECK_OPTIONS, type CheckOptions, expectLevel, expectTransactions } from './arguments.ts'
import { CheckResult } from './check-result.ts'
import { type HistoryInput, readInput } from './input.ts'
import { CALL, expectOptions, type Tests } from './options.ts'

/**
 * As CheckOptions, for each verdict on the way.
 *
 * @example
 * await shrink(text, 'si', { onStep: ({ txnCount }) => report(txnCount) })
 */
export interface ShrinkOptions extends CheckOptions {
  /** Called after each verdict on the way, with what is left. */
  onStep?: (history: History) => void
}

const SHRINK_OPTIONS: Tests<ShrinkOptions> = { ...CHECK_OPTIONS, onStep: CALL }

/** What shrinking has left. */
export interface Shrunk {
  /** What is left, under the names it had in the whole; the whole if it violates nothing. */
  readonly history: History
  /** Its verdict. */
  readonly result: CheckResult
}

/**
 * Leaves out transactions and operations, or statements and rows, until every one that is left is
 * needed for the violation.
 *
 * @example
 * const { history } = await shrink(text, 'si')
 * const least = renderNotation(history)
 */
export async function shrink(
  input: HistoryInput,
  level: LevelWord,
  options: ShrinkOptions = {},
): Promise<Shrunk> {
  const request = expectLevel(level)
  const { onStep, ...given } = expectOptions(options, SHRINK_OPTIONS)
  const whole = expectTransactions(await readInput(input, given))
  expectWriters(whole)
  const [{ judge }, { shrinkHistory }, { describeVerdict }] = await Promise.all([
    import('../check/judge.ts'),
    import('../verdict/shrink.ts'),
    import('../report/describe-verdict.ts'),
  ])
  const decide = async (history: History) => (await judge(history, [request], given))[0]!
  const { history, result } = await shrinkHistory(whole, decide, {
    whole: request.level === 'lin',
    ...(onStep ? { onStep: (shrunk) => onStep(shrunk.history) } : {}),
  })
  return { history, result: new CheckResult(history, [result], [request.level], describeVerdict) }
}
