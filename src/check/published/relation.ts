// A relation on nodes as a matrix of bits, for the reference decider: row t holds the nodes before
// t. Closing it is Warshall's algorithm on whole rows, O(nodes³ / 32).

import type { Deadline } from '../../base/deadline.ts'

export class Relation {
  readonly words: number // of a row
  readonly rows: Uint32Array // node · words -> bits of the nodes before it

  constructor(readonly nodeCount: number) {
    this.words = (nodeCount + 31) >>> 5
    this.rows = new Uint32Array(nodeCount * this.words)
  }

  copy(): Relation {
    const other = new Relation(this.nodeCount)
    other.rows.set(this.rows)
    return other
  }

  has(before: number, node: number): boolean {
    return ((this.rows[node * this.words + (before >>> 5)]! >>> (before & 31)) & 1) === 1
  }

  add(before: number, node: number): void {
    this.rows[node * this.words + (before >>> 5)]! |= 1 << (before & 31)
  }

  /** Puts everything that is before `via` before `node` too. */
  inherit(node: number, via: number): void {
    orInto(this.rows, node * this.words, this.rows, via * this.words, this.words)
  }

  /** Makes it transitive. */
  close(deadline: Deadline): void {
    for (let via = 0; via < this.nodeCount; via++) {
      for (let node = 0; node < this.nodeCount; node++) {
        if (node === via || !this.has(via, node)) continue
        deadline.step(this.words >> 3)
        this.inherit(node, via)
      }
      deadline.step(this.nodeCount >> 2)
    }
  }

  /** Whether some node is before itself, once the relation is closed. */
  isCyclic(): boolean {
    for (let node = 0; node < this.nodeCount; node++) if (this.has(node, node)) return true
    return false
  }
}

/** Adds the bits of one row to another. */
export function orInto(
  target: Uint32Array,
  at: number,
  source: Uint32Array,
  from: number,
  words: number,
): void {
  for (let i = 0; i < words; i++) target[at + i]! |= source[from + i]!
}
