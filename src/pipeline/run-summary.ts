// What a run was and how it went: settings, versions, throughput, aborts, where the time went. As
// data, as JSON for the file, and as a few lines for a person. Secrets have no way in: of the
// target only its place without password is known here.

import { counted } from '../base/counted.ts'
import { type LevelId, levelName } from '../levels/levels.ts'
import type { RunResult } from '../record/runner.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import type { RunJson } from '../verdict/verdict-file.ts'
import type { WorkloadParameters } from '../workload/parameters.ts'
import type { SqlParameters } from '../workload/sql/parameters.ts'
import type { Concurrency } from './concurrency.ts'
import type { RunOptions } from './run-options.ts'
import type { Strength } from './strength/measure-strength.ts'
import { tellOccasions } from './strength/tell-strength.ts'

export interface RunSummary extends Omit<RunJson, 'command' | 'timeline'> {
  readonly isobar: string
  readonly node: string
  readonly platform: string
  readonly durationMs: number | null
  readonly rate: number | null
  readonly retries: number
  /** In how many the sessions ran. */
  readonly threads: number
  readonly abortRate: number
  readonly connectionsCut: number
  readonly serverRestarts: number
  /** How often all that had been written was read while nothing else ran. */
  readonly audits: number
  /** Generation is planning, running and recording; verification is reading and judging. */
  readonly time: RunJson['time'] & Record<'planMs' | 'parseMs' | 'checkMs', number>
  /** How many transactions had company, and over the same keys. */
  readonly concurrency: Concurrency
  /** How often what anomalies take was there; null if nothing was judged. */
  readonly strength: Strength | null
  /** The most memory that this process has used, in bytes. */
  readonly memory: { peakBytes: number }
  readonly verdicts: Record<string, string>
  readonly stoppedBy: string | null
}

interface Given extends Pick<RunSummary, 'database' | 'concurrency' | 'strength'> {
  options: RunOptions
  parameters: WorkloadParameters | SqlParameters
  result: RunResult
  granted: string
  cuts: number
  planMs: number
  threads: number
  parseMs: number
  checkMs: number
  results: readonly LevelResult[]
}

export function summariseRun(given: Given): RunSummary {
  const { options, parameters, result } = given
  const recorded = result.committed + result.aborted + result.indeterminate
  const seconds = Math.max(result.elapsedMs, 1) / 1000
  const generation = given.planMs + result.elapsedMs
  const verification = given.parseMs + given.checkMs
  const { ownWorkload, durationMs, rate, retries } = options
  const { committed, aborted, indeterminate, audits, stoppedBy } = result
  const { database, concurrency, strength } = given
  return {
    isobar: options.version,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    database,
    level: { asked: options.dbLevel, granted: given.granted },
    workload: {
      ...parameters,
      ...(durationMs === null ? {} : { transactions: null }),
      ...(ownWorkload === null ? {} : { shape: 'own', module: ownWorkload.path }),
    },
    faults: { ...options.faults },
    durationMs,
    rate,
    retries,
    threads: given.threads,
    transactions: {
      recorded,
      committed,
      aborted,
      indeterminate,
      /** The database's own code -> how often. */
      failures: Object.fromEntries([...result.failures].sort((a, b) => b[1] - a[1])),
    },
    throughput: {
      perSecond: round(recorded / seconds, 1),
      commitsPerSecond: round(result.committed / seconds, 1),
    },
    abortRate: recorded === 0 ? 0 : round(result.aborted / recorded, 4),
    connectionsCut: given.cuts,
    serverRestarts: result.restarts,
    audits,
    time: {
      planMs: round(given.planMs, 1),
      runMs: round(result.elapsedMs, 1),
      parseMs: round(given.parseMs, 1),
      checkMs: round(given.checkMs, 1),
      generationShare: round(generation / (generation + verification), 4),
      verificationShare: round(verification / (generation + verification), 4),
    },
    concurrency,
    strength,
    memory: { peakBytes: process.resourceUsage().maxRSS * 1024 },
    verdicts: Object.fromEntries(given.results.map((each) => [each.level, each.verdict])),
    stoppedBy: stoppedBy instanceof Error ? stoppedBy.message : (stoppedBy ?? null),
  }
}

export function renderSummaryJson(summary: RunSummary): string {
  return `${JSON.stringify(summary, null, 2)}\n`
}

/** A few lines for a person. */
export function renderSummary(summary: RunSummary): string {
  const { database, level, transactions, throughput, time } = summary
  const { recorded, aborted, indeterminate } = transactions
  const failures = Object.entries(transactions.failures).map(([code, count]) => `${count} ${code}`)
  const share = (part: number) => `${(100 * part).toFixed(1)} %`
  const abortShare = recorded === 0 ? 0 : aborted / recorded
  const lines = [
    `${database.name} at ${database.place}, asked for ${describeAsked(level.asked)}, granted ${level.granted}`,
    `${counted(recorded, 'transaction')} in ${(time.runMs / 1000).toFixed(1)} s: ${Math.round(throughput.commitsPerSecond)} commits/s, ` +
      `${share(abortShare)} aborted, ${indeterminate} indeterminate` +
      (failures.length > 0 ? ` (${failures.slice(0, 5).join(', ')})` : ''),
  ]
  if (summary.connectionsCut > 0) lines.push(`${summary.connectionsCut} connections cut`)
  if (summary.serverRestarts > 0) lines.push(`${summary.serverRestarts} restarts of the server`)
  if (summary.audits > 1) lines.push(`${summary.audits} audits of all that had been committed`)
  if (summary.strength) lines.push(tellOccasions(summary.strength))
  if (Object.keys(summary.verdicts).length > 0) {
    lines.push(
      `time: ${share(time.generationShare)} generation (${seconds(time.planMs + time.runMs)}), ` +
        `${share(time.verificationShare)} verification (${seconds(time.parseMs + time.checkMs)})`,
    )
  }
  return `${lines.join('\n')}\n`
}

/** `ser+rc (Serializability and Read Committed)` */
export function describeAsked(asked: string): string {
  if (asked.includes('=')) return asked
  const names = asked.split('+').map((level) => levelName(level as LevelId))
  return `${asked} (${names.join(' and ')})`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}
