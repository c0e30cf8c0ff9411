// Verifies a verdict file against its history: the evidence by the certifier, and all that the file
// says about it by telling it again, word for word. So nothing in a file that was verified is the
// file's own invention, but for how the verdict came about (path, command, algorithm, times, run).
// Main function: verifyFile.

import { findDifference } from '../base/difference.ts'
import type { History } from '../history/history.ts'
import { certifyResult } from '../verdict/certify.ts'
import { resolveResults } from '../verdict/resolve-file.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import type { ResultJson, VerdictJson } from '../verdict/verdict-file.ts'
import { describeVerdict } from './describe-verdict.ts'

export interface Verified {
  readonly result: LevelResult
  /** What is wrong with it; empty if it stands. */
  readonly problems: readonly string[]
}

/** Whether the verdict is on a history in which values were written twice. */
export function namesWriters({ results }: VerdictJson): boolean {
  return results.some(
    ({ sources, anomalies }) =>
      sources !== undefined || anomalies.some(({ given }) => given !== undefined),
  )
}

/** Every verdict of the file, in its order. Throws InputError if it is about another history. */
export async function verifyFile(history: History, file: VerdictJson): Promise<Verified[]> {
  const results = resolveResults(history, file)
  const verified: Verified[] = []
  for (const result of results) {
    verified.push({ result, problems: await certifyResult(history, result) })
  }
  // What is not true cannot be told.
  if (verified.some(({ problems }) => problems.length > 0)) return verified
  const untrue = findUntrue(history, file, results)
  return results.map((result, i) => ({ result, problems: untrue[i]! }))
}

/**
 * For each verdict what the file says of it that does not follow from its evidence.
 * @param results those of the file, with evidence that was verified
 */
export function findUntrue(
  history: History,
  file: VerdictJson,
  results: readonly LevelResult[],
): string[][] {
  const { path, format } = file
  const all = file.results.some(({ witness }) => witness?.rows !== undefined)
  const told = describeVerdict(history, results, { path, format, parseMs: 0, all })
  if (file.overview === undefined) delete told.overview // earlier versions wrote none
  const whole = findDifference(shared(file), shared(told))
  return results.map((_, i) => {
    const own = findDifference(claims(file.results[i]!), claims(told.results[i]!))
    const differs = own === null ? whole : `results[${i}].${own}`
    return differs === null ? [] : [`${differs} says what is not so`]
  })
}

/** What the file says of all levels together. */
function shared({ history, initial, strongest, weakestViolated, ...file }: VerdictJson) {
  const { transactions, tables, unit, overview } = file
  return { history, initial, unit, strongest, weakestViolated, transactions, tables, overview }
}

/** What a verdict says of the history; the rest is about how it came about. */
function claims({ level, sessionOrder, realTime, bound, abortedReads, ...result }: ResultJson) {
  const { verdict, position, anomalies, proof, sources, staleness, witness } = result
  const asked = { level, sessionOrder, realTime, bound, abortedReads }
  return { ...asked, verdict, position, anomalies, proof, sources, staleness, witness }
}
