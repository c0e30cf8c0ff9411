// `isobar check --tap`: judges chosen anomalous patterns instead of whole levels.

import type { Deadline } from '../base/deadline.ts'
import { UsageError } from '../base/errors.ts'
import { type CheckOptions, check } from '../check/check.ts'
import type { History } from '../history/history.ts'
import { findTap } from '../levels/anomalies.ts'
import { describeAnomalies, stringifyPieces } from '../report/json.ts'
import { plain } from '../report/names.ts'
import { countHistory } from '../report/summary.ts'
import { type Colours, type TextOptions, tellAnomalies } from '../report/text.ts'
import { JSON_VERSION } from '../report/verdict-json.ts'
import type { Anomaly, LevelResult } from '../verdict/verdict.ts'
import { EXIT } from './exit-codes.ts'

interface Judged {
  code: number
  render(
    context: { path: string; format: string; json: boolean },
    colours: Colours,
    deadline: Deadline,
  ): Iterable<string>
}

interface Pattern {
  tap: string
  name: string
  /** Null if it could not be decided. */
  found: Anomaly[] | null
}

/** Causal consistency forbids all 14 patterns, so its findings tell which of them occur. */
export function judgeTaps(history: History, taps: string[], options: CheckOptions): Judged {
  if (history.sql) {
    const hint = 'ask for levels instead: --level cc'
    throw new UsageError('--tap judges reads and writes of registers, not SQL statements', hint)
  }
  const result = check(history, 'cc', options)
  const cyclic = result.anomalies.some((anomaly) => anomaly.name === 'CyclicCO')
  const patterns = taps.map((tap): Pattern => {
    const { name } = findTap(tap)!
    const found = result.anomalies.filter((anomaly) => anomaly.name === name)
    // After a cycle in so ∪ wr, causality says nothing more: m and n stay open.
    const open = result.verdict === 'unknown' || (cyclic && (tap === 'm' || tap === 'n'))
    return { tap, name, found: found.length === 0 && open ? null : found }
  })
  return {
    code: exitCode(patterns),
    render: (context, colours, deadline) =>
      context.json
        ? renderPatternsJson(history, patterns, context, deadline)
        : renderPatterns(history, result, patterns, context.path, {
            colours,
            all: options.all === true,
            deadline,
          }),
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
  context: { path: string; format: string },
  deadline: Deadline,
): Generator<string> {
  const taps = patterns.map(({ tap, name, found }) => ({
    tap,
    name,
    verdict: found === null ? 'unknown' : found.length > 0 ? 'violated' : 'satisfied',
    count: found === null ? null : countOf(found),
    anomalies: describeAnomalies(history, found ?? [], deadline),
  }))
  const { path, format } = context
  const counts = { ...countHistory(history) }
  yield* stringifyPieces({ isobar: JSON_VERSION, path, format, history: counts, taps })
  yield '\n'
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
    const reads = found === null ? '' : `${countOf(found)} reads`
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
