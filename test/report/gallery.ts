// A small history for every kind of anomaly, as the reports are shown to draw each of them.

import { checkLevels, profile } from '../../src/check/check.ts'
import { parseNotation } from '../../src/history/notation.ts'
import { ANOMALY_ENTRIES } from '../../src/levels/glossary-anomalies.ts'
import type { LevelId } from '../../src/levels/levels.ts'
import { describeVerdict } from '../../src/report/describe-verdict.ts'
import type { VerdictJson } from '../../src/verdict/verdict-file.ts'

export interface Exhibit {
  /** The anomaly that its verdict names. */
  readonly name: string
  /** The level to judge, where a weaker one would give it another name; else the profile. */
  readonly level?: LevelId
  readonly notation: string
}

export const GALLERY: readonly Exhibit[] = ANOMALY_ENTRIES.filter(
  ({ history }) => !history.startsWith('{'),
).map(({ name, history, level }) => ({ name, notation: history, ...(level && { level }) }))

/** Two pairs of writes in unknown order, and a contradiction in each of the four cases. */
export const CASE_SPLIT = [
  's1: w(x,1) w(p,1)',
  's2: w(x,2) w(q,1)',
  's3: w(y,1) w(u,1)',
  's4: w(y,2) w(v,1)',
  's5: r(x,1) r(u,1) r(v,1)',
  's6: r(x,2) r(u,1) r(v,1)',
  's7: r(y,1) r(p,1) r(q,1)',
  's8: r(y,2) r(p,1) r(q,1)',
].join('\n')

/** The verdict on a history in notation, as a report gets it. */
export function judge(
  notation: string,
  level?: LevelId,
  path = 'history.txt',
  all = false,
): VerdictJson {
  const history = parseNotation(notation)
  const results =
    level === undefined ? profile(history) : checkLevels(history, [level], { all, limit: 1000 })
  const asked = level === undefined ? null : [level]
  const command = `isobar check ${path}${level === undefined ? '' : ` --level ${level}`}`
  const context = { path, format: 'notation', parseMs: 0, asked, command }
  const verdict = describeVerdict(history, results, context)
  // Times differ from run to run; nothing else may.
  for (const result of verdict.results) Object.assign(result, { elapsedMs: 0, stages: {} })
  return verdict
}
