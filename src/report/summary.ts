// What a list of verdicts says of the order of the levels: the strongest that are satisfied and the
// weakest that are violated. Main functions: summarise, isInOrder, nameAll.

import { type LevelId, levelName, stronger } from '../levels/levels.ts'
import type { LevelResult, Outcome } from '../verdict/verdict.ts'
import { haveSameOrders } from './scope.ts'

/**
 * The satisfied levels that no other satisfied one implies, and the violated ones that imply no
 * other violated one, as they were judged. Empty if not all were judged under the same orders: then
 * none says anything of another. `stale` has bounds and `mixed` many levels: they have no place.
 */
export function summarise(results: readonly LevelResult[]) {
  const alike = haveSameOrders(results) ? results : []
  const withVerdict = (wanted: Outcome) => [
    ...new Set(alike.flatMap(({ level, verdict }) => (verdict === wanted ? [level] : []))),
  ]
  const satisfied = withVerdict('satisfied').filter(isInOrder)
  const violated = withVerdict('violated').filter(isInOrder)
  return {
    strongest: satisfied.filter((level) => !satisfied.some((other) => stronger(other, level))),
    weakestViolated: violated.filter((level) => !violated.some((other) => stronger(level, other))),
  }
}

/** Whether a level says something of others, whatever was asked of it. */
export function isInOrder(level: LevelId): boolean {
  return level !== 'stale' && level !== 'mixed'
}

/** Names of levels of which neither implies another, as one says them. */
export function nameAll(levels: readonly LevelId[], nameOf = levelName): string {
  return levels.map(nameOf).join(' and ')
}
