// How anomalies mostly show: transactions that meet in a certain way. The table has one shape for
// each name, of two transactions, or of one and its session. Where it was not there, the test did
// not ask the database for that; a broken one may show the anomaly in another shape, such as a fork
// of sessions that write and then read, a chain of causes, a skew of three, or by what was over
// long before. Main table: OCCASIONS.

import type { AnomalyName } from '../../levels/anomalies.ts'

export interface Occasion {
  readonly anomaly: AnomalyName
  /** The shape that is counted: who meets how, of each pair or transaction. */
  readonly when: string
  /** Whether only transactions count that ran at the same time. */
  readonly isMeeting: boolean
  /** Whether it takes SQL statements, or registers and lists. */
  readonly of: 'any' | 'sql'
}

export const OCCASIONS = [
  {
    anomaly: 'AbortedRead',
    when: 'one wrote a key and rolled back, the other one read it',
    isMeeting: true,
    of: 'any',
  },
  {
    anomaly: 'IntermediateRead',
    when: 'one wrote a key twice, the other one read it',
    isMeeting: true,
    of: 'any',
  },
  {
    anomaly: 'NonRepeatableRead',
    when: 'one read a key twice, the other one wrote it',
    isMeeting: true,
    of: 'any',
  },
  {
    anomaly: 'FracturedRead',
    when: 'one read two keys that the other one wrote',
    isMeeting: true,
    of: 'any',
  },
  {
    anomaly: 'LostUpdate',
    when: 'both read and then wrote one key',
    isMeeting: true,
    of: 'any',
  },
  {
    anomaly: 'WriteSkew',
    when: 'each read a key that only the other one wrote',
    isMeeting: true,
    of: 'any',
  },
  {
    anomaly: 'LongFork',
    when: 'both read the same two keys, which others wrote',
    isMeeting: true,
    of: 'any',
  },
  {
    anomaly: 'Phantom',
    when: 'one searched a table in which the other one wrote rows',
    isMeeting: true,
    of: 'sql',
  },
  {
    anomaly: 'PredicateWriteSkew',
    when: 'each searched a table in which the other one wrote rows',
    isMeeting: true,
    of: 'sql',
  },
  {
    anomaly: 'CausalityViolation',
    when: 'read what another one wrote after reading a key, and that key too',
    isMeeting: false,
    of: 'any',
  },
  {
    anomaly: 'SessionGuaranteeViolation',
    when: 'read a key that its session had written or read before',
    isMeeting: false,
    of: 'any',
  },
] as const satisfies readonly Occasion[]

export type OccasionName = (typeof OCCASIONS)[number]['anomaly']
