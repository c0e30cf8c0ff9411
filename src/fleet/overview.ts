// A night as a whole, read at once: what every report tells of it. Main function: readOverview.

import { counted } from '../base/counted.ts'
import {
  type Cell,
  type Coverage,
  type Failure,
  type Finding,
  type NightLine,
  Results,
  type SplitVerdict,
} from './read-results.ts'
import type { Blame } from './result.ts'
import type { Counts, FleetStore, Night } from './store.ts'

export interface NightOverview {
  readonly night: Night
  readonly counts: Counts
  readonly findings: readonly Finding[]
  /** The most frequent ones. */
  readonly failures: readonly Failure[]
  /** Of all failures. */
  readonly blames: readonly Blame[]
  readonly cells: readonly Cell[]
  readonly splits: readonly SplitVerdict[]
  /** Targets that have jobs without a verdict, and how many. */
  readonly unjudged: readonly { readonly target: string; readonly count: number }[]
  /** The latest first. */
  readonly nights: readonly NightLine[]
  readonly coverage: Coverage
  /** Against the last night of the plan; null if this is its first. */
  readonly changes: {
    readonly since: number
    readonly come: string[]
    readonly gone: string[]
  } | null
}

const MOST_NIGHTS = 60
const MOST_FAILURES = 100

export async function readOverview(store: FleetStore, night: Night): Promise<NightOverview> {
  const results = new Results(store.connection)
  await results.prepare()
  const findings = await results.findings(night.id)
  const before = await results.fingerprintsBefore(night.id)
  const here = findings.map(({ fingerprint }) => fingerprint)
  return {
    night,
    counts: await store.count(night.id),
    findings,
    failures: await results.failures(night.id, MOST_FAILURES),
    blames: await results.blames(night.id),
    cells: await results.cells(night.id),
    unjudged: await results.unjudged(night.id),
    splits: await results.splitVerdicts(night.id),
    nights: await results.nights(night.id, MOST_NIGHTS),
    coverage: await results.coverage(night.id),
    changes: before && {
      since: before.id,
      come: here.filter((fingerprint) => !before.found.includes(fingerprint)),
      gone: before.found.filter((fingerprint) => !here.includes(fingerprint)),
    },
  }
}

/** Findings that nobody has acknowledged. */
export function unknownFindings({ night, findings }: NightOverview): Finding[] {
  return findings.filter(({ fingerprint }) => !night.settings.known.includes(fingerprint))
}

/** Whether every job has a result. While a night is being filled, it has no jobs yet. */
export function isOver({ night, counts }: NightOverview): boolean {
  return night.jobs > 0 && counts.done >= night.jobs
}

/** Jobs that failed for reasons that are too many to be told; null if there are none. */
export function untoldFailures({ counts, failures }: NightOverview): string | null {
  const told = failures.reduce((sum, { count }) => sum + count, 0)
  return told < counts.failed ? `${counted(counts.failed - told, 'job')} for other reasons` : null
}
