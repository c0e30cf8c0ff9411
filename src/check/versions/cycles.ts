// The cycles of a dependency graph as anomalies, no two with a transaction in common: the smallest
// one of each name, on request more, counted. Main function: findCycles.

import type { Deadline } from '../../base/deadline.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import { type IsUnrepeated, tellsUnrepeated } from '../reads/unrepeated.ts'
import type { CyclicParts } from './cyclic-parts.ts'
import { type EdgeCycle, findShortCycles, txnsOf } from './short-cycles.ts'

/** How many cycles are worked out at least, to show and count each kind. */
const MANY = 10_000

/**
 * @param limit how many of each name are listed
 * @param blamed transactions to do without; those of the cycles found are added
 * @param isUnrepeated whether a transaction saw two versions of a key: told already, as such
 */
export function findCycles(
  parts: CyclicParts,
  limit: number,
  deadline: Deadline,
  blamed: Set<number>,
  isUnrepeated: IsUnrepeated,
  describe: (cycle: EdgeCycle) => Anomaly,
): Anomaly[] {
  const byName = new Map<string, Anomaly[]>()
  for (const cycle of findShortCycles(parts, Math.max(limit, MANY), blamed, deadline).cycles) {
    if (byName.size > 0 && deadline.hasRunOut()) break
    const anomaly = describe(cycle)
    for (const txn of txnsOf(parts.graph, cycle)) blamed.add(txn)
    if (tellsUnrepeated(anomaly, isUnrepeated)) continue
    const known = byName.get(anomaly.name)
    if (known) known.push(anomaly)
    else byName.set(anomaly.name, [anomaly])
  }
  return [...byName.values()].flatMap((anomalies) => {
    anomalies.sort((a, b) => a.edges.length - b.edges.length)
    const listed = anomalies.slice(0, limit)
    listed.at(-1)!.count += anomalies.length - listed.length
    return listed
  })
}
