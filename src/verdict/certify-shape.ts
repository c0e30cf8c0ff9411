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
// that both overwrite it, a lost update, contradict si. Where each transaction has a level of its
// own, each end of an edge is as the level of its transaction says.
//
// Adya's levels ask how many anti-dependencies a cycle has, and whose (Overwrites in level-rules.ts).
// A path that, closed by the opposite order of its ends, would be such a cycle orders them. Main
// function: pathProblem.

import { ABORTED, type History } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { isWrite } from './certify-reads.ts'
import { LEVEL_RULES } from './level-rules.ts'
import { type Edge, INITIAL_TXN } from './verdict.ts'

type Ends = { readonly from: number; readonly to: number } | null

/** The level that each transaction is judged at. */
export type LevelOf = (txn: number) => LevelId

/**
 * What keeps the edges from forming a cycle (`ends` null), or a path that puts the commit of
 * ends.from before that of ends.to; null if they do.
 */
export function pathProblem(history: History, level: LevelId, edges: readonly Edge[], ends: Ends) {
  const problem = chainProblem(history, () => level, edges, ends)
  return problem ?? overwriteProblem(history, level, edges, ends)
}

/** The same where each transaction has a level of its own, but for Adya's levels. */
export function chainProblem(
  history: History,
  levelOf: LevelOf,
  edges: readonly Edge[],
  ends: Ends,
): string | null {
  const last = edges.at(-1)
  if (!last) return 'there are no edges'
  if (ends !== null && last.to !== ends.to) return 'the reasons lead elsewhere'
  let at = ends === null ? last.to : ends.from
  let atSnapshot = ends === null && arrivesAtSnapshot(history, levelOf, last)
  for (const [i, edge] of edges.entries()) {
    if (edge.from !== at) return `edge ${i} does not start where the one before it ends`
    if (!atSnapshot && leavesFromSnapshot(history, levelOf, edge)) {
      return `at ${levelOf(edge.from)} edge ${i}, ${edge.kind}, does not continue the chain`
    }
    at = edge.to
    atSnapshot = arrivesAtSnapshot(history, levelOf, edge)
  }
  return null
}

/** What keeps the anti-dependencies of a cycle, or of a path, from counting against the level. */
function overwriteProblem(
  history: History,
  level: LevelId,
  edges: readonly Edge[],
  ends: Ends,
): string | null {
  const overwrites = edges.filter(({ kind }) => kind === 'RW')
  const atMostOne = (counted: readonly Edge[]) =>
    counted.length > 1
      ? `${counted.length} of its anti-dependencies count at ${level}, which forbids cycles with one`
      : null
  const { overwrites: counted } = LEVEL_RULES[level]
  if (counted === 'any') return null
  if (counted === 'cursor') {
    return overwrites.some(({ from, key }) => !writesOf(history, from).has(key))
      ? `it has an anti-dependency by a reader that does not write the key, as ${level} asks for`
      : null
  }
  if (counted === 'one') {
    return atMostOne(overwrites.filter(({ from, to }) => !writeCommonKey(history, from, to)))
  }
  if (counted === 'later') return atMostOne(overwrites) ?? entryProblem(edges, ends)
  return atMostOne(overwrites.filter(({ from }) => writesOf(history, from).size === 0))
}

/** The one anti-dependency is by a read that comes after whatever leads to its transaction. */
function entryProblem(edges: readonly Edge[], ends: Ends): string | null {
  const at = edges.findIndex(({ kind }) => kind === 'RW')
  if (at < 0) return null
  const reader = edges[at]!.from
  if (new Set(edges.map(({ from }) => from)).size < edges.length || ends?.to === reader) {
    return 'the cycle passes a transaction twice'
  }
  const entry = ends === null ? edges.at(at - 1) : edges[at - 1]
  if (entry === undefined) return 'nothing leads to the reader'
  const into = entry.ops[entry.from === INITIAL_TXN ? 0 : 1]!
  return into < edges[at]!.ops[0]! ? null : 'what leads to the reader comes after its read'
}

/** The keys that a transaction writes. */
export function writesOf(history: History, txn: number): Set<number> {
  const keys = new Set<number>()
  for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
    if (isWrite(history, op)) keys.add(history.opKey[op]!)
  }
  return keys
}

/** Whether the edge leads from a snapshot that is another moment than the commit. */
function leavesFromSnapshot(history: History, levelOf: LevelOf, { kind, from, to }: Edge): boolean {
  if (kind !== 'RW') return false
  const { snapshots, exclusive } = LEVEL_RULES[levelOf(from)]
  return snapshots && !(exclusive && writeCommonKey(history, from, to))
}

function arrivesAtSnapshot(history: History, levelOf: LevelOf, edge: Edge): boolean {
  const { kind, from, to } = edge
  if (kind === 'SO' || kind === 'WR' || kind === 'RT' || to === INITIAL_TXN) return true
  if (!LEVEL_RULES[levelOf(to)].exclusive) return false
  if (kind !== 'RW') return true
  return writeCommonKey(history, from, to) && !leavesFromSnapshot(history, levelOf, edge)
}

/** True if two transactions, neither of them the initial one, write a common key. */
export function writeCommonKey(history: History, a: number, b: number): boolean {
  if (a < 0 || b < 0) return false
  const { txnStatus } = history
  if (txnStatus[a] === ABORTED || txnStatus[b] === ABORTED) return false // they leave nothing
  const keys = writesOf(history, a)
  for (let op = history.txnOpStart[b]!; op < history.txnOpStart[b + 1]!; op++) {
    if (isWrite(history, op) && keys.has(history.opKey[op]!)) return true
  }
  return false
}
