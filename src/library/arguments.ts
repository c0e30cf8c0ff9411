// What may be asked of a check, and what is said of arguments that make no sense. Main functions:
// expectLevels, expectOptions.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'
import type { CheckOptions as EngineOptions } from '../check/check.ts'
import { LEVELS, type LevelId } from '../levels/levels.ts'
import type { ReadOptions } from './input.ts'

export interface CheckOptions extends EngineOptions, ReadOptions {}

export function expectLevels(
  levels: LevelId | readonly LevelId[] | null,
): readonly LevelId[] | null {
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
    const message = `levels: unknown level ${JSON.stringify(level)}`
    throw new UsageError(message, hintFor(String(level), known))
  }
  return asked
}

export function expectOptions(options: CheckOptions): CheckOptions {
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
