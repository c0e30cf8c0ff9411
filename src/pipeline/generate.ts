// Generates histories: plans a workload, runs it against the simulated store, lays the outcome out
// as a history, and tells where faults struck, in the history's own numbers.

import { RUN } from '../formats/native/fields.ts'
import type { History } from '../history/history.ts'
import type { Value } from '../history/values.ts'
import type { FaultStrike } from '../sim/faults.ts'
import { type Layout, layOut } from '../sim/layout.ts'
import { type SimOptions, simulate } from '../sim/simulate.ts'
import type { WorkloadRequest } from '../workload/parameters.ts'
import { planWorkload } from '../workload/workload.ts'

export interface GenerateOptions {
  /** One seed for the plan, the schedule and the faults. */
  readonly seed: number
  readonly workload: Omit<WorkloadRequest, 'seed'>
  readonly store: Partial<Omit<SimOptions, 'seed'>>
  readonly layout: Layout
  /** The value every key has before anything is written. */
  readonly initial: Value
  /** Whether lightweight transactions are told as cas and insert, or as reads and writes. */
  readonly lightweight: boolean
  /** Whether transactions have start and finish times (steps of the simulation). */
  readonly times: boolean
}

export interface Generated {
  readonly history: History
  readonly strikes: readonly FaultStrike[]
  /** Layout interleaved: operations in the order in which they ran; else null. */
  readonly opOrder: Int32Array | null
}

/** The same options give the same history. */
export function generate(
  given: Partial<GenerateOptions> & Pick<GenerateOptions, 'workload'>,
): Generated {
  const { seed = 1, layout = 'commit', initial = null, times = true, lightweight = true } = given
  const plan = planWorkload({ ...given.workload, seed })
  const execution = simulate(plan, { ...given.store, seed })
  const asLight = lightweight && plan.lightweight
  const { history, txnOf, opOrder } = layOut(execution, layout, initial, times, asLight)
  const strikes = execution.strikes.map((strike) => ({
    fault: strike.fault,
    txns: strike.txns.map((txn) => txnOf[txn]!),
    keys: strike.keys.map((key) => history.keys.ofSmall(key)),
  }))
  return { history: withMarks(history, strikes), strikes, opOrder }
}

/** The history with a mark where each fault begins, if there are times. */
export function withMarks(history: History, strikes: readonly FaultStrike[]): History {
  const { txnStartTime } = history
  if (txnStartTime === null) return history
  const marks = strikes.map(({ fault, txns }) => {
    const time = Math.min(...txns.map((txn) => txnStartTime[txn]!))
    return { time, source: RUN, text: `${fault} strikes` }
  })
  marks.sort((a, b) => a.time - b.time)
  return { ...history, annotations: [...history.annotations, ...marks] }
}
