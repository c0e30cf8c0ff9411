// The acyclicity theory: keeps the present edges acyclic while literals become true and false.
//
// Each true literal on the trail is asserted once, in order: its edges, and the conditional ones
// whose other literal was asserted before, join the graph. An edge that closes a cycle makes a
// conflict: not all literals of that cycle can be true. Asserting is undone in reverse. The theory
// also knows which side of a variable agrees with the current order (polarity): after VeriStrong
// (PVLDB 2026), the best guess there is, as agreeing edges cost nothing and close no cycle.
// Main class: AcyclicTheory.

import type { Deadline } from '../base/deadline.ts'
import { assert } from '../base/errors.ts'
import { buildCsr } from '../graph/csr.ts'
import { findTopologicalOrder } from '../graph/toposort.ts'
import { CycleFinder } from './cycle.ts'
import { buildEdgeGraph, type EdgeGraph, type EdgeStore } from './edges.ts'
import { DynamicOrder } from './order.ts'
import { PresentGraph } from './present.ts'
import { NONE, type Trail } from './trail.ts'

const LOOKED_AT = 4 // edges per literal that count for its polarity

export class AcyclicTheory {
  asserted = 0 // trail positions already asserted
  readonly order: DynamicOrder
  readonly cycle: CycleFinder
  readonly edges: EdgeGraph
  readonly waiting: Uint8Array // candidate -> its literals that are not asserted
  private readonly present: PresentGraph
  private readonly trail: Trail
  private readonly log: Int32Array // candidates whose `waiting` went down, in order
  private readonly logStart: Int32Array // trail position -> size of the log before it was asserted
  private logSize = 0

  constructor(store: EdgeStore, edges: EdgeGraph, trail: Trail, nodeAt: Int32Array) {
    const { candidateCount, candidateOther } = store
    this.edges = edges
    this.trail = trail
    this.present = new PresentGraph(store, edges)
    this.order = new DynamicOrder(this.present, nodeAt)
    this.cycle = new CycleFinder(store, this.present, this.order, trail)
    this.waiting = new Uint8Array(candidateCount)
    for (let e = 0; e < candidateCount; e++) this.waiting[e] = candidateOther[e] === NONE ? 1 : 2
    this.log = new Int32Array(edges.literalEdge.length)
    this.logStart = new Int32Array(trail.variableCount)
  }

  /** Asserts the next literal of the trail; false when that closes the cycle `cycle.literals`. */
  assertNext(): boolean {
    const { edges, waiting, present, order } = this
    const { slotOf, literalStart, literalEdge } = edges
    const literal = this.trail.literals[this.asserted]!
    this.logStart[this.asserted++] = this.logSize
    for (let i = literalStart[literal]!, end = literalStart[literal + 1]!; i < end; i++) {
      const candidate = literalEdge[i]!
      if (waiting[candidate] === 1) {
        const slot = slotOf[candidate]!
        if (!present.has(slot) && !order.admit(present.slotFrom[slot]!, present.slotTo[slot]!)) {
          this.cycle.find(candidate)
          return false
        }
        present.add(slot, candidate)
      }
      waiting[candidate]!--
      this.log[this.logSize++] = candidate
    }
    return true
  }

  /** Takes back all literals from a trail position on. */
  undoTo(trailSize: number): void {
    if (trailSize >= this.asserted) return
    const { waiting, present, log } = this
    const keep = this.logStart[trailSize]!
    for (let i = this.logSize - 1; i >= keep; i--) {
      const candidate = log[i]!
      if (waiting[candidate]!++ === 0) present.remove(this.edges.slotOf[candidate]!)
    }
    this.logSize = keep
    this.asserted = trailSize
  }

  /** Takes the order of the present edges that is closest to a wish (node -> place). */
  reorder(wish: Int32Array | null, deadline: Deadline): void {
    const { known, outHead, outNext, slotTo, nodeCount } = this.present
    const edgeCount = known.target.length + slotTo.length // at most
    const from = new Int32Array(edgeCount)
    const to = new Int32Array(edgeCount)
    let count = 0
    for (let node = 0; node < nodeCount; node++) {
      for (let i = known.start[node]!; i < known.start[node + 1]!; i++) {
        from[count] = node
        to[count++] = known.target[i]!
      }
      for (let slot = outHead[node]!; slot >= 0; slot = outNext[slot]!) {
        from[count] = node
        to[count++] = slotTo[slot]!
      }
    }
    deadline.check()
    const graph = buildCsr(nodeCount, from, to, count)
    const nodeAt = findTopologicalOrder(graph, wish ?? undefined, deadline)
    assert(nodeAt !== null, 'the present edges have no cycle')
    this.order.replace(nodeAt)
  }

  /** Whether all edges of a literal agree with the order. */
  private agrees(literal: number): boolean {
    const { literalStart, literalEdge, slotOf } = this.edges
    const { slotFrom, slotTo } = this.present
    const { position } = this.order
    for (let i = literalStart[literal]!, end = literalStart[literal + 1]!; i < end; i++) {
      const slot = slotOf[literalEdge[i]!]!
      if (position[slotFrom[slot]!]! >= position[slotTo[slot]!]!) return false
    }
    return true
  }

  /**
   * A side of a variable that costs nothing, as all its edges agree with the order; or NONE.
   * @param likely the side that is looked at first
   */
  settledLiteral(likely: number): number {
    if (this.agrees(likely)) return likely
    return this.agrees(likely ^ 1) ? likely ^ 1 : NONE
  }

  /** The literal of a variable that agrees with the order, or NONE if the order does not care. */
  polarity(variable: number): number {
    const positive = this.disagreement(2 * variable)
    const negative = this.disagreement(2 * variable + 1)
    if (positive === negative) return NONE
    return positive < negative ? 2 * variable : 2 * variable + 1
  }

  /** How many of the first edges of a literal run against the order. */
  private disagreement(literal: number): number {
    const { literalStart, literalEdge, slotOf } = this.edges
    const { slotFrom, slotTo } = this.present
    const { position } = this.order
    const start = literalStart[literal]!
    const end = Math.min(literalStart[literal + 1]!, start + LOOKED_AT)
    let count = 0
    for (let i = start; i < end; i++) {
      const slot = slotOf[literalEdge[i]!]!
      if (position[slotFrom[slot]!]! >= position[slotTo[slot]!]!) count++
    }
    return count
  }
}

/** The theory for these edges, or null when the known edges alone have a cycle. */
export function buildTheory(
  store: EdgeStore,
  trail: Trail,
  wish: Int32Array | null,
  deadline: Deadline,
): AcyclicTheory | null {
  const edges = buildEdgeGraph(store, 2 * trail.variableCount, deadline)
  deadline.check()
  const known = buildCsr(store.nodeCount, store.knownFrom, store.knownTo, store.knownCount)
  const nodeAt = findTopologicalOrder(known, wish ?? undefined, deadline)
  return nodeAt === null ? null : new AcyclicTheory(store, edges, trail, nodeAt)
}
