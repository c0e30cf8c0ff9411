// Histories that are directories with one file a session: the order of the files, which listings do
// not keep, and the sessions they stand for.

import type { HistoryBuilder } from '../history/builder.ts'
import { NONE } from '../history/history.ts'

/** Digits as numbers: T2 comes before T10. */
export function compareNatural(a: string, b: string): number {
  const left = a.match(/\d+|\D+/g) ?? []
  const right = b.match(/\d+|\D+/g) ?? []
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const x = left[i]!
    const y = right[i]!
    if (x === y) continue
    const bothDigits = /^\d/.test(x) && /^\d/.test(y)
    if (bothDigits && x.length !== y.length && Number(x) !== Number(y)) return Number(x) - Number(y)
    return x < y ? -1 : 1
  }
  return left.length - right.length
}

/** The session of a file: the number its name ends with (T10.log: 10), else its name. */
export function openSession(builder: HistoryBuilder, fileName: string): number {
  const stem = fileName.replace(/\.[A-Za-z]+$/, '')
  const digits = /(?:^|\D)(\d{1,9})$/.exec(stem)
  const count = builder.sessionCount
  const numbered = digits ? builder.session(Number(digits[1])) : NONE
  // Of two files that end in the same number, the later one goes by its name.
  return numbered === count ? numbered : builder.session(stem)
}
