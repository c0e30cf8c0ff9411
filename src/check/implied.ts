// Verdicts that follow from others: what satisfies a level satisfies every weaker one by the same
// order, what violates it violates every stronger one by the same evidence. Main functions:
// findImplied, settled, withForbidden, weakened, strengthened.

import { addAll } from '../base/grow.ts'
import type { History } from '../history/history.ts'
import { implies, type LevelId, takesTime, WEAK_LEVELS } from '../levels/levels.ts'
import { certifyPlain } from '../verdict/certify-plain.ts'
import { LEVEL_RULES } from '../verdict/level-rules.ts'
import type { CertificateKind, LevelResult, Proof } from '../verdict/verdict.ts'

/** Levels whose patterns of anomalies are listed in full: a violation is worked out anew. */
const LISTED: ReadonlySet<LevelId> = new Set(WEAK_LEVELS)

/** The result of a level as far as results of others settle it, else null. */
export function findImplied(level: LevelId, known: readonly LevelResult[]): LevelResult | null {
  for (const result of known) {
    if (result.verdict === 'satisfied' && implies(result.level, level)) {
      return weakened(level, result)
    }
  }
  return LISTED.has(level) ? null : findViolated(level, known)
}

/** A result that ran out of budget, as far as others settle it. */
export function settled(result: LevelResult, known: readonly LevelResult[]): LevelResult {
  const { level, verdict } = result
  if (verdict !== 'unknown') return result
  return findImplied(level, known) ?? findViolated(level, known) ?? result
}

function findViolated(level: LevelId, known: readonly LevelResult[]): LevelResult | null {
  // Of several, the strongest has the most to tell; what is broken already is the weakest.
  let told: LevelResult | null = null
  for (const result of known) {
    const isViolated = result.verdict === 'violated' && implies(level, result.level)
    if (isViolated && (told === null || implies(result.level, told.level))) told = result
  }
  return told && { ...told, ...impliedBy(level, told) }
}

/**
 * A violation that follows from a weaker level must not hide kinds that the level itself forbids:
 * those that stronger levels found are added, where the same evidence shows them.
 */
export function withForbidden(
  history: History,
  implied: LevelResult,
  known: readonly LevelResult[],
): LevelResult {
  const anomalies = [...implied.anomalies]
  const names = new Set(anomalies.map(({ name }) => name))
  for (const { level, anomalies: found } of known) {
    if (!implies(level, implied.level)) continue
    for (const name of new Set(found.map((anomaly) => anomaly.name))) {
      if (names.has(name)) continue
      const kind = found.filter((anomaly) => anomaly.name === name)
      if (certifyPlain(history, { ...implied, anomalies: kind }).problems.length > 0) continue
      addAll(anomalies, kind)
      names.add(name)
    }
  }
  return { ...implied, anomalies }
}

/** A satisfied result as one of a weaker level, which its proof proves as well. */
export function weakened(level: LevelId, result: LevelResult): LevelResult {
  const { realTime, ...plain } = result
  const timed = realTime && takesTime(level) ? { realTime } : {}
  return { ...plain, ...timed, ...impliedBy(level, result), proof: proofFor(level, result.proof) }
}

/** An unknown result as the first violated one of these whose evidence holds at its level too. */
export function strengthened(
  history: History,
  { level, sessionOrder }: LevelResult,
  known: readonly LevelResult[],
): LevelResult | null {
  for (const result of known) {
    if (result.verdict !== 'violated') continue
    const told = { ...result, ...impliedBy(level, result) }
    delete told.sessionOrder
    if (sessionOrder === false) told.sessionOrder = false
    if (certifyPlain(history, told).problems.length === 0) return told
  }
  return null
}

/** The proof of a stronger level as this one has it. */
function proofFor(level: LevelId, proof: Proof | null): Proof | null {
  if (level === 'ci') return { kind: 'none' }
  if (proof?.kind !== 'snapshots' || LEVEL_RULES[level].proofs.has('snapshots')) return proof
  // Whoever happened before a transaction has committed before its snapshot, so the order of
  // commits alone is one that the level allows.
  return { kind: 'commit-order', order: proof.events.filter(isCommit).map((event) => event >> 1) }
}

const isCommit = (event: number) => event % 2 === 1

function impliedBy(level: LevelId, { impliedBy, level: from, certificate }: LevelResult) {
  return {
    level,
    impliedBy: impliedBy ?? from,
    algorithm: 'implied',
    elapsedMs: 0,
    stages: {},
    certificate: certificate && { ...certificate, kind: kindFor(level, certificate.kind) },
  } satisfies Partial<LevelResult>
}

function kindFor(level: LevelId, kind: CertificateKind): CertificateKind {
  if (level === 'ci') return 'reads'
  return kind === 'snapshots' && !LEVEL_RULES[level].proofs.has(kind) ? 'commit-order' : kind
}
