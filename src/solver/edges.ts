// The edges of the problem: known ones, and candidates that stand or fall with literals.
//
// Before a search the edges are prepared. A cycle never leaves a strongly connected component of
// the graph of all edges, known and candidate; so edges between components are left out, which
// splits the problem into independent parts without further ado. Parallel edges are merged:
// candidates with the same ends share a slot, and one parallel to a known edge changes nothing.
// Cost O(nodes + edges). Main class: EdgeStore; main function: buildEdgeGraph.

import type { Csr } from '../graph/csr.ts'
import { buildCsr } from '../graph/csr.ts'
import { PairIndex } from '../graph/pair-index.ts'
import { findComponents } from '../graph/scc.ts'
import { resizeInt32 } from './resize.ts'
import { NONE } from './trail.ts'

export class EdgeStore {
  readonly nodeCount: number
  knownCount = 0
  knownFrom = new Int32Array(64)
  knownTo = new Int32Array(64)
  candidateCount = 0
  candidateFrom = new Int32Array(64)
  candidateTo = new Int32Array(64)
  candidateLiteral = new Int32Array(64) // candidate -> literal it needs
  candidateOther = new Int32Array(64) // candidate -> second literal it needs, or NONE

  constructor(nodeCount: number) {
    this.nodeCount = nodeCount
  }

  addKnown(from: number, to: number): void {
    const edge = this.knownCount++
    if (edge === this.knownFrom.length) {
      this.knownFrom = resizeInt32(this.knownFrom, 2 * edge)
      this.knownTo = resizeInt32(this.knownTo, 2 * edge)
    }
    this.knownFrom[edge] = from
    this.knownTo[edge] = to
  }

  addCandidate(literal: number, other: number, from: number, to: number): void {
    const edge = this.candidateCount++
    if (edge === this.candidateFrom.length) {
      this.candidateFrom = resizeInt32(this.candidateFrom, 2 * edge)
      this.candidateTo = resizeInt32(this.candidateTo, 2 * edge)
      this.candidateLiteral = resizeInt32(this.candidateLiteral, 2 * edge)
      this.candidateOther = resizeInt32(this.candidateOther, 2 * edge)
    }
    this.candidateFrom[edge] = from
    this.candidateTo[edge] = to
    this.candidateLiteral[edge] = literal
    this.candidateOther[edge] = other
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

export function buildEdgeGraph(store: EdgeStore, literalCount: number): EdgeGraph {
  const { nodeCount, knownCount, candidateCount } = store
  const componentOf = findAllComponents(store)

  // Known edges within components, each once.
  const known = new PairIndex(knownCount)
  for (let e = 0; e < knownCount; e++) {
    const from = store.knownFrom[e]!
    const to = store.knownTo[e]!
    if (componentOf[from] === componentOf[to]) known.add(from, to)
  }
  const from = known.firsts()
  const to = known.seconds()

  // Candidates within components that are not known edges.
  const slots = new PairIndex(candidateCount)
  const slotOf = new Int32Array(candidateCount).fill(NONE)
  for (let e = 0; e < candidateCount; e++) {
    const a = store.candidateFrom[e]!
    const b = store.candidateTo[e]!
    if (componentOf[a] !== componentOf[b] || known.find(a, b) !== NONE) continue
    slotOf[e] = slots.add(a, b)
  }
  return {
    out: buildCsr(nodeCount, from, to),
    in: buildCsr(nodeCount, to, from),
    slotFrom: slots.firsts(),
    slotTo: slots.seconds(),
    slotOf,
    ...byLiteral(),
  }

  function byLiteral(): { literalStart: Int32Array; literalEdge: Int32Array } {
    const literal = new Int32Array(2 * candidateCount)
    const edge = new Int32Array(2 * candidateCount)
    let count = 0
    for (let e = 0; e < candidateCount; e++) {
      if (slotOf[e] === NONE) continue
      literal[count] = store.candidateLiteral[e]!
      edge[count++] = e
      if (store.candidateOther[e] === NONE) continue
      literal[count] = store.candidateOther[e]!
      edge[count++] = e
    }
    const rows = buildCsr(literalCount, literal, edge, count)
    return { literalStart: rows.start, literalEdge: rows.target }
  }
}

/** Components of the graph of all edges, known and candidate. */
function findAllComponents(store: EdgeStore): Int32Array {
  const { knownCount, candidateCount } = store
  const from = new Int32Array(knownCount + candidateCount)
  const to = new Int32Array(knownCount + candidateCount)
  from.set(store.knownFrom.subarray(0, knownCount))
  to.set(store.knownTo.subarray(0, knownCount))
  from.set(store.candidateFrom.subarray(0, candidateCount), knownCount)
  to.set(store.candidateTo.subarray(0, candidateCount), knownCount)
  return findComponents(buildCsr(store.nodeCount, from, to)).componentOf
}
