// What came of a job, as the processes of a fleet tell each other and as the tables hold it.

import type { Concurrency } from '../pipeline/concurrency.ts'
import type { Strength } from '../pipeline/strength/measure-strength.ts'
import type { VerdictJson } from '../verdict/verdict-file.ts'
import type { Job } from './job.ts'

/** A verdict, or `failed`: there is none, and a reason why. */
export type JobOutcome = 'satisfied' | 'violated' | 'unknown' | 'failed'

/**
 * Whose fault it is that there is no verdict: the machine's (a process died, ran out of time, memory
 * or disk), the database's, the history's, or the plan's (a target that the worker may not use).
 */
export type Blame = 'machine' | 'database' | 'history' | 'plan'

/** One violation, shrunk. */
export interface Occurrence {
  /** As in `verdicts`. */
  readonly level: string
  readonly fingerprint: string
  /** Names of the anomalies. */
  readonly anomalies: string
  /** Transactions of the shrunk history. */
  readonly transactions: number
  /** The shrunk history in notation. */
  readonly notation: string
  /** The verdict on the shrunk history. */
  readonly verdict: VerdictJson
}

/** What was measured of a run; null where there was none. */
export interface Measures {
  readonly database: string | null
  readonly transactions: number
  readonly commitsPerSecond: number | null
  readonly abortRate: number | null
  readonly checkMs: number
  readonly peakBytes: number
  readonly concurrency: Concurrency
  readonly strength: Strength
}

export interface JobResult {
  readonly outcome: JobOutcome
  readonly reason: string | null
  readonly blame: Blame | null
  /** Level, with its orders where they are not the usual ones -> verdict. */
  readonly verdicts: Readonly<Record<string, string>>
  readonly measures: Measures | null
  readonly occurrences: readonly Occurrence[]
  readonly elapsedMs: number
  /** The whole history, compressed, if it is to be kept. */
  readonly history: Uint8Array | null
}

/** What a process is asked to do. */
export interface Task {
  readonly job: Job
  /** The bytes of a history that came as a file. */
  readonly bytes: Uint8Array | null
  readonly budgetMs: number
  readonly keep: 'none' | 'findings' | 'all'
}

/** A result without a verdict. */
export function failure(blame: Blame, reason: string, elapsedMs: number): JobResult {
  return {
    ...{ outcome: 'failed', blame, reason, elapsedMs },
    ...{ verdicts: {}, measures: null, occurrences: [], history: null },
  }
}
