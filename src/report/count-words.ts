// How often an anomaly occurs, in words. What single reads show, and the patterns of weak levels,
// are counted read by read, at stronger levels too; of other cycles, and of those of statements,
// the ones are counted that share no transaction, so there may be more. Main function: countWords.

import { WEAK_LEVELS } from '../levels/levels.ts'

/** What follows a heading: empty for one. */
export function countWords(
  anomaly: {
    readonly count: number
    readonly edges: readonly { readonly kind: string }[]
    readonly cases: readonly unknown[]
  },
  level: string,
  isSql: boolean,
): string {
  if (anomaly.count <= 1) return ''
  const isOfReads = anomaly.edges.length === 0 && anomaly.cases.length === 0
  const kinds = new Set(anomaly.edges.map(({ kind }) => kind))
  const isOfCauses = kinds.size > 0 && !kinds.has('RW') && (kinds.has('CO') || !kinds.has('WW'))
  const isWeak = (WEAK_LEVELS as readonly string[]).includes(level) || isOfCauses
  return isOfReads || (isWeak && !isSql)
    ? `, ${anomaly.count} reads`
    : `, at least ${anomaly.count} times`
}
