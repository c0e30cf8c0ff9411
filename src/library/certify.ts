// Verifying a verdict again, independently of what decided it.

import { type CheckResult, expectResult } from './check-result.ts'

/**
 * What is wrong with a result's evidence, in words; an empty list if every verdict stands. `check`
 * has asked that before it returned, unless it was told not to. The result is left as it is.
 *
 * @example
 * const problems = await certify(await check(history, 'ser', { certify: false }))
 */
export async function certify(result: CheckResult): Promise<string[]> {
  const { history, results } = expectResult(result)
  const { certifyResult } = await import('../verdict/certify.ts')
  const problems = await Promise.all(results.map((each) => certifyResult(history, each)))
  return problems.flatMap((list, i) => list.map((problem) => `${results[i]!.level}: ${problem}`))
}
