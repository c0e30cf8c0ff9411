// What the codes of SQLite say about the transaction they end (docs/databases.md has the table with
// its sources).
//
// A statement that fails leaves no trace, nor does a transaction that is rolled back before COMMIT.
// COMMIT that is refused as busy leaves the transaction open, to be rolled back. Any other failure
// of COMMIT may come before or after the change has reached the file: nobody knows.

import type { Fate } from '../database.ts'
import type { Phase } from '../registers.ts'

export function fateOf(phase: Phase, code: string | null): Fate {
  if (phase === 'work') return 'aborted'
  const refusals = phase === 'alone' ? ['SQLITE_BUSY', 'SQLITE_CONSTRAINT'] : ['SQLITE_BUSY']
  return refusals.some((each) => code?.startsWith(each)) ? 'aborted' : 'indeterminate'
}

/** Somebody else is writing: it may be tried again. Not so if the snapshot is too old to write. */
export function isBusy(code: string | null): boolean {
  return code === 'SQLITE_BUSY' || code === 'SQLITE_BUSY_RECOVERY'
}

/** No other transaction will fare better: the run has to stop. */
export function isHopeless(code: string | null): boolean {
  const hopeless = ['SQLITE_ERROR', 'SQLITE_NOTADB', 'SQLITE_READONLY', 'SQLITE_CORRUPT']
  return code !== null && hopeless.some((each) => code.startsWith(each))
}
