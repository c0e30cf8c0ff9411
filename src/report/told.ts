// Telling is part of the work, so that a budget holds for it too: when time or memory is used up,
// only the first anomaly of each kind is told. Main function: timeToTell.

import type { Deadline } from '../base/deadline.ts'
import type { Anomaly } from '../verdict/verdict.ts'

/** Says of one anomaly of a level after another whether it is told. */
export function timeToTell(deadline: Deadline): (anomaly: Anomaly) => boolean {
  const kinds = new Set<string>()
  return ({ name }) => {
    if (kinds.has(name) && deadline.hasRunOut()) return false
    kinds.add(name)
    return true
  }
}
