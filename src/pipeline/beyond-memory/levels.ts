// The levels that can be judged beyond memory, the strongest first.

import type { LevelId } from '../../levels/levels.ts'

export const SPILLED_LEVELS = ['ser', 'si', 'cc', 'ra', 'rc'] as const satisfies readonly LevelId[]
export type SpilledLevel = (typeof SPILLED_LEVELS)[number]
/** What they force against an order follows from session order and reads-from alone. */
export type WeakSpilledLevel = 'cc' | 'ra' | 'rc'
/** They ask for an order of the writers of each key as well. */
export type StrongSpilledLevel = 'ser' | 'si'

export function isSpilledLevel(level: LevelId): level is SpilledLevel {
  return (SPILLED_LEVELS as readonly LevelId[]).includes(level)
}

export function isStrong(level: SpilledLevel): level is StrongSpilledLevel {
  return level === 'ser' || level === 'si'
}
