// The graph of the edges present under the current assignment.
//
// Known edges stand in compressed rows. Candidates whose literals are true hang in linked lists,
// one slot per pair of ends, newest first: assignments are undone in reverse, so a slot to be
// removed is always the head of its two lists. A slot counts the candidates that ask for it and
// remembers the first: the oldest, whose literals make the best reason. Main class: PresentGraph.

import type { Csr } from '../graph/csr.ts'
import type { EdgeGraph, EdgeStore } from './edges.ts'
import { NONE } from './trail.ts'

export class PresentGraph {
  readonly nodeCount: number
  readonly known: Csr // successors by known edges
  readonly knownBack: Csr // predecessors by known edges
  readonly slotFrom: Int32Array
  readonly slotTo: Int32Array
  readonly outHead: Int32Array // node -> newest present slot that leaves it, or NONE
  readonly outNext: Int32Array // slot -> next older slot with the same start
  readonly inHead: Int32Array // node -> newest present slot that enters it, or NONE
  readonly inNext: Int32Array // slot -> next older slot with the same end
  readonly owner: Int32Array // slot -> candidate that brought it in
  private readonly uses: Int32Array // slot -> present candidates with these ends

  constructor(store: EdgeStore, graph: EdgeGraph) {
    const slotCount = graph.slotFrom.length
    this.nodeCount = store.nodeCount
    this.known = graph.out
    this.knownBack = graph.in
    this.slotFrom = graph.slotFrom
    this.slotTo = graph.slotTo
    this.outHead = new Int32Array(this.nodeCount).fill(NONE)
    this.inHead = new Int32Array(this.nodeCount).fill(NONE)
    this.outNext = new Int32Array(slotCount)
    this.inNext = new Int32Array(slotCount)
    this.owner = new Int32Array(slotCount)
    this.uses = new Int32Array(slotCount)
  }

  has(slot: number): boolean {
    return this.uses[slot]! > 0
  }

  add(slot: number, candidate: number): void {
    if (this.uses[slot]!++ > 0) return
    const from = this.slotFrom[slot]!
    const to = this.slotTo[slot]!
    this.owner[slot] = candidate
    this.outNext[slot] = this.outHead[from]!
    this.outHead[from] = slot
    this.inNext[slot] = this.inHead[to]!
    this.inHead[to] = slot
  }

  /** Undoes the latest `add` that was not undone yet. */
  remove(slot: number): void {
    if (--this.uses[slot]! > 0) return
    this.outHead[this.slotFrom[slot]!] = this.outNext[slot]!
    this.inHead[this.slotTo[slot]!] = this.inNext[slot]!
  }
}
