// Verifies verdicts, independently of whatever decided them: calls no decider and imports nothing
// of check/. Registers and lists go to certify-plain.ts; SQL statements, and a level for each
// transaction, to certify-mixed.ts, loaded only then, for its parser. Main function: certifyResult.

import { Deadline } from '../base/deadline.ts'
import type { History } from '../history/history.ts'
import type { LevelResult } from './verdict.ts'

/**
 * What is wrong with a verdict and its evidence, in words; an empty list if the verdict stands. The
 * result is left as it is. Of an `unknown` verdict there is nothing to verify.
 */
export async function certifyResult(
  history: History,
  result: LevelResult,
  deadline: Deadline = Deadline.none(),
): Promise<string[]> {
  if (history.partial !== null && result.verdict === 'satisfied') {
    return ['the history is partial: by what it tells alone nothing is satisfied']
  }
  // It chooses among the writers of values that were written twice.
  const chooses = result.sources ?? result.anomalies.find(({ given }) => given !== undefined)
  if (history.writers !== null || chooses !== undefined) {
    const { certifyWriters } = await import('./certify-writers.ts')
    return certifyWriters(history, result, deadline).problems
  }
  if (history.sql === null && result.level !== 'mixed') {
    const { certifyPlain } = await import('./certify-plain.ts')
    return certifyPlain(history, result, deadline).problems
  }
  const { certifyMixed } = await import('./certify-mixed.ts')
  return certifyMixed(history, result, deadline).problems
}
