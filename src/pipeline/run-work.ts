// What a run does: operations on registers, planned or the user's own, or SQL transactions, each of
// which may ask for a level of its own. From the options of a run to its parameters, the levels it
// asks for, and its work.

import { UsageError } from '../base/errors.ts'
import { idOf, type LevelId, OWN_LEVELS, STATEMENT_LEVELS } from '../levels/levels.ts'
import type { Database } from '../record/database.ts'
import { SqlWork } from '../record/sql-work.ts'
import { OwnWork, PlannedWork, type Work } from '../record/work.ts'
import type { WorkOrder } from '../record/work-order.ts'
import {
  DEFAULT_SHAPE,
  type WorkloadParameters,
  workloadParameters,
} from '../workload/parameters.ts'
import { parseLevelChoice } from '../workload/sql/levels.ts'
import { isSqlShape, type SqlParameters, sqlParameters } from '../workload/sql/parameters.ts'
import type { SqlPlan } from '../workload/sql/plan.ts'
import { planSql } from '../workload/sql/workload.ts'
import { planWorkload } from '../workload/workload.ts'
import type { RunOptions } from './run-options.ts'

export interface RunWork {
  readonly work: Work
  /** The same for other threads; null where it cannot be told. */
  readonly order: WorkOrder | null
  /** What the tables are and hold at first; null for registers. */
  readonly sql: SqlPlan | null
  /** The levels that its transactions ask for, the strongest last. */
  readonly levels: readonly LevelId[]
}

/** Transactions that are planned for a run of given duration; then the plan begins again. */
const PLAN_AHEAD = 200_000
const PLAN_AHEAD_SQL = 20_000

const LIN_HINT = 'it is for --shape lwt; ask for sser here'

/** What a run is to do. */
type Asked = Pick<RunOptions, 'workload' | 'ownWorkload'>

/** Whether transactions are SQL statements. */
export function isSql({ ownWorkload, workload }: Asked): boolean {
  return ownWorkload === null && isSqlShape(workload.shape ?? '')
}

/** Whether every transaction is one compare-and-set or one read. */
export function isLightweight({ ownWorkload, workload }: Asked): boolean {
  return ownWorkload === null && workload.shape === 'lwt'
}

export function parametersOf(options: RunOptions): WorkloadParameters | SqlParameters {
  const { workload, durationMs } = options
  if (durationMs !== null && workload.transactions !== undefined) {
    throw new UsageError('a run has a number of transactions or a duration, not both')
  }
  if (isSql(options)) {
    const given = workload as Partial<SqlParameters>
    const ahead = durationMs === null ? {} : { transactions: PLAN_AHEAD_SQL, warehouses: 1 }
    return sqlParameters({ ...ahead, ...given, levels: options.dbLevel })
  }
  const given = workload as Partial<WorkloadParameters>
  const ahead = durationMs === null ? {} : { transactions: PLAN_AHEAD }
  return workloadParameters({ shape: DEFAULT_SHAPE, ...ahead, ...given })
}

/** Refuses levels that say nothing about what is going to be recorded. Throws UsageError. */
export function expectLevels(options: RunOptions): void {
  const { levels, ownWorkload, workload } = options
  const shape = ownWorkload ? 'a workload of your own' : `shape ${workload.shape ?? DEFAULT_SHAPE}`
  for (const level of levels?.map(idOf) ?? []) {
    if (isSql(options) && !STATEMENT_LEVELS.includes(level)) {
      const judged = STATEMENT_LEVELS.join(', ')
      throw new UsageError(`level ${level} is not for SQL statements`, `there are ${judged}`)
    }
    if (level === 'lin' && ownWorkload === null && !isLightweight(options)) {
      throw new UsageError(`level lin is not for ${shape}`, LIN_HINT)
    }
  }
}

/** Refuses faults that cannot happen to such transactions. Throws UsageError. */
export function expectFaults(options: RunOptions): void {
  if (options.faults.pause === null || !isLightweight(options)) return
  const hint = 'its transactions are one operation each: there is nothing between two of them'
  throw new UsageError('the fault pause is not for shape lwt', hint)
}

/** Refuses to tell the order of commits where that cannot be had. Throws UsageError. */
export function expectCommitOrder(options: RunOptions): void {
  const { commitOrder, ownWorkload, workload, levels, faults } = options
  if (!commitOrder) return
  const { shape = DEFAULT_SHAPE } = workload
  if (ownWorkload || isSql(options) || isLightweight(options) || shape === 'append') {
    const what = ownWorkload ? 'a workload of your own' : `shape ${shape}`
    const hint = 'it is for reads and writes of registers: churn, mini, general'
    throw new UsageError(`--commit-order is not for ${what}`, hint)
  }
  if (levels?.some((level) => idOf(level) === 'mixed')) {
    throw new UsageError('level mixed does not judge histories with an order of commits')
  }
  if (faults.events.some(({ event }) => event.kind === 'restart' || event.kind === 'kill')) {
    const hint = 'leave --commit-order out, or the fault'
    throw new UsageError('the order of commits is lost when the server goes down', hint)
  }
}

/** The levels that will be asked for, as far as they are known before the database is. */
export function levelsAsked(options: RunOptions): readonly LevelId[] {
  if (!isSql(options)) return [options.dbLevel as LevelId]
  return options.dbLevel === 'mixed' ? [] : parseLevelChoice(options.dbLevel).levels
}

export function makeWork(
  database: Database,
  parameters: WorkloadParameters | SqlParameters,
  options: RunOptions,
): RunWork {
  const { ownWorkload, durationMs } = options
  const repeats = durationMs !== null
  if (isSql(options)) {
    const offered = OWN_LEVELS.filter((level) => database.levels.has(level))
    const asked = parameters as SqlParameters
    const plan = planSql(asked, offered)
    const { levels } = parseLevelChoice(options.dbLevel, offered)
    const order = { sql: asked, offered, repeats }
    return { work: new SqlWork(plan, repeats), order, sql: plan, levels }
  }
  const given = parameters as WorkloadParameters
  const levels = levelsAsked(options)
  if (ownWorkload === null) {
    const plan = planWorkload(given)
    return { work: new PlannedWork(plan, repeats), order: { plan, repeats }, sql: null, levels }
  }
  const work = new OwnWork(ownWorkload.run, {
    seed: given.seed,
    sessionCount: given.sessions,
    transactions: repeats ? null : given.transactions,
    keyCount: given.keys,
  })
  return { work, order: null, sql: null, levels }
}
