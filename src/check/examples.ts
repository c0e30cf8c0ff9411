// How many anomalies of one kind a verdict lists: one, or on request more, while there is time. An
// anomaly's count says how many occurrences it stands for, so the last one that is listed also
// counts those that are not. Main functions: listExamples, joinKinds.

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

/** One example of each kind, the lightest, with all that its examples count; or as many as asked. */
export function joinKinds(found: Anomaly[], limit: number): Anomaly[] {
  if (limit > 1) return found
  const byName = new Map<string, Anomaly>()
  for (const anomaly of found) {
    const known = byName.get(anomaly.name)
    const lighter = known && weigh(known) <= weigh(anomaly) ? known : anomaly
    const count = (known?.count ?? 0) + anomaly.count
    byName.set(anomaly.name, { ...lighter, count })
  }
  return [...byName.values()]
}

/** How much an example asks of its reader. */
export function weigh({ edges, cases, txns }: Anomaly): number {
  return (edges.length + 10 * cases.length) * 1000 + txns.length
}
