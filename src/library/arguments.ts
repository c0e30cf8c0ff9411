// What may be asked of the library, and what is said of arguments that make no sense: the argument
// is named, and the way out. Main function: expectLevels.

import { InputError, UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { CheckOptions as EngineOptions } from '../check/options.ts'
import type { History } from '../history/history.ts'
import { type LevelRequest, withoutRepeats } from '../levels/levels.ts'
import { type LevelWord, levelWords, readLevel } from '../levels/words.ts'
import {
  AMOUNT,
  CALL,
  FLAG,
  NUMBER,
  oneOf,
  READ_OPTIONS,
  type ReadOptions,
  type Tests,
  whole,
} from './options.ts'

/**
 * What a check may be asked for besides levels.
 *
 * @example
 * await check(text, 'ser', { budgetMs: 10_000, all: true, limit: 5 })
 */
export interface CheckOptions extends EngineOptions, ReadOptions {}

/** @param argument what to call it where it makes no sense */
export function expectLevels(
  levels: LevelWord | readonly LevelWord[] | null,
  argument = 'levels',
): readonly LevelRequest[] | null {
  if (levels === null || levels === undefined) return null
  const asked = typeof levels === 'string' ? [levels] : levels
  if (!Array.isArray(asked) || asked.length === 0) {
    throw new UsageError(
      `${argument}: a level or a list of levels was expected`,
      `there are ${levelWords().join(', ')}`,
    )
  }
  const requests = asked.map((word) => {
    if (typeof word === 'string') return withArgument(argument, () => readLevel(word))
    const message = `${argument}: unknown level ${JSON.stringify(word)}`
    throw new UsageError(message, hintFor(String(word), levelWords()))
  })
  return withoutRepeats(requests)
}

/** Says which argument it is that makes no sense. */
export function withArgument<T>(name: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${name}: ${error.message}`, error.hint)
  }
}

/** The one level that a history is shrunk for. */
export function expectLevel(level: LevelWord, argument = 'level'): LevelRequest {
  const [only] = (typeof level === 'string' ? expectLevels(level, argument) : null) ?? []
  if (only !== undefined) return only
  const hint = `there are ${levelWords().join(', ')}`
  throw new UsageError(`${argument}: a level was expected, not ${String(level)}`, hint)
}

/** What a check may be asked for; how its input is read is asked with it. */
export const CHECK_OPTIONS: Tests<CheckOptions> = {
  all: FLAG,
  limit: whole(1),
  byPattern: FLAG,
  certify: FLAG,
  sessionOrder: FLAG,
  realTime: FLAG,
  abortedReads: oneOf('judge', 'ignore'),
  algorithm: oneOf('auto', 'solve', 'search'),
  onTick: CALL,
  budgetMs: AMOUNT,
  budgetFromMs: NUMBER,
  memoryBytes: AMOUNT,
  ...READ_OPTIONS,
}

/** Nothing judged must not look like a pass. */
export function expectTransactions(history: History): History {
  if (history.txnCount > 0) return history
  const hint = 'input: a history has a transaction at least'
  throw new InputError('empty-history', 'the history has no transactions', null, hint)
}
