// Which level each transaction of an SQL workload asks for: `ser` is one level for all, `ser+rc`
// the first for the application's strong transactions (those whose writes matter) and the second
// for the rest, `mixed` draws one of all for each, and `payment=ser,*=rc` says it type by type.

import { UsageError } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import { type LevelId, OWN_LEVELS } from '../../levels/levels.ts'

/** What choosing a level takes to know of a transaction's type. */
interface Kind {
  readonly name: string
  readonly isStrong: boolean
}

export interface LevelChoice {
  readonly strongest: LevelId
  /** Those that it may come to. */
  readonly levels: readonly LevelId[]
  levelOf(kind: Kind, random: Random): LevelId
}

/** In a choice by type: all types that are not named. */
export const OTHERS = '*'

/** Parses `ser`, `si+rc`, `payment=ser,*=rc`, or `mixed`, which draws from what is offered. */
export function parseLevelChoice(text: string, offered = OWN_LEVELS): LevelChoice {
  if (text === 'mixed') {
    const levelOf = (_: Kind, random: Random) => random.pick(offered)
    return { strongest: offered.at(-1)!, levels: offered, levelOf }
  }
  if (text.includes('=')) return parseByType(text)
  const parts = text.split('+') as LevelId[]
  const [strong, weak = strong] = parts
  if (parts.length > 2) throw unknownLevel(text)
  const strongest = strongestOf(parts, text)
  const levelOf = ({ isStrong }: Kind) => (isStrong ? strong! : weak!)
  return { strongest, levels: [...new Set([strong!, weak!])], levelOf }
}

function parseByType(text: string): LevelChoice {
  const byType = new Map<string, LevelId>()
  for (const part of text.split(',')) {
    const [name = '', level = ''] = part.split('=').map((side) => side.trim())
    if (byType.has(name)) throw new UsageError(`the type "${name}" has two levels in "${text}"`)
    byType.set(name, level as LevelId)
  }
  const levels = [...new Set(byType.values())]
  const levelOf = ({ name }: Kind) => {
    const level = byType.get(name) ?? byType.get(OTHERS)
    if (level !== undefined) return level
    const hint = `${OTHERS} stands for all others`
    throw new UsageError(`transactions of type "${name}" have no level`, hint)
  }
  return { strongest: strongestOf(levels, text), levels, levelOf }
}

/** `payment=ser,*=rc`: what parseLevelChoice reads. */
export function renderByType(levels: ReadonlyMap<string, LevelId>): string {
  return Array.from(levels, ([name, level]) => `${name}=${level}`).join(',')
}

function strongestOf(levels: readonly LevelId[], text: string): LevelId {
  if (!levels.every((level) => OWN_LEVELS.includes(level))) throw unknownLevel(text)
  return OWN_LEVELS.filter((level) => levels.includes(level)).at(-1)!
}

function unknownLevel(text: string): UsageError {
  const known = OWN_LEVELS.join(', ')
  const hint = `there are ${known}, two of them as in ser+rc, by type as in payment=ser,*=rc, and mixed`
  return new UsageError(`SQL transactions cannot be at level "${text}"`, hint)
}
