// A clause for people. Apart from predicate.ts, so that a report need not load the parser.

import { scan } from './scan.ts'
import { renderSqlValue, type SqlValue } from './value.ts'

/** The clause on one line without comments, its parameters replaced by their values. */
export function renderPredicate(text: string, params: readonly SqlValue[] = []): string {
  let rendered = ''
  let end = 0
  for (const { kind, value, start, end: next } of scan(text)) {
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
