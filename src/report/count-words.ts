// How often an anomaly occurs, in words. What single reads show, and the patterns of weak levels,
// are counted read by read; of cycles at stronger levels those are counted that share no
// transaction, so there may be more. Main function: countWords.

import { WEAK_LEVELS } from '../levels/levels.ts'

/** What follows a heading: empty for one. */
export function countWords(
  anomaly: {
    readonly count: number
    readonly edges: readonly unknown[]
    readonly cases: readonly unknown[]
  },
  level: string,
): string {
  if (anomaly.count <= 1) return ''
  const isOfReads = anomaly.edges.length === 0 && anomaly.cases.length === 0
  const isWeak = (WEAK_LEVELS as readonly string[]).includes(level)
  return isOfReads || isWeak ? `, ${anomaly.count} reads` : `, at least ${anomaly.count} times`
}
