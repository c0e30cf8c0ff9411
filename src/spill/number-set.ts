// Small nonnegative integers, one bit each: which of the many that lie close together were met.
// Main class: NumberSet.

import { enlarged } from '../base/grow.ts'

const LEAST_WORDS = 1 << 10

export class NumberSet {
  private words = new Int32Array(LEAST_WORDS) // 32 numbers each

  /** @param mostBytes that it may take */
  constructor(private readonly mostBytes: number) {}

  /** Adds a number; false if it was there before. Null if there is no room for it. */
  add(n: number): boolean | null {
    const word = n >>> 5
    if (word >= this.words.length && !this.grow(word + 1)) return null
    const bit = 1 << (n & 31)
    const known = this.words[word]!
    if ((known & bit) !== 0) return false
    this.words[word] = known | bit
    return true
  }

  has(n: number): boolean {
    const word = n >>> 5
    return word < this.words.length && (this.words[word]! & (1 << (n & 31))) !== 0
  }

  private grow(words: number): boolean {
    // The old ones are there until the new ones are filled.
    const size = Math.max(words, Math.ceil(this.words.length * 1.5))
    if (4 * (size + this.words.length) > this.mostBytes) return false
    this.words = enlarged(this.words, size)
    return true
  }
}
