// Remembers prefixes that were looked at: vectors of numbers, e.g. one a session, stored in full,
// so that two prefixes are never taken for each other. Open addressing over typed arrays that
// double; a vector costs its own length and two words. Main class: PrefixMemo.

import type { Deadline } from '../../base/deadline.ts'
import { enlarged } from '../../base/grow.ts'

const EMPTY = -1

export class PrefixMemo {
  private count = 0
  private vectors: Int32Array // entry · width -> the vector
  private hashes: Int32Array // entry -> its hash
  private table: Int32Array // hash slot -> entry

  constructor(
    private readonly width: number,
    private readonly deadline: Deadline,
  ) {
    this.vectors = new Int32Array(64 * width)
    this.hashes = new Int32Array(64)
    this.table = new Int32Array(128).fill(EMPTY)
  }

  /** Notes the vector; false if it was noted before. */
  add(vector: Int32Array): boolean {
    const { width } = this
    let hash = 0x9e3779b9 | 0
    for (let i = 0; i < width; i++) {
      hash = Math.imul(hash ^ vector[i]!, 0x85ebca6b)
      hash ^= hash >>> 13
    }
    hash = Math.imul(hash, 0xc2b2ae35)
    hash ^= hash >>> 16
    const mask = this.table.length - 1
    let slot = hash & mask
    for (let entry = this.table[slot]!; entry !== EMPTY; entry = this.table[slot]!) {
      if (this.hashes[entry] === hash && this.equals(entry, vector)) return false
      slot = (slot + 1) & mask
    }
    this.table[slot] = this.count
    this.hashes[this.count] = hash
    this.vectors.set(vector, this.count * width)
    if (++this.count === this.hashes.length) this.grow()
    return true
  }

  private equals(entry: number, vector: Int32Array): boolean {
    const { width, vectors } = this
    const at = entry * width
    for (let i = 0; i < width; i++) if (vectors[at + i] !== vector[i]) return false
    return true
  }

  private grow(): void {
    this.deadline.reserve(8 * this.vectors.length + 16 * this.hashes.length)
    this.vectors = enlarged(this.vectors, 2 * this.vectors.length)
    this.hashes = enlarged(this.hashes, 2 * this.hashes.length)
    const table = new Int32Array(2 * this.table.length).fill(EMPTY)
    const mask = table.length - 1
    for (let entry = 0; entry < this.count; entry++) {
      let slot = this.hashes[entry]! & mask
      while (table[slot] !== EMPTY) slot = (slot + 1) & mask
      table[slot] = entry
    }
    this.table = table
  }
}
