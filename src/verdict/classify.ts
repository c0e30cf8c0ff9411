// Names a minimal cycle of the strong levels by its edges alone: how many anti-dependencies (RW) it
// has, whether two of them are adjacent, what leads back, and what its version orders rest on. The
// names are MTC's (Table I) and Fekete's read-only anomaly; what has no name of its own gets Adya's
// class. Shared by every checker of a strong level and by certify. Main function: classifyCycle.

import type { History } from '../history/history.ts'
import type { AnomalyName } from '../levels/anomalies.ts'
import { isWrite } from './certify-reads.ts'
import { type Edge, findEdges } from './verdict.ts'

export function classifyCycle(history: History, edges: readonly Edge[]): AnomalyName {
  const name = classifyEdges(history, edges)
  // A cycle that takes a stronger level to be forced is no plainer than what forces it.
  let worst = rankOf(name)
  for (const { kind, premises, refutes } of findEdges(edges, [])) {
    if (kind !== 'WW' || premises.length === 0) continue
    worst = Math.max(worst, rankOfReasons(history, premises, refutes === true))
  }
  return worst > rankOf(name) ? CLASSES[worst]! : name
}

/** Adya's classes of cycles, from the least that a level must forbid to the most. */
const CLASSES: readonly AnomalyName[] = ['G0', 'G1c', 'G-single', 'G-nonadjacent', 'G2-item']

function rankOf(name: AnomalyName): number {
  return CLASSES.indexOf(classOf(name))
}

function classOf(name: AnomalyName): AnomalyName {
  if (CLASSES.includes(name)) return name
  if (name === 'WriteSkew' || name === 'ReadOnlyAnomaly') return 'G2-item'
  if (name === 'LongFork') return 'G-nonadjacent'
  return name === 'CyclicCO' ? 'G1c' : 'G-single'
}

/** The name that all share, else the class that covers all of them. */
export function coveringName(names: ReadonlySet<AnomalyName>): AnomalyName {
  const [first] = names
  return names.size === 1 ? first! : CLASSES[Math.max(...[...names].map(rankOf))]!
}

/** What the reasons of a version order are worth: a cycle by its edges, a path by adjacent ones. */
function rankOfReasons(history: History, reasons: readonly Edge[], isCycle: boolean): number {
  if (isCycle) return rankOf(classifyEdges(history, reasons))
  const path = withoutReplacements(history, reasons)
  const adjacent = path.some((edge, i) => i > 0 && edge.kind === 'RW' && path[i - 1]!.kind === 'RW')
  return adjacent ? rankOf('G2-item') : 0
}

function classifyEdges(history: History, edges: readonly Edge[]): AnomalyName {
  if (edges.length === 2 && edges.every((edge) => edge.kind === 'RW')) {
    return edges[0]!.key === edges[1]!.key ? 'LostUpdate' : 'WriteSkew'
  }
  const cycle = withoutReplacements(history, edges)
  const overwrites = cycle.filter((edge) => edge.kind === 'RW').length
  if (overwrites === 0) return classifyDependencies(cycle)
  // Turn the cycle so that it ends with an RW edge that follows something else, if there is one.
  const last = cycle.findIndex((edge, i) => edge.kind === 'RW' && cycle.at(i - 1)!.kind !== 'RW')
  const turned = [...cycle.slice(last + 1), ...cycle.slice(0, last + 1)]
  if (overwrites === 1) return classifySingle(turned)
  const adjacent = turned.some((edge, i) => edge.kind === 'RW' && turned.at(i - 1)!.kind === 'RW')
  if (!adjacent) return overwrites === 2 && turned.every(isPlain) ? 'LongFork' : 'G-nonadjacent'
  return overwrites === 2 && isReadOnlyAnomaly(history, turned) ? 'ReadOnlyAnomaly' : 'G2-item'
}

/**
 * Whether a reader whose version is overwritten writes the key itself. Then its own version is the
 * older one (or else it lost an update), so the edge is version order, not only anti-dependency.
 */
function replacesToo(history: History, edge: Edge): boolean {
  if (edge.kind !== 'RW') return false
  for (let op = history.txnOpStart[edge.from]!; op < history.txnOpStart[edge.from + 1]!; op++) {
    if (history.opKey[op] === edge.key && isWrite(history, op)) return true
  }
  return false
}

/** The cycle with such edges as version order, but for the last anti-dependency it has. */
export function withoutReplacements(history: History, edges: readonly Edge[]): readonly Edge[] {
  let left = edges.filter((edge) => edge.kind === 'RW').length
  return edges.map((edge) => {
    if (left <= 1 || !replacesToo(history, edge)) return edge
    left--
    return { ...edge, kind: 'WW' }
  })
}

/** Session order, reads and anti-dependencies only. */
function isPlain(edge: Edge): boolean {
  return edge.kind === 'SO' || edge.kind === 'WR' || edge.kind === 'RW'
}

function classifyDependencies(cycle: readonly Edge[]): AnomalyName {
  if (cycle.every((edge) => edge.kind === 'SO' || edge.kind === 'WR')) return 'CyclicCO'
  return cycle.some((edge) => edge.kind === 'WR') ? 'G1c' : 'G0'
}

/**
 * A transaction missed a write (the last edge), although the other edges lead from it to itself.
 */
function classifySingle(cycle: readonly Edge[]): AnomalyName {
  const path = cycle.slice(0, -1)
  const missed = cycle[cycle.length - 1]!
  if (path.some((edge) => edge.kind === 'RT')) return 'StaleRead'
  if (path.some((edge) => edge.kind === 'WW' || edge.kind === 'CO')) {
    return path.length === 1 && path[0]!.key === missed.key ? 'LostUpdate' : 'G-single'
  }
  // The session wrote it, or had seen its writer before.
  if (path.slice(1).every((edge) => edge.kind === 'SO')) {
    if (path.length > 1 || path[0]!.kind === 'SO') return 'SessionGuaranteeViolation'
    const sawFirst = path[0]!.ops[path[0]!.ops.length - 1]! < missed.ops[0]!
    return sawFirst ? 'NonMonoReadCO' : 'FracturedReadCO'
  }
  return 'CausalityViolation'
}

/**
 * RW, RW and then reads that lead back to a transaction without writes, where the first RW starts.
 */
function isReadOnlyAnomaly(history: History, turned: readonly Edge[]): boolean {
  // Turned, the cycle starts with the second RW edge and ends with the first.
  const reader = turned[turned.length - 1]!.from
  for (let op = history.txnOpStart[reader]!; op < history.txnOpStart[reader + 1]!; op++) {
    if (isWrite(history, op)) return false
  }
  return turned.every(isPlain)
}
