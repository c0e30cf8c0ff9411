// Verifying a verdict again, independently of what decided it.

import { certifyResult } from '../verdict/certify.ts'
import type { CheckResult } from './check-result.ts'

/**
 * What is wrong with a result's evidence, in words; an empty list if every verdict stands. `check`
 * has asked that before it returned, unless it was told not to.
 *
 * @example
 * const problems = certify(await check(history, 'ser', { certify: false }))
 */
export function certify(result: CheckResult): string[] {
  return result.results.flatMap((each) =>
    certifyResult(result.history, { ...each }).map((problem) => `${each.level}: ${problem}`),
  )
}
