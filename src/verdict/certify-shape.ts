// Which chains of edges contradict a level, or order two commits. Seen as in Viper's BC graph, a
// transaction has two moments, its snapshot and, later, its commit (at ser and sser they are one):
//
//          SO, WR, RT            WW, CO                RW
//   pc     commit → snapshot     commit → commit       snapshot → commit
//   si     commit → snapshot     commit → snapshot     snapshot → commit
//
// So an RW edge only continues a chain that arrives at a snapshot: at si no two RW edges are
// adjacent, (so ∪ wr ∪ ww) ; rw?, and at pc each follows SO or WR, ((so ∪ wr) ; rw?) ∪ ww. A closed
// chain is a moment before itself. One refinement: at si two writers of a common key never overlap,
// so that an RW edge between them (snapshot of one before commit of the other) means that the first
// committed before the second's snapshot; it counts as WW. That is how two readers of one version
// that both overwrite it, a lost update, contradict si. Main function: pathProblem.

import { ABORTED, type History } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { isWrite } from './certify-reads.ts'
import { LEVEL_RULES } from './level-rules.ts'
import type { Edge } from './verdict.ts'

/**
 * What keeps the edges from forming a cycle (`ends` null), or a path that puts the commit of
 * ends.from before that of ends.to; null if they do.
 */
export function pathProblem(
  history: History,
  level: LevelId,
  edges: readonly Edge[],
  ends: { from: number; to: number } | null,
): string | null {
  if (edges.length === 0) return 'there are no edges'
  const last = edges[edges.length - 1]!
  const start = ends === null ? last.to : ends.from
  if (ends !== null && last.to !== ends.to) return 'the reasons lead elsewhere'
  const twoMoments = LEVEL_RULES[level].snapshots
  let at = start
  let atSnapshot = ends === null && (!twoMoments || arrivesAtSnapshot(history, level, last))
  for (const [i, edge] of edges.entries()) {
    if (edge.from !== at) return `edge ${i} does not start where the one before it ends`
    if (twoMoments && !atSnapshot && leavesFromSnapshot(history, level, edge)) {
      return `at ${level} edge ${i}, ${edge.kind}, does not continue the chain`
    }
    at = edge.to
    atSnapshot = arrivesAtSnapshot(history, level, edge)
  }
  return null
}

function leavesFromSnapshot(history: History, level: LevelId, edge: Edge): boolean {
  if (edge.kind !== 'RW') return false
  return level !== 'si' || !writeCommonKey(history, edge.from, edge.to)
}

function arrivesAtSnapshot(history: History, level: LevelId, edge: Edge): boolean {
  if (edge.kind === 'SO' || edge.kind === 'WR') return true
  return level === 'si' && !leavesFromSnapshot(history, level, edge)
}

/** True if two transactions, neither of them the initial one, write a common key. */
export function writeCommonKey(history: History, a: number, b: number): boolean {
  if (a < 0 || b < 0) return false
  const { txnStatus } = history
  if (txnStatus[a] === ABORTED || txnStatus[b] === ABORTED) return false // they leave nothing
  const keys = new Set<number>()
  for (let op = history.txnOpStart[a]!; op < history.txnOpStart[a + 1]!; op++) {
    if (isWrite(history, op)) keys.add(history.opKey[op]!)
  }
  for (let op = history.txnOpStart[b]!; op < history.txnOpStart[b + 1]!; op++) {
    if (isWrite(history, op) && keys.has(history.opKey[op]!)) return true
  }
  return false
}
