// Passes a verdict through its certification before anybody is told: what fails there is an
// internal error, never a verdict. Main function: withCertificate.

import { withProgress } from '../base/deadline.ts'
import { InternalError } from '../base/errors.ts'
import type { LevelId } from '../levels/levels.ts'
import type { Certification } from '../verdict/certification.ts'
import type { LevelResult } from '../verdict/verdict.ts'

/** The result of a level before anything is known of it. */
export function undecided(level: LevelId): LevelResult {
  return {
    level,
    verdict: 'unknown',
    reason: null,
    impliedBy: null,
    algorithm: 'none',
    elapsedMs: 0,
    stages: {},
    anomalies: [],
    proof: null,
    certificate: null,
  }
}

/** What the certification adds to the result: its certificate, and the anomalies it verified. */
export function withCertificate(
  { verdict, level }: LevelResult,
  certify: () => Certification,
): Pick<LevelResult, 'certificate' | 'anomalies'> {
  const { problems, kind, anomalies } = withProgress(
    certify,
    () => `${verdict} by what was found, but that was not verified`,
  )
  if (problems.length > 0) {
    const what = `the verdict '${verdict}' of ${level} failed its own certificate`
    throw new InternalError(`${what}: ${problems.slice(0, 3).join('; ')}`)
  }
  return { certificate: kind && { kind, verified: true }, anomalies }
}
