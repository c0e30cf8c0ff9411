// What is said when something goes wrong: bad input and wrong usage in their own words, memory that
// is not there, a part of the page that does not come, and all else as what it is, a bug. Main
// function: describeFailure.

import { InputError, UsageError } from '../../base/errors.ts'
import type { Failed } from './protocol.ts'

/** Chromium, Firefox and Safari, of a script that they did not get. */
const NOT_LOADED =
  /failed to fetch dynamically|error loading dynamically|importing a module script failed/i

export function describeFailure(error: unknown): Failed {
  if (error instanceof InputError) {
    const { message, hint, place } = error
    // Options of the command line are no way out here.
    return { kind: 'failed', message, place, hint: hint?.includes('--') ? null : hint }
  }
  if (error instanceof UsageError) return failed(error.message, error.hint)
  if (error instanceof RangeError) {
    return failed('the history is too large for this browser', 'use the command line: isobar check')
  }
  const words = error instanceof Error ? error.message : String(error)
  if (NOT_LOADED.test(words)) return lacksPart()
  return failed(`internal error: ${words}`, 'this is a bug in isobar; please report it')
}

/** Something of the page did not come. */
export const lacksPart = (): Failed =>
  failed(
    'a part of this page could not be loaded',
    'is the server that it came from still there? then load the page again',
  )

function failed(message: string, hint: string | null): Failed {
  return { kind: 'failed', message, hint, place: null }
}
