// What a list of verdicts says of the chain rc … sser.

import { CHAIN, type LevelId } from '../levels/levels.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { haveSameOrders } from './scope.ts'

/**
 * The strongest satisfied and the weakest violated level of the chain, null if there is none, or if
 * not all were judged under the same orders: then they are no chain.
 */
export function summarise(results: readonly LevelResult[]): {
  strongest: LevelId | null
  weakestViolated: LevelId | null
} {
  const alike = haveSameOrders(results) ? results : []
  const verdicts = new Map(alike.map((result) => [result.level, result.verdict]))
  const satisfied = CHAIN.filter((level) => verdicts.get(level) === 'satisfied')
  const violated = CHAIN.filter((level) => verdicts.get(level) === 'violated')
  return {
    strongest: satisfied[satisfied.length - 1] ?? null,
    weakestViolated: violated[0] ?? null,
  }
}
