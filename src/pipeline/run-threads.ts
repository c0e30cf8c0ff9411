// How many threads the sessions of a run have. Main function: threadsOf.

import { availableParallelism } from 'node:os'
import { UsageError } from '../base/errors.ts'
import type { Threads } from '../record/runner.ts'
import type { OpenTarget } from '../record/target.ts'
import type { WorkloadParameters } from '../workload/parameters.ts'
import type { SqlParameters } from '../workload/sql/parameters.ts'
import type { RunOptions } from './run-options.ts'
import { isLightweight, type RunWork } from './run-work.ts'

/** More gain nothing where there are two processors: the server needs one of them (bench/recording.md). */
const USUAL_THREADS = 2
/** Fewer sessions wait for the server most of the time. */
const FEWEST_SESSIONS = 8
/** A thread takes a moment to start and to get warm, and has to make up for it. */
const FEWEST_TRANSACTIONS = 30_000
const SHORTEST_MS = 3_000

/** Null for the thread of the run itself. Throws UsageError where there cannot be as many as asked for. */
export function threadsOf(
  options: RunOptions,
  parameters: WorkloadParameters | SqlParameters,
  { order }: RunWork,
  target: OpenTarget,
): Threads | null {
  const { sessions, transactions } = parameters
  const asked = options.threads ?? null
  if (asked === 1) return null
  const why = whyTogether(options, order, target)
  if (asked !== null) {
    if (why !== null) throw new UsageError(`${why}, so that --threads ${asked} cannot be`)
    if (asked > sessions) throw new UsageError(`there are more threads than sessions: ${sessions}`)
    return { count: asked, work: order! }
  }
  const { durationMs } = options
  const isLong =
    durationMs === null ? transactions >= FEWEST_TRANSACTIONS : durationMs >= SHORTEST_MS
  const pays = isLong && sessions >= FEWEST_SESSIONS && availableParallelism() >= USUAL_THREADS
  return pays && why === null ? { count: USUAL_THREADS, work: order! } : null
}

/** Why all sessions have to share the thread of the run; null if they need not. */
function whyTogether(
  options: RunOptions,
  order: RunWork['order'],
  { database, proxies }: OpenTarget,
): string | null {
  if (order === null) return 'a workload of your own runs in one thread'
  if (isLightweight(options)) return 'shape lwt runs in one thread'
  if (proxies.length > 0) return 'connections are disturbed in the thread of their sessions'
  if (database.reach === undefined) return `${database.name} is driven from one thread`
  // Transactions that come last read what all others did: an audit does so anyway.
  if (!database.isAudited) return `on several nodes ${database.name} is driven from one thread`
  return null
}
