// What a list of verdicts says of the chain rc … sser.

import { CHAIN } from '../levels/levels.ts'
import type { LevelResult, Outcome } from '../verdict/verdict.ts'
import { haveSameOrders } from './scope.ts'

/**
 * The strongest satisfied and the weakest violated level of the chain, null if there is none, or if
 * not all were judged under the same orders: then they are no chain.
 */
export function summarise(results: readonly LevelResult[]) {
  const alike = haveSameOrders(results) ? results : []
  const verdicts = new Map(alike.map((result) => [result.level, result.verdict]))
  const withVerdict = (verdict: Outcome) => CHAIN.filter((level) => verdicts.get(level) === verdict)
  return {
    strongest: withVerdict('satisfied').at(-1) ?? null,
    weakestViolated: withVerdict('violated')[0] ?? null,
  }
}
