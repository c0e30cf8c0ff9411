// From a history to verdicts, whatever it holds: registers and lists at one level for all go to
// check.ts; SQL statements, and a level for each transaction, to mixed/, loaded only then, for the
// SQL parser is large; values written twice to writers/. Main function: judge.

import type { History } from '../history/history.ts'
import type { LevelId, LevelRequest } from '../levels/levels.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { checkLevels, profile } from './check.ts'
import type { CheckOptions } from './options.ts'
import { withheld } from './partial.ts'

/** @param asked null: every level that applies */
export async function judge(
  history: History,
  asked: readonly (LevelId | LevelRequest)[] | null,
  options: CheckOptions = {},
): Promise<LevelResult[]> {
  const results = await judgeTold(history, asked, options)
  return results.map((result) => withheld(history, result))
}

/** What the history tells, be it everything or not. */
async function judgeTold(
  history: History,
  asked: readonly (LevelId | LevelRequest)[] | null,
  options: CheckOptions,
): Promise<LevelResult[]> {
  if (history.writers !== null) {
    const { judgeWriters } = await import('./writers/judge-writers.ts')
    return judgeWriters(history, asked, options)
  }
  const requests = asked?.map((level) => (typeof level === 'string' ? { level } : level)) ?? null
  if (history.sql === null && !requests?.some(({ level }) => level === 'mixed')) {
    return requests ? checkLevels(history, requests, options) : profile(history, options)
  }
  const { checkMixed } = await import('./mixed/check-mixed.ts')
  if (history.sql !== null || requests === null) return checkMixed(history, requests, options)
  const isMixed = ({ level }: LevelRequest) => level === 'mixed'
  const mixed = checkMixed(history, requests.filter(isMixed), options)
  const plain = requests.filter((request) => !isMixed(request))
  const others = checkLevels(history, plain, options)
  return requests.map((request) => (isMixed(request) ? mixed.shift()! : others.shift()!))
}
