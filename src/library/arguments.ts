// What may be asked of the library, and what is said of arguments that make no sense: the argument
// is named, and the way out. Main functions: expectLevels, expectOptions.

import { InputError, UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { CheckOptions as EngineOptions } from '../check/options.ts'
import type { History } from '../history/history.ts'
import type { LevelRequest } from '../levels/levels.ts'
import { type LevelWord, levelWords, readLevel } from '../levels/words.ts'
import type { CheckResult } from './check-result.ts'
import type { ReadOptions } from './input.ts'

export interface CheckOptions extends EngineOptions, ReadOptions {}

export function expectLevels(
  levels: LevelWord | readonly LevelWord[] | null,
): readonly LevelRequest[] | null {
  if (levels === null || levels === undefined) return null
  const asked = typeof levels === 'string' ? [levels] : levels
  if (!Array.isArray(asked) || asked.length === 0) {
    throw new UsageError(
      'levels: a level or a list of levels was expected',
      `there are ${levelWords().join(', ')}`,
    )
  }
  return asked.map((word) => {
    if (typeof word === 'string') return withArgument(() => readLevel(word))
    const message = `levels: unknown level ${JSON.stringify(word)}`
    throw new UsageError(message, hintFor(String(word), levelWords()))
  })
}

/** Says which argument it is that makes no sense. */
function withArgument<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`levels: ${error.message}`, error.hint)
  }
}

/** The one level that a history is shrunk for. */
export function expectLevel(level: LevelWord, argument = 'level'): LevelRequest {
  const [only] = (typeof level === 'string' ? expectLevels(level) : null) ?? []
  if (only !== undefined) return only
  const hint = `there are ${levelWords().join(', ')}`
  throw new UsageError(`${argument}: a level was expected, not ${String(level)}`, hint)
}

type Test = [is: (value: unknown) => boolean, wanted: string]

const FLAG: Test = [(value) => typeof value === 'boolean', 'true or false']
const AMOUNT: Test = [(value) => value === null || Number(value) > 0, 'a number above 0']
/** A function, or nothing. */
export const CALL: Test = [(value) => value === null || typeof value === 'function', 'a function']
const oneOf = (...words: string[]): Test => [
  (value) => words.includes(value as string),
  words.join(' or '),
]

/** option -> what its value must be; formats and initial values are for who reads the input. */
const OPTIONS: Record<keyof CheckOptions, Test | null> = {
  all: FLAG,
  limit: [(value) => Number.isSafeInteger(value) && Number(value) >= 1, 'a whole number from 1 on'],
  byPattern: FLAG,
  certify: FLAG,
  sessionOrder: FLAG,
  realTime: FLAG,
  abortedReads: oneOf('judge', 'ignore'),
  algorithm: oneOf('auto', 'solve', 'search'),
  onTick: CALL,
  budgetMs: AMOUNT,
  budgetFromMs: [(value) => Number.isFinite(value), 'a number'],
  memoryBytes: AMOUNT,
  format: null,
  initial: null,
  duplicateValues: FLAG,
}

/** Throws UsageError for options that there are not, and for values that make no sense. */
export function expectOptions<Options extends CheckOptions>(
  options: Options,
  more: Record<string, Test | null> = {},
): Options {
  if (typeof options !== 'object' || options === null) {
    throw new UsageError('options: an object was expected', 'such as { budgetMs: 10_000 }')
  }
  const known: Record<string, Test | null> = { ...OPTIONS, ...more }
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(known, name)) {
      throw new UsageError(`options: unknown option ${name}`, hintFor(name, Object.keys(known)))
    }
    const test = known[name]
    if (value === undefined || !test || test[0](value)) continue
    throw new UsageError(`options.${name}: ${test[1]} was expected, not ${String(value)}`)
  }
  return options
}

/** Nothing judged must not look like a pass. */
export function expectTransactions(history: History): History {
  if (history.txnCount > 0) return history
  const hint = 'input: a history has a transaction at least'
  throw new InputError('empty-history', 'the history has no transactions', null, hint)
}

/** What renderers and `certify` take. */
export function expectResult(result: CheckResult): CheckResult {
  if (typeof result === 'object' && result !== null && 'results' in result) return result
  throw new UsageError('result: what check() returned was expected', 'await check(input)')
}
