// What the kinds of DuckDB's errors say about the transaction they end (docs/databases.md has the
// table with its sources). A transaction that fails to commit is rolled back, and the error is of
// the kind TransactionContext: “Failed to commit”. Other failures of COMMIT, of input and output or
// of its own making, leave open what has reached the file.

import type { Fate } from '../database.ts'
import type { Phase } from '../registers.ts'

export function fateOf(phase: Phase, kind: string | null): Fate {
  if (phase === 'work') return 'aborted'
  const refusals = phase === 'alone' ? ['TransactionContext', 'Constraint'] : ['TransactionContext']
  return kind !== null && refusals.includes(kind) ? 'aborted' : 'indeterminate'
}

/** No other transaction will fare better: the run has to stop. */
export function isHopeless(kind: string | null): boolean {
  const hopeless = ['Parser', 'Binder', 'Catalog', 'FATAL', 'INTERNAL', 'IO', 'Permission']
  return kind !== null && hopeless.includes(kind)
}
