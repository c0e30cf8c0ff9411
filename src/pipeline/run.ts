// The main job: stress a database, record what its clients saw, judge the record. Everything goes
// into one directory: the history as it happens, then the verdict and a summary of the run, from
// which the same run can be asked for again.

import { join } from 'node:path'
import { nowMs } from '../base/deadline.ts'
import { DatabaseError, UsageError } from '../base/errors.ts'
import { stringifyLine } from '../base/json.ts'
import { judge } from '../check/judge.ts'
import { makeDirectories } from '../files/make-directories.ts'
import { Outputs } from '../files/output.ts'
import { unwritable } from '../files/write.ts'
import { readHistory } from '../formats/open.ts'
import type { History } from '../history/history.ts'
import { idOf, implies, type LevelId } from '../levels/levels.ts'
import { addCommitVersions } from '../record/commit-versions.ts'
import type { CommitLog, Database } from '../record/database.ts'
import { Recorder } from '../record/recorder.ts'
import { type RunResult, runSessions } from '../record/runner.ts'
import { type OpenTarget, openTarget } from '../record/target.ts'
import { describeVerdict, type JsonContext } from '../report/describe-verdict.ts'
import { buildTimeline } from '../report/timeline.ts'
import type { LevelResult } from '../verdict/verdict.ts'
import type { RunJson, VerdictJson } from '../verdict/verdict-file.ts'
import type { WorkloadParameters } from '../workload/parameters.ts'
import type { SqlParameters } from '../workload/sql/parameters.ts'
import { measureConcurrency } from './concurrency.ts'
import type { RunOptions } from './run-options.ts'
import { type RunSummary, renderSummaryJson, summariseRun } from './run-summary.ts'
import { threadsOf } from './run-threads.ts'
import {
  expectCommitOrder,
  expectFaults,
  expectLevels,
  isLightweight,
  isSql,
  levelsAsked,
  makeWork,
  parametersOf,
} from './run-work.ts'
import { measureStrength } from './strength/measure-strength.ts'

export interface RunOutcome {
  readonly summary: RunSummary
  /** Null if the run was interrupted: then nothing is judged. */
  readonly judged: { history: History; results: LevelResult[]; verdict: VerdictJson } | null
  /** What ended the run before its time, if anything did. */
  readonly stoppedBy: RunResult['stoppedBy']
  readonly paths: { history: string; verdict: string | null; summary: string }
}

/** The run was aborted before it recorded anything. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/**
 * Throws UsageError, InputError, DatabaseError, Interrupted; what was recorded before stays on
 * disk.
 */
export async function run(options: RunOptions): Promise<RunOutcome> {
  const parameters = parametersOf(options)
  expectLevels(options)
  expectFaults(options)
  expectCommitOrder(options)
  options.onPhase('starting')
  const { sessions, seed } = parameters
  const levels = levelsAsked(options)
  const { faults, patienceMs, serverSettings, commitOrder } = options
  const files = claimFiles(options)
  const target = await openTarget(options.target, {
    ...{ levels, sessions, seed, faults, patienceMs, serverSettings, commitOrder },
  })
  let recorded: Recorded
  try {
    recorded = await record(target, parameters, options)
  } finally {
    await target.close()
  }
  const { result, historyPath, planMs, threads, granted, commits } = recorded
  const nothing = result.committed + result.aborted + result.indeterminate === 0
  if (result.stoppedBy instanceof Error) {
    if (nothing || !(result.stoppedBy instanceof DatabaseError)) throw result.stoppedBy
  }
  const judged =
    result.stoppedBy === 'signal' ? null : await judgeRecord(historyPath, commits, options)
  const summary = summariseRun({
    options,
    parameters,
    result,
    granted,
    database: { name: target.database.name, place: target.database.place },
    cuts: target.proxies.reduce((sum, { cutCount }) => sum + cutCount, 0),
    planMs,
    threads,
    parseMs: judged?.parseMs ?? 0,
    checkMs: judged?.checkMs ?? 0,
    results: judged?.results ?? [],
    strength: judged && measureStrength(judged.history),
    concurrency: judged ? measureConcurrency(judged.history) : { overlapping: 0, conflicting: 0 },
  })
  const paths = {
    history: historyPath,
    verdict: judged ? join(options.directory, 'verdict.json') : null,
    summary: join(options.directory, 'run.json'),
  }
  files.summary.writeText(renderSummaryJson(summary))
  if (!judged) return { summary, judged: null, stoppedBy: result.stoppedBy, paths }
  const verdict = describeRun(judged, summary, options)
  files.verdict.writePieces(stringifyLine(verdict))
  const { history, results } = judged
  return { summary, judged: { history, results, verdict }, stoppedBy: result.stoppedBy, paths }
}

/** Refuses the directory of another run before anything is started; nothing in it is replaced. */
function claimFiles({ directory, outputs = new Outputs() }: RunOptions) {
  const claim = (name: string) =>
    outputs.claim(join(directory, name), '--out', { keep: true, parents: true })
  claim('history.jsonl')
  return { summary: claim('run.json'), verdict: claim('verdict.json') }
}

/** The verdict with the run that it is about. */
function describeRun(judged: Judged, summary: RunSummary, options: RunOptions): VerdictJson {
  const { history, results, context } = judged
  const timeline = buildTimeline(history)
  const run: RunJson = { ...summary, command: options.commands?.run ?? null, timeline }
  return describeVerdict(history, results, {
    ...context,
    asked: options.levels?.map(idOf) ?? null,
    run,
  })
}

interface Recorded {
  result: RunResult
  historyPath: string
  planMs: number
  threads: number
  granted: string
  /** What the server's log says of the order of commits, if it was asked for. */
  commits: CommitLog | null
}

async function record(
  target: OpenTarget,
  parameters: WorkloadParameters | SqlParameters,
  options: RunOptions,
): Promise<Recorded> {
  const { database } = target
  const { dbLevel, durationMs, ownWorkload } = options
  const started = nowMs()
  const made = makeWork(database, parameters, options)
  const { work, sql, levels } = made
  const planMs = nowMs() - started
  const threads = threadsOf(options, parameters, made, target)
  expectReading(database, levels, options)
  const names: string[] = []
  for (const level of levels) names.push(await database.grantedLevel(level))
  const granted = names.join(' and ')
  if (options.signal?.aborted) throw new Interrupted()
  if (sql) await database.addTables(sql.tables, sql.rows)
  makeDirectory(options.directory)
  const historyPath = join(options.directory, 'history.jsonl')
  const about = {
    database: database.name,
    asked: dbLevel,
    granted,
    workload: ownWorkload ? 'own' : parameters.shape,
    seed: parameters.seed,
  }
  const commits = options.commitOrder ? await openCommitLog(database) : null
  const recorder = new Recorder(historyPath, about, sql)
  try {
    options.onPhase('running')
    const result = await runSessions({
      ...options,
      database,
      recorder,
      work,
      tables: sql?.tables ?? [],
      isLightweight: isLightweight(options),
      level: levels.at(-1)!,
      sessions: parameters.sessions,
      seed: parameters.seed,
      durationMs,
      proxies: target.proxies,
      makers: target.makers,
      threads,
    })
    const isWhole = result.stoppedBy === null // else the server may be gone, and its log
    if (isWhole) await commits?.finish()
    return {
      result,
      historyPath,
      planMs,
      threads: threads?.count ?? 1,
      granted,
      commits: isWhole ? commits : null,
    }
  } finally {
    recorder.close()
    await commits?.close()
  }
}

/** Throws UsageError where no log tells the order of all commits. */
function openCommitLog(database: Database): Promise<CommitLog> {
  if (database.openCommitLog && database.isAudited) return database.openCommitLog()
  throw new UsageError(
    `${database.name} does not tell the order of all commits`,
    '--commit-order is for one PostgreSQL, with or without replicas',
  )
}

/** Throws UsageError if replicas, where there are any, cannot do what is asked. */
function expectReading(
  { nodes = [] }: Database,
  levels: readonly LevelId[],
  options: RunOptions,
): void {
  if (!nodes.some(({ isReader }) => isReader)) return
  if (isSql(options) || isLightweight(options)) {
    throw new UsageError(
      'replicas only answer reads, and this workload cannot do without writing',
      'choose churn, mini, general or append',
    )
  }
  if (levels.some((level) => implies(level, 'ser'))) {
    throw new UsageError('replicas do not answer at SERIALIZABLE', 'ask for --db-level si or rc')
  }
}

interface Judged {
  history: History
  results: LevelResult[]
  context: JsonContext
  parseMs: number
  checkMs: number
}

async function judgeRecord(
  path: string,
  commits: CommitLog | null,
  options: RunOptions,
): Promise<Judged> {
  options.onPhase('reading')
  if (commits) await addCommitVersions(path, commits)
  const started = nowMs()
  const { history, format } = await readHistory(path)
  const parseMs = nowMs() - started
  options.onPhase('checking')
  const checkStarted = nowMs()
  const asked = options.levels ?? (isSql(options) ? ['mixed' as const] : null)
  const results = await judge(history, asked, options.check)
  if (asked === null && isLightweight(options)) {
    results.push(...(await judge(history, ['lin'], options.check)))
  }
  const checkMs = nowMs() - checkStarted
  const command = options.commands?.check(path) ?? null
  const context = { path, format: format.id, parseMs, command }
  return { history, results, context, parseMs, checkMs }
}

function makeDirectory(directory: string): void {
  try {
    makeDirectories(directory)
  } catch (error) {
    throw unwritable(error, directory)
  }
}
