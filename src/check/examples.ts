// How many anomalies of one kind a verdict lists: one, or on request more, while there is time. An
// anomaly's count says how many occurrences it stands for, so the last one that is listed also
// counts those that are not. Main function: listExamples.

import type { Deadline } from '../base/deadline.ts'
import type { Anomaly } from '../verdict/verdict.ts'

/**
 * @param found the occurrences of one kind, each of which `describe` counts once
 * @param limit how many are described; the first one always is
 */
export function listExamples<T>(
  found: ArrayLike<T>,
  limit: number,
  deadline: Deadline,
  describe: (occurrence: T) => Anomaly,
): Anomaly[] {
  const listed: Anomaly[] = []
  for (let i = 0; i < Math.min(limit, found.length); i++) {
    if (i > 0 && deadline.hasRunOut()) break
    listed.push(describe(found[i]!))
  }
  if (listed.length > 0) listed[listed.length - 1]!.count += found.length - listed.length
  return listed
}
