// Nonnegative integers of 32 bits, one bit each, in pages that are there where numbers are: which
// of the many that mostly lie close together were met. Main class: NumberSet.

import { enlarged } from '../base/grow.ts'
import { NONE } from '../history/history.ts'

const PAGE_SHIFT = 15 // numbers of a page
const PAGE_WORDS = 1 << (PAGE_SHIFT - 5)

export class NumberSet {
  private pageOf = new Int32Array(0) // number >> PAGE_SHIFT -> its page, NONE if there is none
  private pages = 0
  private words = new Int32Array(PAGE_WORDS) // 32 numbers each

  /** @param mostBytes that it may take */
  constructor(private readonly mostBytes: number) {}

  /** Adds a number; false if it was there before. Null if there is no room for it. */
  add(n: number): boolean | null {
    const range = n >>> PAGE_SHIFT
    let page = range < this.pageOf.length ? this.pageOf[range]! : NONE
    if (page === NONE) {
      if (!this.makePage(range)) return null
      page = this.pageOf[range]!
    }
    const word = page * PAGE_WORDS + ((n >>> 5) & (PAGE_WORDS - 1))
    const bit = 1 << (n & 31)
    const known = this.words[word]!
    if ((known & bit) !== 0) return false
    this.words[word] = known | bit
    return true
  }

  has(n: number): boolean {
    const range = n >>> PAGE_SHIFT
    if (range >= this.pageOf.length) return false
    const page = this.pageOf[range]!
    if (page === NONE) return false
    const word = page * PAGE_WORDS + ((n >>> 5) & (PAGE_WORDS - 1))
    return (this.words[word]! & (1 << (n & 31))) !== 0
  }

  private makePage(range: number): boolean {
    const { pageOf, words } = this
    const ranges = range < pageOf.length ? pageOf.length : Math.ceil((range + 1) * 1.5)
    const needed = (this.pages + 1) * PAGE_WORDS
    const size = needed <= words.length ? words.length : Math.max(needed, this.enoughWords())
    // The old ones are there until the new ones are filled.
    const copied = size > words.length ? words.length : 0
    const isFirst = range === 0 && this.pages === 0
    if (!isFirst && 4 * (ranges + size + copied) > this.mostBytes) return false
    if (size > words.length) this.words = enlarged(words, size)
    if (ranges > pageOf.length) this.pageOf = enlarged(pageOf, ranges, NONE)
    this.pageOf[range] = this.pages++
    return true
  }

  private enoughWords(): number {
    return Math.ceil((this.words.length * 1.5) / PAGE_WORDS) * PAGE_WORDS
  }
}
