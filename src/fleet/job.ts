// A job: one run against a database, or one history of a file, to be judged. It is plain data: what
// is run is made of it here, by the worker, and nothing that comes from a queue is code. Main
// functions: optionsOf, levelsOf, commandOf.

import { UsageError } from '../base/errors.ts'
import { shellWord } from '../base/shell.ts'
import type { LevelRequest } from '../levels/levels.ts'
import { readDatabaseLevel, readLevel, readLevelBeside } from '../levels/words.ts'
import type { RunOptions } from '../pipeline/run-options.ts'
import { isSql } from '../pipeline/run-work.ts'
import { parseFaultPlan } from '../record/faults.ts'
import type { Target } from '../record/target.ts'
import { parseTarget } from '../record/targets.ts'
import { DEFAULT_SHAPE } from '../workload/parameters.ts'
import { isSqlShape } from '../workload/sql/parameters.ts'

export interface RunJob {
  readonly kind: 'run'
  /** As in `isobar run`, or env:NAME. */
  readonly target: string
  readonly shape: string | null
  readonly parameters: Readonly<Record<string, number | string>>
  /** Null: the usual one of the target. */
  readonly dbLevel: string | null
  /** Null: what the database was asked for. */
  readonly levels: readonly string[] | null
  readonly faults: readonly string[]
  readonly durationMs: number | null
  readonly seed: number
  readonly repeat: number
}

export interface FileJob {
  readonly kind: 'file'
  /** As it was named where the plan is; nobody opens it by that name. */
  readonly path: string
  readonly levels: readonly string[]
  /** Null: all of the history. */
  readonly part: FilePart | null
  /** The job whose bytes it judges; null: its own. */
  readonly input: number | null
}

/** Which of the parts that do not communicate, from 1. */
export interface FilePart {
  readonly number: number
  readonly of: number
}

export type Job = RunJob | FileJob

const PATIENCE_MS = 15_000
const ENVIRONMENT = /^env:(\w+)$/

/** The variable that holds the target; null if the target stands in the plan. */
export function variableOf(target: string): string | null {
  return ENVIRONMENT.exec(target)?.[1] ?? null
}

type Environment = Readonly<Record<string, string | undefined>>

/** The text of the target, which only workers know where it is a secret. Throws UsageError. */
export function resolveTarget(target: string, environment: Environment): string {
  const variable = variableOf(target)
  if (variable === null) return target
  const text = environment[variable]
  if (text !== undefined && text !== '') return text
  throw new UsageError(`${variable} is not set`, `set it where the worker runs: it is ${target}`)
}

/** What a job is made with besides what it says. */
export interface JobSetting {
  readonly directory: string
  readonly budgetMs: number
  readonly version: string
  readonly environment: Environment
}

/** The run that a job asks for. Throws UsageError. */
export function optionsOf(job: RunJob, setting: JobSetting): RunOptions {
  const text = resolveTarget(job.target, setting.environment)
  const target = parseTarget(text, setting.environment)
  const { seed, faults, durationMs } = job
  const command = commandOf(job)
  const options: RunOptions = {
    target,
    workload: { ...job.parameters, shape: shapeOf(job), seed } as RunOptions['workload'],
    ownWorkload: null,
    dbLevel: dbLevelOf(job, target),
    levels: null,
    durationMs,
    rate: null,
    retries: 0,
    faults: parseFaultPlan(faults),
    patienceMs: PATIENCE_MS,
    directory: setting.directory,
    check: { budgetMs: setting.budgetMs },
    signal: null,
    onPhase: () => {},
    onProgress: null,
    version: setting.version,
    commands: { run: command, check: (path) => `isobar check ${path}` },
  }
  return { ...options, levels: levelsOf(job, target, options) }
}

/** The levels to judge a run at. */
function levelsOf(job: RunJob, target: Target, options: RunOptions): LevelRequest[] {
  if (job.levels !== null) return job.levels.map((word) => readLevelBeside(word, target.levels))
  return [isSql(options) ? { level: 'mixed' } : readLevel(options.dbLevel)]
}

function shapeOf({ shape, parameters }: RunJob): string {
  const isAimed = parameters['aim'] !== undefined
  if (isAimed && shape !== null && shape !== 'aimed') {
    throw new UsageError(`an aim is for the shape aimed, not for ${shape}`)
  }
  return shape ?? (isAimed ? 'aimed' : DEFAULT_SHAPE)
}

function dbLevelOf(job: RunJob, target: Target): string {
  const { dbLevel } = job
  if (dbLevel === null) return target.usualLevel
  const read = (word: string) => readDatabaseLevel(word, target.product, target.levels)
  if (!isSqlShape(shapeOf(job))) return read(dbLevel)
  return dbLevel === 'mixed' ? dbLevel : dbLevel.split('+').map(read).join('+')
}

/** The one command that does what the job does. */
export function commandOf(job: Job): string {
  if (job.kind === 'file') {
    return `isobar check ${shellWord(job.path)} --level ${shellWord(job.levels.join(','))}`
  }
  const variable = variableOf(job.target)
  const words = ['isobar run', variable === null ? shellWord(job.target) : `"$${variable}"`]
  const { aim, ...sizes } = job.parameters
  if (job.shape !== null && aim === undefined) words.push('--shape', job.shape)
  if (aim !== undefined) words.push('--aim', shellWord(String(aim)))
  for (const [name, value] of Object.entries(sizes))
    words.push(`--${name}`, shellWord(String(value)))
  if (job.durationMs !== null) words.push('--duration', `${job.durationMs}ms`)
  if (job.dbLevel !== null) words.push('--db-level', shellWord(job.dbLevel))
  for (const fault of job.faults) words.push('--fault', shellWord(fault))
  if (job.levels !== null) words.push('--level', shellWord(job.levels.join(',')))
  return [...words, '--seed', String(job.seed)].join(' ')
}
