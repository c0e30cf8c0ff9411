// Which level each transaction of an SQL workload asks for: `ser` is one level for all, `ser+rc`
// the first for the application's strong transactions (those whose writes matter) and the second
// for the rest, `mixed` draws one of all for each.

import { UsageError } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import { CHAIN, type LevelId } from '../../levels/levels.ts'

/** Weakest first. */
export const SQL_LEVELS: readonly LevelId[] = CHAIN.filter((level) => level !== 'sser')

export interface LevelChoice {
  /** As it is typed. */
  readonly text: string
  readonly strongest: LevelId
  levelOf(isStrong: boolean, random: Random): LevelId
}

/** Parses `ser`, `si+rc`, `mixed`. */
export function parseLevelChoice(text: string): LevelChoice {
  if (text === 'mixed') {
    return { text, strongest: 'ser', levelOf: (_, random) => random.pick(SQL_LEVELS) }
  }
  const parts = text.split('+') as LevelId[]
  const [strong, weak = strong] = parts
  if (parts.length > 2 || !parts.every((level) => SQL_LEVELS.includes(level))) {
    const hint = `there are ${SQL_LEVELS.join(', ')}, two of them as in ser+rc, and mixed`
    throw new UsageError(`no SQL store at level "${text}"`, hint)
  }
  const strongest = SQL_LEVELS.indexOf(weak!) > SQL_LEVELS.indexOf(strong!) ? weak! : strong!
  return { text, strongest, levelOf: (isStrong) => (isStrong ? strong! : weak!) }
}
