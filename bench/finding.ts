// What benchmarks of finding share: one run of a workload on a store, as short as it can be, and
// how much of its record shows the violation. Main functions: recordRun, firstViolation.

import type { History } from '../src/history/history.ts'
import type { SqlTable } from '../src/history/sql-events.ts'
import { findPart } from '../src/history/sub-history.ts'
import type { LevelId } from '../src/levels/levels.ts'
import type { Database } from '../src/record/database.ts'
import { NO_FAULTS, type PlannedEvent } from '../src/record/faults.ts'
import { Recorder } from '../src/record/recorder.ts'
import { runSessions } from '../src/record/runner.ts'
import type { Makers } from '../src/record/trouble.ts'
import type { Work } from '../src/record/work.ts'
import { SqlParts } from '../src/verdict/sql-parts.ts'
import type { LevelResult } from '../src/verdict/verdict.ts'
import { subHistory } from '../test/history/sub-history.ts'

export const SESSIONS = 20

export interface FindingRun {
  readonly name: string
  readonly database: Database
  readonly work: Work
  readonly level: LevelId
  readonly seed: number
  /** File for the history. */
  readonly path: string
  /** Null: until the work is done. */
  readonly durationMs: number | null
  readonly sql?: ConstructorParameters<typeof Recorder>[2]
  readonly tables?: readonly SqlTable[]
  readonly events?: readonly PlannedEvent[]
  readonly makers?: Makers
}

export async function recordRun(given: FindingRun): Promise<void> {
  const recorder = new Recorder(given.path, {}, given.sql ?? null)
  try {
    const { stoppedBy } = await runSessions({
      ...given,
      recorder,
      isLightweight: false,
      tables: given.tables ?? [],
      sessions: SESSIONS,
      rate: null,
      retries: 0,
      faults: { ...NO_FAULTS, events: given.events ?? [] },
      proxies: [],
      patienceMs: 15_000,
      makers: given.makers ?? {},
      signal: null,
      onProgress: null,
    })
    if (stoppedBy instanceof Error) console.error(`  ${given.name}: ${stoppedBy.message}`)
  } finally {
    recorder.close()
  }
}

/** How much of the history is needed for the first of the examples, in transactions. */
function foundAfter({ anomalies }: LevelResult, txnCount: number): number {
  let first = txnCount
  for (const { txns } of anomalies) first = Math.min(first, Math.max(...txns) + 1)
  return first
}

/**
 * How many transactions of the history are enough for a violation. Examples that a verdict shows
 * need not be the first there are: so beginnings of it are judged, longer and longer ones. What is
 * left out only makes less of a violation, so that the shortest can be found by halving.
 */
export async function firstViolation(
  history: History,
  result: LevelResult,
  isViolated: (part: History) => Promise<boolean>,
): Promise<{ position: number; ms: number }> {
  const { txnStartTime, txnFinishTime, txnCount } = history
  const beginning = beginningsOf(history)
  let most = foundAfter(result, txnCount) // enough
  let least = 0 // not enough
  for (let count = 8; count < most; count *= 2) {
    if (await isViolated(beginning(count))) most = count
    else least = count
  }
  while (most - least > 1) {
    const count = (least + most) >> 1
    if (await isViolated(beginning(count))) most = count
    else least = count
  }
  const start = txnStartTime!.reduce((earliest, time) => Math.min(earliest, time))
  let end = start
  for (let txn = 0; txn < most; txn++) end = Math.max(end, txnFinishTime![txn] || start)
  return { position: most, ms: (end - start) / 1000 } // records have microseconds
}

/** The history of its first so many transactions. */
function beginningsOf(history: History): (count: number) => History {
  const { txnOpStart, opCount, keyCount, sql } = history
  const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, i) => from + i)
  if (sql === null) return (count) => subHistory(history, upTo(txnOpStart[count]!))
  const parts = new SqlParts(history, sql)
  const firstKey = opCount + sql.eventCount
  return (count) => {
    const events = upTo(opCount + sql.txnEventStart[count]!, opCount)
    const items = [...upTo(txnOpStart[count]!), ...events, ...upTo(firstKey + keyCount, firstKey)]
    return parts.build(findPart(items, (item) => parts.needs(item))).history
  }
}

/** The middle one; NaN of none. */
export function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN
}
