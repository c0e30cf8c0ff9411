// What PostgreSQL's error codes (SQLSTATE) say about the transaction they end.
//
// Before COMMIT is sent every failure means aborted: without a COMMIT nothing can take effect. Once
// it is sent, only an error (not a fatal one) of a class below is the server's word that it rolled
// back. Fatal errors are not: a backend told to stop while it commits may report the stop after the
// commit has taken effect. Codes that are not listed count as silence.

import type { Fate } from '../database.ts'

/** Classes of errors by which COMMIT itself is refused. */
const REFUSED_AT_COMMIT: Record<string, string> = {
  '23': 'integrity constraint violation (deferred constraints)',
  '25': 'invalid transaction state (the transaction had failed before)',
  '40': 'transaction rollback (serialization failure, deadlock)',
}

/** Within those classes, codes that leave the outcome open. */
const OPEN_AT_COMMIT = new Set([
  '40003', // statement completion unknown
])

/** Classes and codes that no other transaction will fare better with: the run has to stop. */
const HOPELESS = [
  '0A', // feature not supported
  '25006', // read-only: a standby, or a setting
  '26', // a prepared statement is gone: a pooler between us and the server
  '28', // not allowed in
  '3D', // no such database
  '3F', // no such schema
  '42', // no such table, no permission, syntax
]

export type Phase = 'work' | 'commit'

/** How a transaction ended that failed with this code (null: without one) in this phase. */
export function fateOf(phase: Phase, code: string | null, severity: string | null): Fate {
  if (phase === 'work') return 'aborted'
  if (code === null || severity !== 'ERROR' || OPEN_AT_COMMIT.has(code)) return 'indeterminate'
  return code.slice(0, 2) in REFUSED_AT_COMMIT ? 'aborted' : 'indeterminate'
}

/** True if the error speaks of the setup, not of one transaction. */
export function isHopeless(code: string | null): boolean {
  return code !== null && HOPELESS.some((prefix) => code.startsWith(prefix))
}
