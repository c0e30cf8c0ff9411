// Which level each transaction of an SQL workload asks for: `ser` is one level for all, `ser+rc`
// the first for the application's strong transactions (those whose writes matter) and the second
// for the rest, `mixed` draws one of all for each.

import { UsageError } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import { type LevelId, OWN_LEVELS } from '../../levels/levels.ts'

export interface LevelChoice {
  /** As it is typed. */
  readonly text: string
  readonly strongest: LevelId
  /** Those that it may come to. */
  readonly levels: readonly LevelId[]
  levelOf(isStrong: boolean, random: Random): LevelId
}

/** Parses `ser`, `si+rc`, `mixed`, which draws from what is offered. */
export function parseLevelChoice(text: string, offered = OWN_LEVELS): LevelChoice {
  if (text === 'mixed') {
    const levelOf = (_: boolean, random: Random) => random.pick(offered)
    return { text, strongest: offered.at(-1)!, levels: offered, levelOf }
  }
  const parts = text.split('+') as LevelId[]
  const [strong, weak = strong] = parts
  if (parts.length > 2 || !parts.every((level) => OWN_LEVELS.includes(level))) {
    const hint = `there are ${OWN_LEVELS.join(', ')}, two of them as in ser+rc, and mixed`
    throw new UsageError(`SQL transactions cannot be at level "${text}"`, hint)
  }
  const strongest = OWN_LEVELS.indexOf(weak!) > OWN_LEVELS.indexOf(strong!) ? weak! : strong!
  const levelOf = (isStrong: boolean) => (isStrong ? strong! : weak!)
  return { text, strongest, levels: [...new Set([strong!, weak!])], levelOf }
}
