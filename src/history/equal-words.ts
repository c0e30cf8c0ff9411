// Which of many 64-bit integers are the same. Asking one large hash table about each of them is a
// cache miss a question, as soon as there are millions of them in no order. So they are first dealt
// out to parts by their hash, which writes each part from front to back; then the table of one part
// at a time fits the cache. Radix partitioning, as databases join tables with it.
//
// Cost: three passes, 16 bytes for every integer while it runs. Main function: `findFirsts`.

import { mix } from './number-pages.ts'

const PART = 1 << 13 // integers of a part, about: its table takes 256 KB
const MAX_BITS = 10 // of the hash that choose the part: more parts are more than the memory's pages
const STRIDE = 3 // of a dealt integer: its words, and the number of its entry
const HIGH = 1
const ENTRY = 2

/**
 * For each entry the first one that is the same integer, itself if there is none before it.
 * @param words the low and the high word of each of `count` entries
 * @param tags which entries are integers: those with this `tag`; all others are unlike any other
 */
export function findFirsts(
  words: Int32Array,
  tags: Uint8Array,
  count: number,
  tag: number,
): Int32Array {
  let bits = 1
  while (bits < MAX_BITS && count >>> bits > PART) bits++
  const shift = 32 - bits
  const end = new Int32Array((1 << bits) + 1) // part + 1 -> where it ends among the dealt
  for (let i = 0; i < count; i++) {
    if (tags[i] === tag) end[(mix(words[i * 2]!, words[i * 2 + 1]!) >>> shift) + 1]!++
  }
  for (let part = 0; part < 1 << bits; part++) end[part + 1]! += end[part]!

  const dealt = new Int32Array(end[1 << bits]! * STRIDE)
  const next = end.slice()
  for (let i = 0; i < count; i++) {
    if (tags[i] !== tag) continue
    const low = words[i * 2]!
    const high = words[i * 2 + 1]!
    const at = next[mix(low, high) >>> shift]!++ * STRIDE
    dealt[at] = low
    dealt[at + HIGH] = high
    dealt[at + ENTRY] = i
  }
  const firsts = new Int32Array(count)
  for (let i = 0; i < count; i++) firsts[i] = i
  const table = new PartTable()
  for (let part = 0; part < 1 << bits; part++) {
    table.unite(dealt.subarray(end[part]! * STRIDE, end[part + 1]! * STRIDE), firsts)
  }
  return firsts
}

const SLOT = 4 // numbers of a slot: low word, high word, entry, the round that filled it
const ROUND = 3

/** Open addressing for one part after another; what earlier rounds left counts as empty. */
class PartTable {
  private slots = new Int32Array(PART * 2 * SLOT)
  private mask = PART * 2 - 1
  private round = 0

  /** Looks up all integers of a part; where one comes again, `firsts` gets the first one's entry. */
  unite(dealt: Int32Array, firsts: Int32Array): void {
    this.round++
    // At least half of the slots stay empty, so that each search ends soon.
    while (this.mask * STRIDE < dealt.length * 2) this.grow()
    const { slots, mask, round } = this
    for (let from = 0; from < dealt.length; from += STRIDE) {
      const low = dealt[from]!
      const high = dealt[from + HIGH]!
      let at = (mix(low, high) & mask) * SLOT
      while (slots[at + ROUND] === round && (slots[at] !== low || slots[at + HIGH] !== high)) {
        at = (at + SLOT) & (mask * SLOT)
      }
      if (slots[at + ROUND] === round) {
        firsts[dealt[from + ENTRY]!] = slots[at + ENTRY]!
        continue
      }
      slots[at] = low
      slots[at + HIGH] = high
      slots[at + ENTRY] = dealt[from + ENTRY]!
      slots[at + ROUND] = round
    }
  }

  private grow(): void {
    this.mask = this.mask * 2 + 1
    this.slots = new Int32Array((this.mask + 1) * SLOT)
  }
}
