// Dense ids for pairs of integers, in order of first appearance.
//
// Open addressing with linear probing over typed arrays that double at half load: a JavaScript Map
// keyed by strings or nested Maps costs ten times the memory. Used to merge parallel edges and to
// number pairs of writers. Main class: PairIndex.

import { enlarged } from '../base/grow.ts'

const EMPTY = -1

export class PairIndex {
  /** Number of distinct pairs; ids are 0 .. count - 1. */
  count = 0
  private first: Int32Array // id -> first of the pair
  private second: Int32Array // id -> second of the pair
  private table: Int32Array // hash slot -> id
  private mask: number

  constructor(expected = 16) {
    let size = 16
    while (size < 2 * expected) size *= 2
    this.table = new Int32Array(size).fill(EMPTY)
    this.mask = size - 1
    this.first = new Int32Array(size / 2)
    this.second = new Int32Array(size / 2)
  }

  /** The id of (a, b), a new one if the pair was never seen; the order within the pair counts. */
  add(a: number, b: number): number {
    let slot = this.slotOf(a, b)
    const known = this.table[slot]!
    if (known !== EMPTY) return known
    if (this.count === this.first.length) {
      this.grow()
      slot = this.slotOf(a, b)
    }
    const id = this.count++
    this.first[id] = a
    this.second[id] = b
    this.table[slot] = id
    return id
  }

  /** The id of (a, b), or -1. */
  find(a: number, b: number): number {
    return this.table[this.slotOf(a, b)]!
  }

  firstOf(id: number): number {
    return this.first[id]!
  }

  secondOf(id: number): number {
    return this.second[id]!
  }

  private slotOf(a: number, b: number): number {
    const { table, first, second, mask } = this
    let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b + 0x7f4a7c15, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
    let slot = (hash ^ (hash >>> 13)) & mask
    while (true) {
      const id = table[slot]!
      if (id === EMPTY || (first[id] === a && second[id] === b)) return slot
      slot = (slot + 1) & mask
    }
  }

  private grow(): void {
    const size = 2 * this.table.length
    this.table = new Int32Array(size).fill(EMPTY)
    this.mask = size - 1
    this.first = enlarged(this.first, size / 2)
    this.second = enlarged(this.second, size / 2)
    for (let id = 0; id < this.count; id++) {
      this.table[this.slotOf(this.first[id]!, this.second[id]!)] = id
    }
  }
}
