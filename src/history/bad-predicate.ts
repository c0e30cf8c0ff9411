// What is wrong with a WHERE clause, as an error that names the place. Main function: badPredicate.

import { InputError } from '../base/errors.ts'
import { SqlError } from '../sql/error.ts'
import type { SqlPredicate } from './sql-events.ts'

const HINT = 'what clauses may hold is in docs/sql-predicates.md'

/** The error to throw in place of one that parsing or evaluating the clause has thrown. */
export function badPredicate({ text, place }: SqlPredicate, error: unknown): unknown {
  if (!(error instanceof SqlError)) return error
  const where = error.offset ? `at character ${error.offset + 1} of` : 'in'
  const message = `${error.message}, ${where} the predicate ${text}`
  return new InputError('bad-predicate', message, place, HINT)
}
