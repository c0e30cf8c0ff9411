// A plan: what a night is asked for. Targets × workloads × parameters × levels × faults × seeds ×
// repeats become one job each, and so does every history. Main functions: runJobsOf,
// combinationsOf.

import type { Place } from '../base/errors.ts'
import type { RunJob } from './job.ts'
import type { KEEP, SPLIT } from './plan-schema.ts'

export type Keep = (typeof KEEP)[number]
export type Split = (typeof SPLIT)[number]

/** A value, and where in the plan it stands. */
export interface Placed<T> {
  readonly value: T
  readonly place: Place
}

export interface PlannedWorkload {
  /** Null for the usual one, or where it is aimed. */
  readonly shape: string | null
  /** Name -> the values that it takes. */
  readonly parameters: ReadonlyMap<string, readonly (number | string)[]>
  readonly place: Place
}

export interface PlannedTarget extends Placed<string> {
  readonly workloads: readonly PlannedWorkload[]
  /** None: its usual level. */
  readonly dbLevels: readonly Placed<string>[]
  readonly faults: readonly Placed<readonly string[]>[]
}

export interface NightPlan {
  /** As it was written. */
  readonly text: string
  readonly name: string
  readonly targets: readonly PlannedTarget[]
  readonly histories: readonly Placed<string>[]
  /** How histories become several jobs. */
  readonly split: readonly Split[]
  /** None: what the database was asked for. */
  readonly levels: readonly Placed<string>[]
  readonly seeds: readonly number[]
  readonly repeats: number
  readonly durationMs: number | null
  readonly budgetMs: number
  readonly timeMs: number
  readonly memoryBytes: number
  readonly attempts: number
  readonly keep: Keep
  readonly known: readonly string[]
}

/** What runs have in common that differ in nothing but seed and repeat. */
export interface Combination {
  readonly job: Omit<RunJob, 'seed' | 'repeat'>
  readonly places: { target: Place; workload: Place; dbLevel: Place; faults: Place; levels: Place }
}

/** Every combination of the plan, in the order in which it is written. */
export function* combinationsOf(plan: NightPlan): Generator<Combination> {
  const levels = plan.levels.map(({ value }) => value)
  for (const target of plan.targets) {
    const usual: Placed<string | null>[] = [{ value: null, place: target.place }]
    const dbLevels = target.dbLevels.length > 0 ? target.dbLevels : usual
    for (const workload of target.workloads) {
      for (const parameters of pointsOf(workload.parameters)) {
        for (const dbLevel of dbLevels) {
          for (const faults of target.faults) {
            yield {
              job: {
                kind: 'run',
                target: target.value,
                shape: workload.shape,
                parameters,
                dbLevel: dbLevel.value,
                levels: levels.length > 0 ? levels : null,
                faults: faults.value,
                durationMs: plan.durationMs,
              },
              places: {
                target: target.place,
                workload: workload.place,
                dbLevel: dbLevel.place,
                faults: faults.place,
                levels: plan.levels[0]?.place ?? target.place,
              },
            }
          }
        }
      }
    }
  }
}

/** The runs that a plan asks for. */
export function* runJobsOf(plan: NightPlan): Generator<RunJob> {
  for (const { job } of combinationsOf(plan)) {
    for (const seed of plan.seeds) {
      for (let repeat = 1; repeat <= plan.repeats; repeat++) yield { ...job, seed, repeat }
    }
  }
}

/** Every combination of values, the last parameter fastest. */
function pointsOf(
  parameters: ReadonlyMap<string, readonly (number | string)[]>,
): Record<string, number | string>[] {
  let points: Record<string, number | string>[] = [{}]
  for (const [name, values] of parameters) {
    points = points.flatMap((point) => values.map((value) => ({ ...point, [name]: value })))
  }
  return points
}
