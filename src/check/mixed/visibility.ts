// What a transaction below pc sees, row by row: for each of its pairs (read of x, writer t1), the
// writers of x that its level makes visible and which must therefore commit before t1. Session
// order and causality are told by one writer a session, the last one visible: those before it
// follow. rc sees what was read before, rc of SQL also session order and the same statement, ra all
// that the transaction read, cc what led to it, through clocks. Main class: Visibility.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import { CC, RC, RC_SQL } from '../problem/mixed-problem.ts'
import type { Layout } from './layout.ts'

/** In place of the pair through which a writer is visible. */
export const SESSION = -2
export const CAUSAL = -3

export class Visibility {
  // What was found last: for each, the pair it constrains, the writer seen, and through which pair
  // it is seen (or SESSION, CAUSAL).
  readonly pair = new IntColumn(64)
  readonly by = new IntColumn(64)
  readonly via = new IntColumn(64)
  private readonly head: Int32Array // key -> last slot of the reader's pairs with that key
  private readonly next: Int32Array // slot of nodePair -> the one before it of the same key
  private readonly metBy: Int32Array // node -> reader that counted it among its sources
  private readonly sessionCount: number
  private clocks: Int32Array | null = null // node · sessionCount -> last index seen

  /** @param takesPart whether a node is taken to take part */
  constructor(
    private readonly layout: Layout,
    private readonly takesPart: (node: number) => boolean,
    private readonly deadline: Deadline,
  ) {
    const { problem } = layout
    this.head = new Int32Array(problem.history.keyCount).fill(NONE)
    this.next = new Int32Array(layout.nodePair.length)
    this.metBy = new Int32Array(problem.nodeCount).fill(NONE)
    this.sessionCount = problem.history.sessionCount
  }

  /** Finds what the node's level makes visible; `source` says whom pairs read from, or NONE. */
  find(reader: number, source: Int32Array): void {
    this.pair.length = 0
    this.by.length = 0
    this.via.length = 0
    const level = this.layout.problem.level[reader]!
    if (level === CC) {
      this.findCausal(reader)
      return
    }
    if (level !== RC) this.findInSession(reader)
    this.findRead(reader, source, level)
  }

  private found(pair: number, by: number, via: number): void {
    this.pair.push(pair)
    this.by.push(by)
    this.via.push(via)
  }

  private findInSession(reader: number): void {
    const { nodePairStart, nodePair, pairKey, session, index } = this.layout
    for (let i = nodePairStart[reader]!; i < nodePairStart[reader + 1]!; i++) {
      const pair = nodePair[i]!
      const by = this.lastWriter(pairKey[pair]!, session[reader]!, index[reader]! - 1)
      if (by !== NONE) this.found(pair, by, SESSION)
    }
  }

  /** Those who wrote the rows that the reader read. */
  private findRead(reader: number, source: Int32Array, level: number): void {
    const { nodePairStart, nodePair, pairKey, pairRead, nodeKeyStart, nodeKey } = this.layout
    const { head, next, metBy } = this
    const start = nodePairStart[reader]!
    const end = nodePairStart[reader + 1]!
    for (let i = start; i < end; i++) {
      const key = pairKey[nodePair[i]!]!
      next[i] = head[key]!
      head[key] = i
    }
    for (let i = start; i < end; i++) {
      const via = nodePair[i]!
      const by = source[via]!
      // The first pair that reads from it is the one that matters.
      if (by <= 0 || metBy[by] === reader) continue
      metBy[by] = reader
      for (let k = nodeKeyStart[by]!; k < nodeKeyStart[by + 1]!; k++) {
        for (let j = head[nodeKey[k]!]!; j !== NONE; j = next[j]!) {
          const pair = nodePair[j]!
          const later = pairRead[pair]! - pairRead[via]!
          if (level === RC ? later > 0 : level !== RC_SQL || later >= 0) this.found(pair, by, via)
        }
      }
    }
    for (let i = start; i < end; i++) {
      head[pairKey[nodePair[i]!]!] = NONE
      metBy[Math.max(0, source[nodePair[i]!]!)] = NONE
    }
  }

  private findCausal(reader: number): void {
    const { nodePairStart, nodePair, pairKey, session, bySession, problem } = this.layout
    const { writerStart, writerNode } = problem
    const clock = reader * this.sessionCount
    for (let i = nodePairStart[reader]!; i < nodePairStart[reader + 1]!; i++) {
      const pair = nodePair[i]!
      const key = pairKey[pair]!
      let best = NONE
      this.deadline.step(writerStart[key + 1]! - writerStart[key]!)
      for (let at = writerStart[key]! + 1; at < writerStart[key + 1]!; at++) {
        const node = writerNode[bySession[at]!]!
        if (best !== NONE && session[node] !== session[best]) {
          this.found(pair, best, CAUSAL)
          best = NONE
        }
        if (this.layout.index[node]! > this.clocks![clock + session[node]!]!) continue
        if (this.takesPart(node) && node !== reader) best = node
      }
      if (best !== NONE) this.found(pair, best, CAUSAL)
    }
  }

  /** The last writer of a key in a session up to a place in it, or NONE. */
  private lastWriter(key: number, session: number, upTo: number): number {
    const { bySession, problem, index } = this.layout
    const { writerStart, writerNode } = problem
    let low = writerStart[key]! + 1
    let high = writerStart[key + 1]!
    while (low < high) {
      const middle = (low + high) >> 1
      const node = writerNode[bySession[middle]!]!
      const gap = this.layout.session[node]! - session
      if (gap < 0 || (gap === 0 && index[node]! <= upTo)) low = middle + 1
      else high = middle
    }
    for (let at = low - 1; at > writerStart[key]!; at--) {
      const node = writerNode[bySession[at]!]!
      if (this.layout.session[node] !== session) return NONE
      if (this.takesPart(node)) return node
    }
    return NONE
  }

  /** Sets the clocks for cc: nodes in an order in which everybody comes after all they see. */
  setClocks(order: ArrayLike<number>, source: Int32Array): void {
    if (!this.layout.hasCausal) return
    this.clocks ??= new Int32Array(this.layout.problem.nodeCount * this.sessionCount)
    this.clocks.fill(NONE)
    for (let i = 0; i < order.length; i++) {
      this.deadline.step(4)
      this.setClock(order[i]!, source)
    }
  }

  /** Sets the clock of a node; those that it sees have theirs. */
  private setClock(node: number, source: Int32Array): void {
    const { nodePairStart, nodePair, problem } = this.layout
    if (!this.clocks || node === 0 || node >= problem.nodeCount || !this.takesPart(node)) return
    let before = problem.before[node]!
    while (before > 0 && !this.takesPart(before)) before = problem.before[before]!
    if (before > 0) this.join(node, before)
    for (let k = nodePairStart[node]!; k < nodePairStart[node + 1]!; k++) {
      const from = source[nodePair[k]!]!
      if (from > 0) this.join(node, from)
    }
  }

  private join(node: number, seen: number): void {
    const { sessionCount } = this
    const clocks = this.clocks!
    const { session, index } = this.layout
    const into = node * sessionCount
    const from = seen * sessionCount
    for (let s = 0; s < sessionCount; s++) {
      if (clocks[from + s]! > clocks[into + s]!) clocks[into + s] = clocks[from + s]!
    }
    const at = into + session[seen]!
    if (index[seen]! > clocks[at]!) clocks[at] = index[seen]!
  }
}
