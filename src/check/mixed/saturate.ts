// What follows without any choice: edges of the commit order that the axioms force for pairs whose
// writer is known, candidates that no order allows, conflicts with one candidate left. Repeated
// until nothing changes (the fixpoint of Bouajjani, Enea, Román-Calvo, Algorithm 2, extended to
// snapshots and to candidates); stopping earlier is sound, and often enough. A circle, or a
// conflict without candidates, refutes the history. Transactions that may take no part have edges
// only towards them: those hold either way. Each round O(pairs · writers) and an update of the
// known order. Main class: Saturation.

import type { Deadline } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { IN, PC, SI } from '../problem/mixed-problem.ts'
import { KnownOrder } from './known-order.ts'
import type { Layout } from './layout.ts'
import { CAUSAL, Visibility } from './visibility.ts'

export class Saturation {
  readonly known: KnownOrder
  readonly source: Int32Array // pair -> node it reads from, NONE for a conflict not decided
  readonly alive: Uint8Array // candidate -> 1 unless no order allows it
  changed = true // whether the last round found anything; if not, there is nothing to find
  /** Pairs that no version explains: each refutes the history. */
  readonly broken: number[] = []
  private readonly left: Int32Array // conflict -> candidates left
  private readonly premises: Visibility

  /** @param wish graph node -> where in the order it is likely to be */
  constructor(
    private readonly layout: Layout,
    private readonly deadline: Deadline,
    wish: ArrayLike<number>,
  ) {
    const { problem } = layout
    const { zeroStart } = problem
    this.known = new KnownOrder(layout.graphNodeCount, deadline, wish)
    this.source = new Int32Array(layout.pairCount).fill(NONE)
    this.source.set(problem.fixedNode)
    this.alive = new Uint8Array(problem.zeroNode.length).fill(1)
    this.left = Int32Array.from({ length: problem.openCount }, (_, open) => {
      return zeroStart[open + 1]! - zeroStart[open]!
    })
    this.premises = new Visibility(layout, (node) => problem.state[node] === IN, deadline)
    this.addGiven()
  }

  /** Applies every rule once; false if that refutes the history. See `changed`. */
  round(): boolean {
    const { known, layout, premises } = this
    const { problem } = layout
    this.changed = false
    premises.setClocks(known.order, this.source)
    for (let node = 1; node < problem.nodeCount; node++) {
      this.deadline.step()
      if (problem.state[node] !== IN) continue
      if (problem.level[node] === SI) this.orderOverwrites(node)
      if (problem.level[node]! >= PC) this.visitStrong(node)
      else this.visitWeak(node)
    }
    return known.update() && this.broken.length === 0
  }

  /** Session order, given reads, snapshots before their commits. */
  private addGiven(): void {
    const { known, layout } = this
    const { problem, snapshot } = layout
    const { state, before, fixedNode } = problem
    for (let node = 1; node < problem.nodeCount; node++) {
      if (state[node] === 0) continue
      if (snapshot[node] !== node) known.add(snapshot[node]!, node)
      let previous = before[node]!
      while (previous > 0 && state[previous] !== IN) previous = before[previous]!
      known.add(previous, snapshot[node]!)
    }
    for (let pair = 0; pair < layout.fixedCount; pair++) {
      const from = fixedNode[pair]!
      if (state[from] === IN) known.add(from, snapshot[layout.pairReader[pair]!]!, pair)
    }
  }

  /** See KnownOrder for what it rests on. */
  private addEdge(
    from: number,
    to: number,
    pair: number,
    pathFrom: number,
    pathTo: number,
    via: number = NONE,
  ): void {
    if (this.known.has(from, to)) return
    this.known.add(from, to, pair, pathFrom, pathTo, via)
    this.changed = true
  }

  private visitStrong(node: number): void {
    const { nodePairStart, nodePair } = this.layout
    for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
      const pair = nodePair[i]!
      if (this.source[pair] === NONE) this.pruneStrong(node, pair)
      if (this.source[pair] !== NONE) this.orderWriters(node, pair)
    }
  }

  /** Writers after the one read from come after the snapshot; those before it, before that one. */
  private orderWriters(node: number, pair: number): void {
    const { known, layout } = this
    const { writerStart, writerNode } = layout.problem
    const snapshot = layout.snapshot[node]!
    const from = this.source[pair]!
    const key = layout.pairKey[pair]!
    this.deadline.step(writerStart[key + 1]! - writerStart[key]!)
    let added = NONE // a writer after the snapshot as of now
    for (let slot = writerStart[key]! + 1; slot < writerStart[key + 1]!; slot++) {
      const by = writerNode[slot]!
      if (by === from || by === node) continue
      if (known.has(from, by)) {
        if (known.has(snapshot, by) || (added !== NONE && known.has(added, by))) continue
        this.addEdge(snapshot, by, pair, from, by)
        added = by
      } else if (known.has(by, snapshot)) {
        this.addEdge(by, from, pair, by, snapshot)
      }
    }
  }

  private orderOverwrites(node: number): void {
    const { known, layout } = this
    const { writerStart, writerNode } = layout.problem
    const snapshot = layout.snapshot[node]!
    for (let k = layout.nodeKeyStart[node]!; k < layout.nodeKeyStart[node + 1]!; k++) {
      const key = layout.nodeKey[k]!
      this.deadline.step(writerStart[key + 1]! - writerStart[key]!)
      for (let slot = writerStart[key]! + 1; slot < writerStart[key + 1]!; slot++) {
        const other = writerNode[slot]!
        if (other === node) continue
        if (known.has(other, node)) this.addEdge(other, snapshot, NONE, other, node)
        else if (known.has(snapshot, other)) this.addEdge(node, other, NONE, snapshot, other)
      }
    }
  }

  /** Drops candidates that a visible writer has overwritten. */
  private pruneStrong(node: number, pair: number): void {
    const { known, layout } = this
    const { zeroStart, zeroNode, writerStart, writerNode } = layout.problem
    const snapshot = layout.snapshot[node]!
    const open = pair - layout.fixedCount
    const key = layout.pairKey[pair]!
    for (let i = zeroStart[open]!; i < zeroStart[open + 1]!; i++) {
      if (!this.alive[i]) continue
      const from = zeroNode[i]!
      this.deadline.step((writerStart[key + 1]! - writerStart[key]!) >> 1)
      let dead = known.has(snapshot, from)
      for (let slot = writerStart[key]! + 1; !dead && slot < writerStart[key + 1]!; slot++) {
        const by = writerNode[slot]!
        dead = by !== node && known.has(by, snapshot) && known.has(from, by)
      }
      if (dead) this.drop(open, i)
    }
    this.settle(open)
  }

  private visitWeak(node: number): void {
    const { known, layout, premises, source, alive } = this
    const { problem, fixedCount, nodePairStart, nodePair } = layout
    const { zeroStart, zeroNode } = problem
    premises.find(node, source)
    for (let i = 0; i < premises.pair.length; i++) {
      const pair = premises.pair.data[i]!
      const by = premises.by.data[i]!
      const from = source[pair]!
      if (from === 0) {
        this.broken.push(pair)
        continue
      }
      if (from !== NONE) {
        if (by !== from) this.addVisible(node, by, from, pair, premises.via.data[i]!)
        continue
      }
      const open = pair - fixedCount
      this.deadline.step(zeroStart[open + 1]! - zeroStart[open]!)
      for (let c = zeroStart[open]!; c < zeroStart[open + 1]!; c++) {
        if (alive[c] && known.has(zeroNode[c]!, by)) this.drop(open, c)
      }
    }
    for (let i = nodePairStart[node]!; i < nodePairStart[node + 1]!; i++) {
      const open = nodePair[i]! - fixedCount
      if (open < 0 || source[nodePair[i]!] !== NONE) continue
      this.deadline.step(zeroStart[open + 1]! - zeroStart[open]!)
      for (let c = zeroStart[open]!; c < zeroStart[open + 1]!; c++) {
        if (alive[c] && known.has(node, zeroNode[c]!)) this.drop(open, c)
      }
      this.settle(open)
    }
  }

  /** The writer was visible to the node, through a pair, its session, or what led to it. */
  private addVisible(node: number, by: number, from: number, pair: number, via: number): void {
    const isCausal = via === CAUSAL
    const [pathFrom, pathTo] = isCausal ? [by, this.layout.snapshot[node]!] : [NONE, NONE]
    this.addEdge(by, from, pair, pathFrom, pathTo, Math.max(via, NONE))
  }

  private drop(open: number, candidate: number): void {
    this.alive[candidate] = 0
    this.left[open]!--
    this.changed = true
  }

  /** Takes the last candidate left. */
  private settle(open: number): void {
    const { layout } = this
    if (this.left[open] === 0) this.broken.push(layout.fixedCount + open)
    if (this.left[open] !== 1) return
    const { state, zeroStart, zeroNode } = layout.problem
    let last = zeroStart[open]!
    while (!this.alive[last]) last++
    const from = zeroNode[last]!
    const pair = layout.fixedCount + open
    // Whether one that may take no part does is for the solver to say.
    if (state[from] !== IN) return
    this.source[pair] = from
    this.known.add(from, layout.snapshot[layout.pairReader[pair]!]!, pair)
    this.changed = true
  }
}
