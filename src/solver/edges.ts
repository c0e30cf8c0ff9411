// The edges of the problem: known ones, and candidates that stand or fall with literals.
//
// Before a search the edges are prepared. A cycle never leaves a strongly connected component of
// the graph of all edges, known and candidate; so edges between components are left out, which
// splits the problem into independent parts without further ado. Parallel edges are merged:
// candidates with the same ends share a slot, and one parallel to a known edge changes nothing.
// Cost O(nodes + edges). Main class: EdgeStore; main function: buildEdgeGraph.

import { Deadline } from '../base/deadline.ts'
import { enlarged } from '../base/grow.ts'
import { buildCsr, type Csr } from '../graph/csr.ts'
import { findComponents } from '../graph/scc.ts'
import { NONE } from './trail.ts'

export class EdgeStore {
  knownCount = 0
  knownFrom = new Int32Array(64)
  knownTo = new Int32Array(64)
  candidateCount = 0
  candidateFrom = new Int32Array(64)
  candidateTo = new Int32Array(64)
  candidateLiteral = new Int32Array(64) // candidate -> literal it needs
  candidateOther = new Int32Array(64) // candidate -> second literal it needs, or NONE

  constructor(readonly nodeCount: number) {}

  addKnown(from: number, to: number): void {
    const edge = this.knownCount++
    if (edge === this.knownFrom.length) {
      this.knownFrom = enlarged(this.knownFrom, 2 * edge)
      this.knownTo = enlarged(this.knownTo, 2 * edge)
    }
    this.knownFrom[edge] = from
    this.knownTo[edge] = to
  }

  addCandidate(literal: number, other: number, from: number, to: number): void {
    const edge = this.candidateCount++
    if (edge === this.candidateFrom.length) {
      this.candidateFrom = enlarged(this.candidateFrom, 2 * edge)
      this.candidateTo = enlarged(this.candidateTo, 2 * edge)
      this.candidateLiteral = enlarged(this.candidateLiteral, 2 * edge)
      this.candidateOther = enlarged(this.candidateOther, 2 * edge)
    }
    this.candidateFrom[edge] = from
    this.candidateTo[edge] = to
    this.candidateLiteral[edge] = literal
    this.candidateOther[edge] = other
  }

  /** The known edges, then the candidates: those chosen, else all. */
  withKnown(chosen?: ArrayLike<number>): { from: Int32Array; to: Int32Array } {
    const { knownCount } = this
    const count = chosen?.length ?? this.candidateCount
    const from = enlarged(this.knownFrom.subarray(0, knownCount), knownCount + count)
    const to = enlarged(this.knownTo.subarray(0, knownCount), knownCount + count)
    for (let i = 0; i < count; i++) {
      const candidate = chosen ? chosen[i]! : i
      from[knownCount + i] = this.candidateFrom[candidate]!
      to[knownCount + i] = this.candidateTo[candidate]!
    }
    return { from, to }
  }
}

export interface EdgeGraph {
  readonly out: Csr // known successors, within components
  readonly in: Csr // known predecessors, within components
  readonly slotFrom: Int32Array // slot -> where its candidates start
  readonly slotTo: Int32Array // slot -> where they end
  readonly slotOf: Int32Array // candidate -> slot, NONE when it can close no cycle of its own
  readonly literalStart: Int32Array // literal -> first of its entries in literalEdge
  readonly literalEdge: Int32Array // candidates with a slot, by literal
}

export function buildEdgeGraph(
  store: EdgeStore,
  literalCount: number,
  deadline: Deadline = Deadline.none(),
): EdgeGraph {
  const { nodeCount, knownCount, candidateCount } = store
  const { from: starts, to: ends } = store.withKnown()
  const all = buildCsr(nodeCount, starts, ends)
  const { componentOf } = findComponents(all, deadline)
  const knownFrom = new Int32Array(knownCount)
  const knownTo = new Int32Array(knownCount)
  const slotFrom = new Int32Array(candidateCount)
  const slotTo = new Int32Array(candidateCount)
  const slotOf = new Int32Array(candidateCount).fill(NONE)
  const metFrom = new Int32Array(nodeCount).fill(NONE) // node -> last node with an edge to it
  const metSlot = new Int32Array(nodeCount) // node -> slot of that edge, NONE for a known one
  let keptCount = 0
  let slotCount = 0

  // Rows hold known edges before candidates, so each pair of ends is met first by its known edge.
  for (let from = 0; from < nodeCount; from++) {
    deadline.step(1 + all.start[from + 1]! - all.start[from]!)
    for (let i = all.start[from]!, end = all.start[from + 1]!; i < end; i++) {
      const to = all.target[i]!
      if (componentOf[from] !== componentOf[to]) continue
      const candidate = all.edge[i]! - knownCount
      if (metFrom[to] !== from) {
        metFrom[to] = from
        metSlot[to] = candidate < 0 ? NONE : slotCount
        if (candidate < 0) {
          knownFrom[keptCount] = from
          knownTo[keptCount++] = to
        } else {
          slotFrom[slotCount] = from
          slotTo[slotCount++] = to
        }
      }
      if (candidate >= 0) slotOf[candidate] = metSlot[to]!
    }
  }
  const out = buildCsr(nodeCount, knownFrom, knownTo, keptCount)
  deadline.check()
  const into = buildCsr(nodeCount, knownTo, knownFrom, keptCount)
  deadline.check()
  return {
    out,
    in: into,
    slotFrom: slotFrom.slice(0, slotCount),
    slotTo: slotTo.slice(0, slotCount),
    slotOf,
    ...groupByLiteral(store, slotOf, literalCount),
  }
}

function groupByLiteral(store: EdgeStore, slotOf: Int32Array, literalCount: number) {
  const { candidateCount, candidateLiteral, candidateOther } = store
  const literal = new Int32Array(2 * candidateCount)
  const edge = new Int32Array(2 * candidateCount)
  let count = 0
  for (let e = 0; e < candidateCount; e++) {
    if (slotOf[e] === NONE) continue
    literal[count] = candidateLiteral[e]!
    edge[count++] = e
    if (candidateOther[e] === NONE) continue
    literal[count] = candidateOther[e]!
    edge[count++] = e
  }
  const rows = buildCsr(literalCount, literal, edge, count)
  return { literalStart: rows.start, literalEdge: rows.target }
}
