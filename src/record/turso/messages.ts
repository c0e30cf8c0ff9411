// What Turso's errors say about the transaction they end (docs/databases.md has the table). They
// have no codes that tell them apart, so their words have to do. A transaction that is refused by a
// conflict is rolled back; one that finds another in its way stays open, to be rolled back. Any
// other failure of COMMIT leaves open what has reached the file.

import type { Fate } from '../database.ts'
import type { Phase } from '../registers.ts'

const CONFLICT = /Write-write conflict|Commit dependency aborted|Schema (changed|conflict)/i
const BUSY = /database is (locked|busy)/i

export function fateOf(phase: Phase, message: string): Fate {
  if (phase === 'work') return 'aborted'
  if (CONFLICT.test(message) || BUSY.test(message)) return 'aborted'
  return phase === 'alone' && /constraint failed/.test(message) ? 'aborted' : 'indeterminate'
}

/** Somebody else is in the way: it may be tried again. */
export function isBusy(message: string): boolean {
  return BUSY.test(message)
}

/** No other transaction will fare better: the run has to stop. */
export function isHopeless(message: string): boolean {
  return /^prepare failed|Corrupt|I\/O error|Internal error|read-?only/i.test(message)
}

/** What failures are counted by: `Write-write conflict`. */
export function wordsOf(message: string): string {
  return message.replace(/^step failed: /, '').slice(0, 40)
}
