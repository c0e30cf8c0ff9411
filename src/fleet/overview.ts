// A night as a whole, read at once: what every report tells of it. Main function: readOverview.

import {
  type Cell,
  type Coverage,
  type Failure,
  type Finding,
  type NightLine,
  Results,
} from './read-results.ts'
import type { Counts, FleetStore, Night } from './store.ts'

export interface NightOverview {
  readonly night: Night
  readonly counts: Counts
  readonly findings: readonly Finding[]
  readonly failures: readonly Failure[]
  readonly cells: readonly Cell[]
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

export async function readOverview(store: FleetStore, night: Night): Promise<NightOverview> {
  const results = new Results(store.connection)
  const findings = await results.findings(night.id)
  const before = await results.fingerprintsBefore(night.id)
  const here = findings.map(({ fingerprint }) => fingerprint)
  return {
    night,
    counts: await store.count(night.id),
    findings,
    failures: await results.failures(night.id),
    cells: await results.cells(night.id),
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
