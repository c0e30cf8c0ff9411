// What every verification has in common, whatever the history holds: a satisfied level comes with a
// proof and nothing else, a violated one with anomalies, each of which is verified, their counts
// last. Changes nothing of what it is given. Main function: certifyBy.

import type { Deadline } from '../base/deadline.ts'
import type { Anomaly, CertificateKind, LevelResult, Proof } from './verdict.ts'

export interface Certification {
  /** What is wrong, in words; empty if the verdict stands. */
  readonly problems: string[]
  /** What the verdict rests on; null if it is unknown. */
  readonly kind: CertificateKind | null
  /** The anomalies there was time to verify, counting for those of their name left out. */
  readonly anomalies: Anomaly[]
}

/** How verdicts on one kind of history are verified, each part by the problems found with it. */
export interface CertificateRules {
  /** What keeps the verdict from meaning anything for the history. */
  scope(): string | null
  proof(proof: Proof): string[]
  anomaly(anomaly: Anomaly): string[]
  counts(anomalies: readonly Anomaly[]): string[]
}

export function certifyBy(
  rules: CertificateRules,
  result: LevelResult,
  deadline: Deadline,
): Certification {
  const kind = kindOf(result)
  const refuse = (...problems: string[]) => ({ problems, kind, anomalies: result.anomalies })
  const { verdict, proof, anomalies } = result
  if (verdict === 'unknown') return refuse()
  const problem = rules.scope()
  if (problem !== null) return refuse(problem)
  if (verdict === 'satisfied') {
    if (anomalies.length > 0) return refuse('a satisfied level has no anomaly')
    return proof === null
      ? refuse('a satisfied level comes without a proof')
      : refuse(...rules.proof(proof))
  }
  if (proof !== null) return refuse('a violated level has no proof')
  if (anomalies.length === 0) return refuse('a violated level comes without an anomaly')
  const verified: Anomaly[] = []
  for (const anomaly of anomalies) {
    // One anomaly proves the verdict; what there is no time to verify is not told.
    if (verified.length > 0 && deadline.hasRunOut()) break
    const problems = rules.anomaly(anomaly)
    if (problems.length > 0) return refuse(...problems)
    verified.push(anomaly)
  }
  const told = withCountsOf(verified, anomalies.slice(verified.length))
  return { problems: rules.counts(told), kind, anomalies: told }
}

/** The anomalies, the last one of each name counting for those of it left out. */
function withCountsOf(anomalies: Anomaly[], left: readonly Anomaly[]): Anomaly[] {
  if (left.length === 0) return anomalies
  return anomalies.map((anomaly, i) => {
    if (anomalies.findLastIndex(({ name }) => name === anomaly.name) !== i) return anomaly
    const more = left.filter(({ name }) => name === anomaly.name)
    return { ...anomaly, count: more.reduce((sum, { count }) => sum + count, anomaly.count) }
  })
}

function kindOf({ verdict, proof, anomalies }: LevelResult): CertificateKind | null {
  if (verdict === 'unknown') return null
  if (verdict === 'satisfied') return !proof || proof.kind === 'none' ? 'reads' : proof.kind
  if (anomalies.some(({ cases }) => cases.length > 0)) return 'cases'
  return anomalies.some(({ edges }) => edges.length > 0) ? 'cycle' : 'reads'
}
