// Verdicts that follow from others: what satisfies a level satisfies every weaker one by the same
// order, what violates it violates every stronger one by the same evidence. Main function:
// findImplied.

import { implies, type LevelId, WEAK_LEVELS } from '../levels/levels.ts'
import type { LevelResult } from '../verdict/verdict.ts'

/**
 * Levels whose patterns of anomalies are listed in full, so that a violation is worked out anew.
 */
const LISTED: ReadonlySet<LevelId> = new Set(WEAK_LEVELS)

/** The result of a level as far as results of others settle it, else null. */
export function findImplied(level: LevelId, known: readonly LevelResult[]): LevelResult | null {
  for (const result of known) {
    if (result.verdict === 'satisfied' && implies(result.level, level)) {
      const proof = level === 'ci' ? { kind: 'none' as const } : result.proof
      return { ...result, ...impliedBy(level, result), proof }
    }
  }
  if (LISTED.has(level)) return null
  const violated = known.filter(
    (result) => result.verdict === 'violated' && implies(level, result.level),
  )
  // Of several, the strongest has the most to tell; what is broken already is the weakest.
  const told = violated.reduce<LevelResult | null>(
    (best, result) => (best === null || implies(result.level, best.level) ? result : best),
    null,
  )
  return told && { ...told, ...impliedBy(level, told) }
}

function impliedBy(level: LevelId, { impliedBy, level: from, certificate }: LevelResult) {
  return {
    level,
    impliedBy: impliedBy ?? from,
    algorithm: 'implied',
    elapsedMs: 0,
    stages: {},
    certificate: certificate && {
      ...certificate,
      kind: level === 'ci' ? 'reads' : certificate.kind,
    },
  } satisfies Partial<LevelResult>
}
