// A clause for people. Apart from predicate.ts, so that a report need not load the parser.

import { SqlError } from './error.ts'
import { scan, type Token } from './scan.ts'
import { renderSqlValue, type SqlValue } from './value.ts'

/**
 * The clause on one line without comments, its parameters replaced by their values. One that cannot
 * be scanned is shown as it is: nobody judges what it asked for if the database aborted it.
 */
export function renderPredicate(text: string, params: readonly SqlValue[] = []): string {
  let rendered = ''
  let end = 0
  const tokens = tokensOf(text)
  if (tokens === null) return text.trim().replace(/\s+/g, ' ')
  for (const { kind, value, start, end: next } of tokens) {
    if (rendered !== '' && start > end) rendered += ' '
    const param = kind === 'parameter' ? params[Number(value.slice(1)) - 1] : undefined
    if (param === undefined) rendered += text.slice(start, next)
    // A negative number after a minus would make a comment of both.
    else if (typeof param === 'bigint' && param < 0n) rendered += `(${param})`
    else rendered += renderSqlValue(param)
    end = next
  }
  return rendered
}

/** The tokens of a clause, null if it has some that are not supported. */
function tokensOf(text: string): readonly Token[] | null {
  try {
    return scan(text)
  } catch (error) {
    if (error instanceof SqlError) return null
    throw error
  }
}

/** Whether a clause speaks of a column, or of something else by that name. */
export function mentions(text: string, column: string): boolean {
  const isIt = ({ kind, value }: Token) => (kind === 'word' || kind === 'name') && value === column
  return tokensOf(text)?.some(isIt) ?? false
}
