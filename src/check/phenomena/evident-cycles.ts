// Whether a dependency graph, as it stands, has a cycle that its level forbids. Strong edges have
// one or a topological order; then each weak edge against that order is a question: does it lead
// back to where it starts? Questions are answered 32 at a time, by one run along the part of the
// order they lie in, so that graphs of any size are decided, mostly in O(edges). Main function:
// findEvidentCycle.

import type { Deadline } from '../../base/deadline.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import type { Dependencies } from './dependencies.ts'
import type { Conflict } from './reasons.ts'

const QUESTIONS_PER_RUN = 32 // bits of a number

/** What contradicts the level, or the nodes in an order of the strong edges. */
export function findEvidentCycle(
  graph: Dependencies,
  priority: ArrayLike<number>,
  deadline: Deadline,
): Conflict | Int32Array {
  const order = findTopologicalOrder(graph.strongEdges(), priority, deadline)
  if (order === null) return { kind: 'cycle' }
  const place = new Int32Array(graph.nodeCount)
  for (let p = 0; p < order.length; p++) place[order[p]!] = p
  const { edges } = graph
  const questions: number[] = []
  for (let id = 0; id < edges.length; id++) {
    const { strong, from, to } = edges[id]!
    if (!strong && place[to]! < place[from]!) questions.push(id)
  }
  questions.sort((a, b) => place[edges[a]!.to]! - place[edges[b]!.to]! || a - b)
  const bits = new Int32Array(graph.nodeCount) // node -> which of the questions' ends lead there
  for (let from = 0; from < questions.length; from += QUESTIONS_PER_RUN) {
    const asked = questions.slice(from, from + QUESTIONS_PER_RUN)
    const found = answer(graph, asked, order, place, bits, deadline)
    if (found !== null) return { kind: 'weak', edge: found }
  }
  return order
}

/** The first of these weak edges that leads back to where it starts. */
function answer(
  { edges, into }: Dependencies,
  asked: readonly number[],
  order: Int32Array,
  place: Int32Array,
  bits: Int32Array,
  deadline: Deadline,
): number | null {
  const start = place[edges[asked[0]!]!.to]!
  let end = start
  for (const id of asked) end = Math.max(end, place[edges[id]!.from]!)
  for (let p = start; p <= end; p++) bits[order[p]!] = 0
  for (const [i, id] of asked.entries()) bits[edges[id]!.to]! |= 1 << i
  for (let p = start; p <= end; p++) {
    const node = order[p]!
    deadline.step(1 + into[node]!.length)
    for (const id of into[node]!) {
      const before = edges[id]!.from
      if (place[before]! >= start) bits[node]! |= bits[before]!
    }
  }
  return asked.find((id, i) => (bits[edges[id]!.from]! >>> i) & 1) ?? null
}
