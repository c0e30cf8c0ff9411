// Which axioms an order and a choice of writers break. Every pair (read of x, writer t1) of a
// transaction t3 asks that each writer of x visible to t3 commit before t1. At ser, si and pc what
// is visible is all up to some place in the order: t3 itself; or the last of what t3 read, follows
// and, at si, overwrites. So one look at the writer that comes next after t1 suffices. Below pc see
// visibility.ts. O(pairs · log writers) beside laying out the writers. Main class: Verifier; main
// function: verifySolution.

import { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import {
  IN,
  type MixedProblem,
  type MixedSolution,
  OUT,
  PC,
  SER,
  SI,
} from '../problem/mixed-problem.ts'
import { Layout } from './layout.ts'
import { Visibility } from './visibility.ts'

/** In place of the pair through which a writer is visible: by its place in the order. */
const SNAPSHOT = -4
/** The pair itself runs against the order, or reads from one that does not take part. */
export const BACKWARD = -5

export class Verifier {
  // What is broken: the pair, the writer that should commit before the one read from, and the pair
  // through which it is visible, or SESSION, CAUSAL, SNAPSHOT, BACKWARD.
  readonly pair = new IntColumn(64)
  readonly by = new IntColumn(64)
  readonly via = new IntColumn(64)
  /** Node -> place in the order last verified, NONE if it takes no part. */
  readonly position: Int32Array
  private readonly premises: Visibility
  private readonly sorted: Int32Array // slot of a key -> its writers as the order goes
  private readonly writerEnd: Int32Array // key -> end of its writers in `sorted`

  constructor(
    private readonly layout: Layout,
    private readonly deadline: Deadline = Deadline.none(),
  ) {
    const { problem } = layout
    this.position = new Int32Array(problem.nodeCount)
    this.sorted = new Int32Array(problem.writerNode.length)
    this.writerEnd = new Int32Array(problem.history.keyCount)
    this.premises = new Visibility(layout, (node) => this.position[node]! >= 0, deadline)
  }

  /** Lays out the writers of every key in an order; the rest asks about that order. */
  setOrder(order: Int32Array): void {
    const { nodeKeyStart, nodeKey, problem } = this.layout
    const { position, sorted, writerEnd } = this
    position.fill(NONE)
    for (let key = 0; key < writerEnd.length; key++) {
      writerEnd[key] = problem.writerStart[key]! + 1
      sorted[problem.writerStart[key]!] = 0
    }
    for (let i = 0; i < order.length; i++) {
      const node = order[i]!
      position[node] = i
      for (let k = nodeKeyStart[node]!; k < nodeKeyStart[node + 1]!; k++) {
        sorted[writerEnd[nodeKey[k]!]!++] = node
      }
    }
  }

  /** Finds all pairs that are broken, with at least one writer each. */
  verify(order: Int32Array, source: Int32Array): void {
    const { layout, position } = this
    const { problem, nodePairStart, nodePair } = layout
    this.pair.length = 0
    this.by.length = 0
    this.via.length = 0
    this.premises.setClocks(order, source)
    for (const node of order) {
      const start = nodePairStart[node]!
      const end = nodePairStart[node + 1]!
      this.deadline.step(1 + 4 * (end - start))
      const inOrder = this.findBackward(node, source)
      if (start === end || !inOrder) continue
      if (problem.level[node]! < PC) {
        this.findUnseen(node, source)
        continue
      }
      const last = this.lastVisible(node, source)
      for (let i = start; i < end; i++) {
        const pair = nodePair[i]!
        const next = this.writerAfter(layout.pairKey[pair]!, position[source[pair]!]!, node)
        if (next !== NONE && position[next]! <= last) this.found(pair, next, SNAPSHOT)
      }
    }
  }

  private found(pair: number, by: number, via: number): void {
    this.pair.push(pair)
    this.by.push(by)
    this.via.push(via)
  }

  /** Reports pairs that are not in the order at all; false if there are any. */
  private findBackward(node: number, source: Int32Array): boolean {
    const { nodePairStart, nodePair } = this.layout
    let sound = true
    for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
      const from = source[nodePair[i]!]!
      const at = from < 0 ? NONE : this.position[from]!
      if (at >= 0 && at < this.position[node]!) continue
      this.found(nodePair[i]!, from, BACKWARD)
      sound = false
    }
    return sound
  }

  private findUnseen(node: number, source: Int32Array): void {
    const { premises, position } = this
    premises.find(node, source)
    for (let i = 0; i < premises.pair.length; i++) {
      const pair = premises.pair.data[i]!
      const by = premises.by.data[i]!
      if (position[by]! <= position[source[pair]!]!) continue
      this.found(pair, by, premises.via.data[i]!)
    }
  }

  /** Place in the order up to which all is visible to a transaction at pc, si or ser. */
  lastVisible(node: number, source: Int32Array): number {
    const { problem, nodePairStart, nodePair, nodeKeyStart, nodeKey } = this.layout
    const { position } = this
    const level = problem.level[node]!
    if (level === SER) return position[node]! - 1
    let last = position[this.previous(node)]!
    for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
      const from = source[nodePair[i]!]!
      if (from > 0) last = Math.max(last, position[from]!)
    }
    if (level !== SI) return last
    for (let k = nodeKeyStart[node]!; k < nodeKeyStart[node + 1]!; k++) {
      last = Math.max(last, position[this.writerUpTo(nodeKey[k]!, position[node]! - 1)]!)
    }
    return last
  }

  /** The one before a node in its session that takes part, else the initial one. */
  previous(node: number): number {
    const { before } = this.layout.problem
    let previous = before[node]!
    while (this.position[previous]! < 0) previous = before[previous]!
    return previous
  }

  /** The first writer of a key after a place in the order, the reader left out; or NONE. */
  writerAfter(key: number, place: number, reader: number): number {
    const at = this.search(key, place)
    const end = this.writerEnd[key]!
    if (at < end && this.sorted[at] !== reader) return this.sorted[at]!
    return at + 1 < end ? this.sorted[at + 1]! : NONE
  }

  /** The last writer of a key up to a place in the order. */
  writerUpTo(key: number, place: number): number {
    return this.sorted[this.search(key, place) - 1]!
  }

  /** Slot of the first writer of a key after a place in the order. */
  private search(key: number, place: number): number {
    const { sorted, position } = this
    let low = this.layout.problem.writerStart[key]!
    let high = this.writerEnd[key]!
    while (low < high) {
      const middle = (low + high) >> 1
      if (position[sorted[middle]!]! <= place) low = middle + 1
      else high = middle
    }
    return low
  }
}

/** Whether an order and a choice of writers satisfy every axiom of the problem. */
export function verifySolution(problem: MixedProblem, solution: MixedSolution): boolean {
  const layout = new Layout(problem)
  const verifier = new Verifier(layout)
  const { order, choice } = solution
  const { state, zeroStart, zeroNode } = problem
  verifier.setOrder(order)
  const { position } = verifier
  if (order[0] !== 0 || state.some((is, node) => is === IN && position[node] === NONE)) return false
  const isAfterSession = (node: number) => position[verifier.previous(node)]! < position[node]!
  if (order.some((node) => state[node] === OUT || (node > 0 && !isAfterSession(node)))) return false
  const source = new Int32Array(layout.pairCount)
  source.set(problem.fixedNode)
  for (let open = 0; open < problem.openCount; open++) {
    const candidates = zeroNode.subarray(zeroStart[open]!, zeroStart[open + 1]!)
    source[layout.fixedCount + open] = candidates.includes(choice[open]!) ? choice[open]! : NONE
  }
  verifier.verify(order, source)
  return verifier.pair.length === 0
}
