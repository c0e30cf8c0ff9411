// What a list of verdicts says of the chain rc … sser, and what a history is made of.

import { ABORTED, COMMITTED, type History, INDETERMINATE } from '../history/history.ts'
import { CHAIN, type LevelId } from '../levels/levels.ts'
import type { LevelResult } from '../verdict/verdict.ts'

/** The strongest satisfied and the weakest violated level of the chain, null if there is none. */
export function summarise(results: readonly LevelResult[]): {
  strongest: LevelId | null
  weakestViolated: LevelId | null
} {
  const verdicts = new Map(results.map((result) => [result.level, result.verdict]))
  const satisfied = CHAIN.filter((level) => verdicts.get(level) === 'satisfied')
  const violated = CHAIN.filter((level) => verdicts.get(level) === 'violated')
  return {
    strongest: satisfied[satisfied.length - 1] ?? null,
    weakestViolated: violated[0] ?? null,
  }
}

export interface HistoryCounts {
  sessions: number
  transactions: number
  committed: number
  aborted: number
  indeterminate: number
  operations: number
  keys: number
}

export function countHistory(history: History): HistoryCounts {
  const byStatus = [0, 0, 0]
  for (const status of history.txnStatus) byStatus[status]!++
  return {
    sessions: history.sessionCount,
    transactions: history.txnCount,
    committed: byStatus[COMMITTED]!,
    aborted: byStatus[ABORTED]!,
    indeterminate: byStatus[INDETERMINATE]!,
    operations: history.opCount,
    keys: history.keyCount,
  }
}
