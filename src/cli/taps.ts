// `isobar check --tap`: judges chosen anomalous patterns instead of whole levels.

import { counted } from '../base/counted.ts'
import type { Deadline } from '../base/deadline.ts'
import { BudgetExceeded, InternalError, UsageError } from '../base/errors.ts'
import { stringifyLine } from '../base/json.ts'
import { check } from '../check/check.ts'
import { type CheckOptions, deadlineFor, exampleLimit } from '../check/options.ts'
import { checkReads } from '../check/reads/read-consistency.ts'
import { WeakContext } from '../check/weak/context.ts'
import { findPlumePatterns, PLUME_TAPS } from '../check/weak/plume-patterns.ts'
import type { History } from '../history/history.ts'
import { withoutSessionOrder } from '../history/sessionless.ts'
import { findTap } from '../levels/anomalies.ts'
import { EvidenceDescriber } from '../report/describe-evidence.ts'
import { plain } from '../report/names.ts'
import { type Colours, type TextOptions, tellAnomalies } from '../report/text.ts'
import { certifyPlume } from '../verdict/certify-plume.ts'
import { countHistory } from '../verdict/count-history.ts'
import { FILE_VERSION } from '../verdict/file-version.ts'
import type { Anomaly, LevelResult } from '../verdict/verdict.ts'
import { EXIT } from './exit-codes.ts'

interface Pattern {
  tap: string
  name: string
  /** Null if it could not be decided. */
  found: Anomaly[] | null
}

/** What the letters h to n mean: docs/levels.md. */
export const TAP_RULES = ['isobar', 'plume'] as const
export type TapRule = (typeof TAP_RULES)[number]

/** Causal consistency forbids all 14 patterns, so its findings tell which of them occur. */
export function judgeTaps(history: History, taps: string[], rule: TapRule, options: CheckOptions) {
  if (history.sql) {
    const hint = 'ask for levels instead: --level cc'
    throw new UsageError('--tap judges reads and writes of registers, not SQL statements', hint)
  }
  const result = check(history, 'cc', { ...options, byPattern: true })
  const cyclic = result.anomalies.some((anomaly) => anomaly.name === 'CyclicCO')
  const byPlume: readonly string[] = rule === 'plume' ? PLUME_TAPS : []
  const isPlume = (tap: string) => byPlume.includes(tap)
  const plume = taps.some(isPlume) ? judgePlume(history, options) : null
  const patterns = taps.map((tap): Pattern => {
    const { name } = findTap(tap)!
    const named = (anomaly: Anomaly) => anomaly.name === name
    if (isPlume(tap)) return { tap, name, found: plume?.filter(named) ?? null }
    const found = result.anomalies.filter(named)
    // After a cycle in so ∪ wr, causality says nothing more: m and n stay open.
    const open = result.verdict === 'unknown' || (cyclic && (tap === 'm' || tap === 'n'))
    return { tap, name, found: found.length === 0 && open ? null : found }
  })
  return {
    code: exitCode(patterns),
    render: (
      context: { path: string; format: string; json: boolean },
      colours: Colours,
      deadline: Deadline,
    ): Iterable<string> => {
      if (context.json) return renderPatternsJson(history, patterns, { ...context, rule }, deadline)
      const telling = { colours, all: options.all === true, deadline }
      return renderPatterns(history, result, patterns, context.path, telling)
    },
  }
}

/** Patterns by Plume's letters, each with a verified cycle at cc; null if they are not decided. */
function judgePlume(recorded: History, options: CheckOptions): Anomaly[] | null {
  const history = options.sessionOrder === false ? withoutSessionOrder(recorded) : recorded
  const deadline = deadlineFor(options)
  try {
    const context = new WeakContext(history, checkReads(history, deadline), deadline)
    const anomalies = findPlumePatterns(context, exampleLimit(options))
    if (options.certify === false) return anomalies
    for (const anomaly of anomalies ?? []) {
      const problems = certifyPlume(history, anomaly)
      if (problems.length === 0) continue
      throw new InternalError(`${anomaly.name} failed its own certificate: ${problems[0]}`)
    }
    return anomalies
  } catch (error) {
    if (error instanceof BudgetExceeded) return null
    throw error
  }
}

function exitCode(patterns: readonly Pattern[]): number {
  if (patterns.some(({ found }) => found !== null && found.length > 0)) return EXIT.violated
  return patterns.some(({ found }) => found === null) ? EXIT.unknown : EXIT.satisfied
}

function countOf(found: readonly Anomaly[]): number {
  return found.reduce((sum, anomaly) => sum + anomaly.count, 0)
}

function* renderPatternsJson(
  history: History,
  patterns: readonly Pattern[],
  context: { path: string; format: string; rule: TapRule },
  deadline: Deadline,
): Generator<string> {
  const evidence = new EvidenceDescriber(history, deadline)
  const taps = patterns.map(({ tap, name, found }) => ({
    tap,
    name,
    verdict: found === null ? 'unknown' : found.length > 0 ? 'violated' : 'satisfied',
    count: found === null ? null : countOf(found),
    anomalies: evidence.describe(found ?? []),
  }))
  const { path, format, rule } = context
  const about = { isobar: FILE_VERSION, path, format, rule, history: countHistory(history) }
  yield* stringifyLine({ ...about, taps, ...evidence.mentioned() })
}

function* renderPatterns(
  history: History,
  result: LevelResult,
  patterns: readonly Pattern[],
  path: string,
  options: TextOptions & { colours: Colours },
): Generator<string> {
  const { colours } = options
  const lines = [colours.strong(plain(path))]
  for (const { tap, name, found } of patterns) {
    const reads = found === null ? '' : counted(countOf(found), 'read')
    const word =
      found === null
        ? colours.unsure('not decided')
        : found.length > 0
          ? colours.bad(`occurs, ${reads}`)
          : colours.good('does not occur')
    lines.push(`  ${tap} ${name}: ${word}`)
  }
  yield `${lines.join('\n')}\n`
  const anomalies = patterns.flatMap(({ found }) => found ?? [])
  yield* tellAnomalies(history, { ...result, anomalies }, new Map(), options)
}
