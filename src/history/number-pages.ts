// Symbols of large integers that lie close together. Such integers mostly come from counters, with
// a session or a time in their upper digits, and are read soon after they were written. So 256
// neighbours share a page, and only pages are hashed: the table of pages stays in the cache, and
// what is asked for at one time lies side by side, where a table of all integers would be one miss
// after another. Where integers do not lie close together, no more pages are made, for good, and
// the caller has to keep them elsewhere.

import { enlarged } from '../base/grow.ts'

const PAGE = 256 // integers
const FREE_PAGES = 1 << 12 // made without asking how full they get
const FULL_ENOUGH = 8 // then one integer in so many has to be in use
const STRIDE = 4 // of a slot: page, block, high word
const BLOCK = 1
const HIGH = 2

export class NumberPages {
  private slots = new Int32Array(256 * STRIDE).fill(-1) // slot · STRIDE -> page, -1 if empty
  private mask = 255
  private pageCount = 0
  private used = 0 // integers that have a symbol
  private isClosed = false
  private symbols = new Int32Array(0) // page · PAGE + integer -> symbol, plus 1
  // The newest page: what a counter writes next mostly lies there.
  private newestPage = -1
  private newestBlock = 0
  private newestHigh = 0

  /** Where the symbol of an unsigned integer is kept; -1 if it is not kept here. */
  placeOf(low: number, high: number): number {
    const { slots, mask } = this
    const block = low >> 8
    if (block === this.newestBlock && high === this.newestHigh && this.newestPage >= 0) {
      return this.newestPage * PAGE + (low & 255)
    }
    let slot = mix(block, high) & mask
    for (;;) {
      const at = slot * STRIDE
      const page = slots[at]!
      if (page < 0) break
      if (slots[at + BLOCK] === block && slots[at + HIGH] === high) return page * PAGE + (low & 255)
      slot = (slot + 1) & mask
    }
    const page = this.addPage(slot, block, high)
    return page < 0 ? -1 : page * PAGE + (low & 255)
  }

  /** The symbol at that place, -1 if there is none yet. */
  get(place: number): number {
    return this.symbols[place]! - 1
  }

  set(place: number, symbol: number): void {
    this.symbols[place] = symbol + 1
    this.used++
  }

  private addPage(slot: number, block: number, high: number): number {
    const isWaste = this.pageCount >= FREE_PAGES && this.used * FULL_ENOUGH < this.pageCount * PAGE
    // Once refused, always refused: an integer must not be looked for in two places.
    this.isClosed ||= isWaste
    if (this.isClosed) return -1
    const page = this.pageCount++
    this.newestPage = page
    this.newestBlock = block
    this.newestHigh = high
    this.slots[slot * STRIDE] = page
    this.slots[slot * STRIDE + BLOCK] = block
    this.slots[slot * STRIDE + HIGH] = high
    if (this.pageCount * PAGE > this.symbols.length) {
      this.symbols = enlarged(this.symbols, Math.max(PAGE * 16, this.symbols.length * 2))
    }
    if (this.pageCount * 2 > this.mask) this.rehash()
    return page
  }

  private rehash(): void {
    const { slots } = this
    const next = new Int32Array(slots.length * 2).fill(-1)
    const mask = this.mask * 2 + 1
    for (let from = 0; from < slots.length; from += STRIDE) {
      if (slots[from]! < 0) continue
      let slot = mix(slots[from + BLOCK]!, slots[from + HIGH]!) & mask
      while (next[slot * STRIDE]! >= 0) slot = (slot + 1) & mask
      for (let i = 0; i < STRIDE; i++) next[slot * STRIDE + i] = slots[from + i]!
    }
    this.slots = next
    this.mask = mask
  }
}

/** A well mixed number of two words. */
export function mix(low: number, high: number): number {
  let h = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca77)
  h ^= h >>> 15
  h = Math.imul(h, 0x2c1b3c6d)
  return h ^ (h >>> 13)
}
