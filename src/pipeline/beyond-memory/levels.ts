// The levels that can be judged beyond memory, the strongest first.

import type { LevelId } from '../../levels/levels.ts'

export const SPILLED_LEVELS = ['cc', 'ra', 'rc'] as const satisfies readonly LevelId[]
export type SpilledLevel = (typeof SPILLED_LEVELS)[number]

export function isSpilledLevel(level: LevelId): level is SpilledLevel {
  return (SPILLED_LEVELS as readonly LevelId[]).includes(level)
}
