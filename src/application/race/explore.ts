// Runs schedules until every one that matters was run: one of each trace. After a run, for every
// two events that could have come the other way round, a run is due that begins so, unless one that
// was made already does (dynamic partial-order reduction, with a list of what is due in place of a
// search tree: so the likeliest can go first). When nothing is due any more, every trace was run.
// Main function: explore.

import { TupleMap } from '../../base/maps.ts'
import {
  type Beginning,
  begins,
  EventNumbers,
  type RunEvent,
  reversals,
  type Trace,
  traceOf,
} from './trace.ts'

/** What a run did, as far as its order matters. */
export interface Ran {
  readonly events: readonly RunEvent[]
}

export interface Explored {
  /** How many schedules were run. */
  readonly runs: number
  /** How many of them differ by more than the order of what commutes. */
  readonly traces: number
  /** Nothing is left that could make a difference. */
  readonly isComplete: boolean
  /** How many runs did not begin as they were told to: the application does not repeat itself. */
  readonly strays: number
}

/**
 * @param first schedules to begin with, each completed in whatever way the runner likes
 * @param run lets actors go in the order of a schedule, then in an order of its own
 * @param goOn asked before each run
 */
export async function explore<R extends Ran>(
  first: readonly (readonly string[])[],
  run: (schedule: readonly string[]) => Promise<R>,
  goOn: (runs: number) => boolean,
): Promise<Explored> {
  const numbers = new EventNumbers()
  const traces = new TupleMap<number[], Trace>()
  const due: Beginning[] = []
  let runs = 0
  let strays = 0
  const make = async (schedule: readonly string[], wanted: Beginning | null) => {
    const { events } = await run(schedule)
    runs++
    const trace = traceOf(events, numbers)
    if (wanted !== null && !begins(wanted, trace)) strays++
    const key = [...trace.members].sort((a, b) => a - b)
    if (traces.has(key)) return
    traces.set(key, trace)
    due.push(...reversals(trace, events))
  }
  const told = (isComplete: boolean) => ({ runs, traces: traces.size, isComplete, strays })
  for (const schedule of first) {
    if (!goOn(runs)) return told(false)
    await make(schedule, null)
  }
  for (let next = due.shift(); next !== undefined; next = due.shift()) {
    const beginning = next
    if ([...traces.values()].some((trace) => begins(beginning, trace))) continue
    if (!goOn(runs)) return told(false)
    await make(beginning.schedule, beginning)
  }
  return told(strays === 0)
}
