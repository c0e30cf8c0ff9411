// What a run is asked for.

import type { CheckOptions } from '../check/options.ts'
import type { Outputs } from '../files/output.ts'
import type { LevelId, LevelRequest } from '../levels/levels.ts'
import type { FaultPlan } from '../record/faults.ts'
import type { RunProgress } from '../record/runner.ts'
import type { Target } from '../record/target.ts'
import type { TransactionFunction } from '../record/work.ts'
import type { WorkloadParameters } from '../workload/parameters.ts'
import type { SqlParameters } from '../workload/sql/parameters.ts'

/** Parameters of a workload, of registers or of SQL transactions: the shape says which. */
export type RunWorkload = Partial<WorkloadParameters> | Partial<SqlParameters>

export interface RunOptions {
  readonly target: Target
  readonly workload: RunWorkload
  /** A workload of the user's own, in place of a planned one. */
  readonly ownWorkload: { path: string; run: TransactionFunction } | null
  /** The level asked of the database; of SQL workloads, also two such as ser+rc, or mixed. */
  readonly dbLevel: string
  /**
   * Levels to judge; null for the profile, with lin where the workload is lightweight, and for each
   * transaction's own level where it is SQL.
   */
  readonly levels: readonly (LevelId | LevelRequest)[] | null
  readonly durationMs: number | null
  readonly rate: number | null
  readonly retries: number
  /** In how many threads the sessions run; as many as pay where nothing is said. */
  readonly threads?: number | undefined
  readonly faults: FaultPlan
  /** Settings of a server that is started for the run. */
  readonly serverSettings?: Readonly<Record<string, string>> | undefined
  /** The history tells the order of commits, too, as the server's own log has it. */
  readonly commitOrder?: boolean | undefined
  /** How long the database may stay away before the run gives up. */
  readonly patienceMs: number
  /** Directory for the files; made if it is not there. */
  readonly directory: string
  /** What else is read and written: the files of the run must be none of that. */
  readonly outputs?: Outputs
  readonly check: CheckOptions
  readonly signal: AbortSignal | null
  /** Ends the run as its time would: what was recorded until then is judged. */
  readonly enough?: AbortSignal | undefined
  readonly onPhase: (phase: RunPhase) => void
  readonly onProgress: ((progress: RunProgress) => void) | null
  /** Version of this program, for the summary. */
  readonly version: string
  /** The command that makes such a run, and the one that judges its record, without secrets. */
  readonly commands?: { run: string; check: (historyPath: string) => string }
}

export type RunPhase = 'starting' | 'running' | 'reading' | 'checking'
