// What workloads can be aimed at: anomalies, each with the transactions that show it if a database
// lets them, in roles that meet on the same few keys. `r x` reads, `w x` writes, and `.` is where a
// transaction may rest for a moment, so that others come in between. Every write is preceded by a
// read of its key, so that the order of versions is known. Main table: AIMS; findAim.

import { UsageError } from '../base/errors.ts'
import { hintFor } from '../base/slips.ts'

export interface Aim {
  /** The anomaly, as people write it: `isobar explain` knows it. */
  readonly name: string
  /** How many keys show it soonest, with about 20 sessions. */
  readonly keys: number
  /** The transactions that it takes, each on the keys of one group. */
  readonly roles: readonly string[]
}

export const AIMS = [
  // Both replace what both have read.
  { name: 'lost-update', keys: 4, roles: ['r x . w x'] },
  // Each writes what the other has read; on fewer keys most would be refused for another reason.
  { name: 'write-skew', keys: 16, roles: ['r x r y . w x', 'r y r x . w y'] },
  // A reader sees y and not x, though who writes x has not seen y.
  { name: 'read-only-anomaly', keys: 16, roles: ['r x r y . w x', 'r y w y', 'r x . r y'] },
  // Two readers see two writes in opposite orders.
  { name: 'long-fork', keys: 2, roles: ['r x w x', 'r y w y', 'r x . r y', 'r y . r x'] },
  // A reader sees y, which was written by who had seen x, and misses x.
  { name: 'causality-violation', keys: 4, roles: ['r x w x', 'r x . r y w y', 'r y . r x'] },
  // A reader sees one of two writes.
  {
    name: 'fractured-read',
    keys: 4,
    roles: ['r x . r y w x w y', 'r y . r x w x w y', 'r x . r y', 'r y . r x'],
  },
  // A reader finds a write between two looks.
  { name: 'non-repeatable-read', keys: 4, roles: ['r x . r x w x', 'r x w x'] },
  // A reader sees the second of two writes, then what the first has replaced.
  { name: 'non-monotonic-read', keys: 4, roles: ['r x w x r y . w y', 'r y . r x'] },
  // Each sees what the other has not committed yet.
  { name: 'circular-information-flow', keys: 4, roles: ['r x w x . r y', 'r y w y . r x'] },
  // Who writes both keys in opposite orders is refused now and then, behind its first write.
  { name: 'aborted-read', keys: 4, roles: ['r x w x . r y w y', 'r y w y . r x w x', 'r x . r y'] },
  { name: 'intermediate-read', keys: 4, roles: ['r x w x . w x', 'r x . r x'] },
  // Short ones, of which one is over before the next begins.
  { name: 'stale-read', keys: 2, roles: ['r x w x', 'r x'] },
] as const satisfies readonly Aim[]

/** The anomaly that a workload is made for. */
export type AimName = (typeof AIMS)[number]['name']

export const AIM_NAMES: readonly AimName[] = AIMS.map(({ name }) => name)

/** By its name, however it is written: write-skew, WriteSkew. Throws UsageError. */
export function findAim(word: string): Aim & { readonly name: AimName } {
  const lettersOf = (text: string) => text.toLowerCase().replace(/[^a-z]/g, '')
  const aim = AIMS.find(({ name }) => lettersOf(name) === lettersOf(word))
  if (aim !== undefined) return aim
  const hint = `${hintFor(word, AIM_NAMES)}; phantoms are for --shape sql`
  throw new UsageError(`no workload aims at "${word}"`, hint)
}
