// Does a job: makes the run or reads the history, has it judged, and shrinks what violates a level
// to a finding with a fingerprint. What goes wrong is a result, too, with whose fault it is. Main
// function: perform.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { Deadline, nowMs } from '../base/deadline.ts'
import { BudgetExceeded, DatabaseError, InputError, UsageError } from '../base/errors.ts'
import { judge } from '../check/judge.ts'
import type { CheckOptions } from '../check/options.ts'
import type { History } from '../history/history.ts'
import { renderNotation } from '../history/render-notation.ts'
import { readLevel } from '../levels/words.ts'
import { readInput } from '../library/input.ts'
import { measureConcurrency } from '../pipeline/concurrency.ts'
import { run } from '../pipeline/run.ts'
import { measureStrength } from '../pipeline/strength/measure-strength.ts'
import { describeVerdict } from '../report/describe-verdict.ts'
import { scopeOf } from '../report/scope.ts'
import { shrinkHistory } from '../verdict/shrink.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import { fingerprintOf } from './fingerprint.ts'
import { type FileJob, optionsOf, type RunJob } from './job.ts'
import {
  type Blame,
  failure,
  type JobResult,
  type Measures,
  type Occurrence,
  type Task,
} from './result.ts'

export interface Surroundings {
  /** Where files of the job may be while it lasts. */
  readonly directory: string
  readonly version: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** A history that was judged. */
interface Judged {
  readonly history: History
  readonly results: readonly LevelResult[]
  readonly measures: Measures
  /** The bytes of the history. */
  readonly bytes: () => Uint8Array
  /** What ended the run before its time. */
  readonly stoppedBy: string | null
}

export async function perform(task: Task, around: Surroundings): Promise<JobResult> {
  const started = nowMs()
  const directory = mkdtempSync(join(around.directory, 'job-'))
  try {
    const { job } = task
    const judged =
      job.kind === 'run'
        ? await performRun(job, task, directory, around)
        : await performFile(job, task)
    const occurrences: Occurrence[] = []
    for (const result of judged.results) {
      if (result.verdict !== 'violated') continue
      occurrences.push(await findOccurrence(judged.history, result, task.budgetMs))
    }
    const { keep } = task
    const isKept = keep === 'all' || (keep === 'findings' && occurrences.length > 0)
    return {
      ...outcomeOf(judged),
      verdicts: Object.fromEntries(judged.results.map((each) => [levelOf(each), each.verdict])),
      measures: judged.measures,
      occurrences,
      elapsedMs: nowMs() - started,
      history: isKept ? gzipSync(judged.bytes(), { level: 1 }) : null,
    }
  } catch (error) {
    return failure(blameOf(error), reasonOf(error), nowMs() - started)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function performRun(
  job: RunJob,
  { budgetMs }: Task,
  directory: string,
  { version, environment }: Surroundings,
): Promise<Judged> {
  const options = optionsOf(job, { directory, budgetMs, version, environment })
  const { summary, judged, paths, stoppedBy } = await run(options)
  const { history, results } = judged!
  return {
    history,
    results,
    measures: {
      database: summary.database.name,
      transactions: summary.transactions.recorded,
      commitsPerSecond: summary.throughput.commitsPerSecond,
      abortRate: summary.abortRate,
      checkMs: summary.time.parseMs + summary.time.checkMs,
      peakBytes: summary.memory.peakBytes,
      concurrency: summary.concurrency,
      strength: summary.strength!,
    },
    bytes: () => readFileSync(paths.history),
    stoppedBy: stoppedBy instanceof Error ? stoppedBy.message : null,
  }
}

async function performFile(job: FileJob, { bytes, budgetMs }: Task): Promise<Judged> {
  const started = nowMs()
  const history = await readInput(bytes!)
  const results = await judge(history, job.levels.map(readLevel), { budgetMs })
  return {
    history,
    results,
    measures: {
      database: null,
      transactions: history.txnCount,
      commitsPerSecond: null,
      abortRate: null,
      checkMs: nowMs() - started,
      peakBytes: process.resourceUsage().maxRSS * 1024,
      concurrency: measureConcurrency(history),
      strength: measureStrength(history),
    },
    bytes: () => bytes!,
    stoppedBy: null,
  }
}

/** The worst of the verdicts; a run that broke off without a violation has failed. */
function outcomeOf({
  results,
  stoppedBy,
}: Judged): Pick<JobResult, 'outcome' | 'reason' | 'blame'> {
  if (results.some(({ verdict }) => verdict === 'violated')) {
    return { outcome: 'violated', reason: null, blame: null }
  }
  if (stoppedBy !== null) return { outcome: 'failed', reason: stoppedBy, blame: 'database' }
  const unknown = results.find(({ verdict }) => verdict === 'unknown')
  if (unknown) return { outcome: 'unknown', reason: unknown.reason, blame: null }
  return { outcome: 'satisfied', reason: null, blame: null }
}

/** The level with its orders: two words may ask for one level under different orders. */
function levelOf(result: LevelResult): string {
  return `${result.level}${scopeOf(result)}`
}

/** The least of the history that violates the level; as far as it was found within the budget. */
async function findOccurrence(
  history: History,
  known: LevelResult,
  budgetMs: number,
): Promise<Occurrence> {
  const { level, sessionOrder = true, realTime = false, bound, abortedReads } = known
  const deadline = new Deadline(budgetMs, null, null)
  const options: CheckOptions = { budgetMs, ...(abortedReads ? { abortedReads } : {}) }
  const decide = async (part: History) =>
    (
      await judge(
        part,
        [{ level, sessionOrder, realTime, ...(bound === undefined ? {} : { bound }) }],
        options,
      )
    )[0]!
  const shrunk = await shrinkHistory(history, decide, {
    // Where another level settled it, there is no evidence to begin with.
    ...(known.anomalies.length > 0 ? { known } : {}),
    whole: level === 'lin',
    onStep: () => deadline.check(),
  })
  // Where only another level settles it in time, it is known still, and there is no evidence.
  const result = shrunk.result.verdict === 'violated' ? shrunk.result : known
  const names = [...new Set(result.anomalies.map(({ name }) => name))].sort().join(', ')
  const context = { path: 'finding', format: 'notation', parseMs: 0 }
  return {
    level: levelOf(known),
    fingerprint: fingerprintOf(shrunk.history, result),
    anomalies: names || 'a violation without evidence',
    transactions: shrunk.history.txnCount,
    notation: renderNotation(shrunk.history),
    verdict: describeVerdict(shrunk.history, [result], context),
  }
}

function blameOf(error: unknown): Blame {
  if (error instanceof DatabaseError) return 'database'
  if (error instanceof UsageError) return 'plan'
  return error instanceof InputError && error.code !== 'unwritable-file' ? 'history' : 'machine'
}

function reasonOf(error: unknown): string {
  if (error instanceof InputError) return error.describe()
  if (error instanceof UsageError || error instanceof DatabaseError) return error.message
  if (error instanceof BudgetExceeded) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
