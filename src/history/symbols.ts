// Interning: every distinct key gets a dense number in order of first use, so that checkers work on
// integers only. A symbol is a 64-bit integer (exact), a string, or null; `1` and `"1"` differ.
//
// Integers from 0 to DIRECT_LIMIT go through a plain table, the usual case; larger ones that lie
// close together through pages of such tables (number-pages.ts); the rest through open addressing,
// where a slot holds all that a look-up compares, so that it touches one cache line: tables of
// millions of symbols are larger than any cache. Strings are UTF-8 in one arena, told apart by hash
// and length before their bytes are compared.
//
// Large integers in no order make every look-up a cache miss. A table that is told so (`defer`) no
// longer looks them up then: each gets a new symbol, and `settle` finds the equal ones when all are
// there, which is several times as fast (equal-words.ts).

import { InputError } from '../base/errors.ts'
import { enlarged } from '../base/grow.ts'
import { UTF8 } from '../base/unicode.ts'
import { findFirsts } from './equal-words.ts'
import { mix, NumberPages } from './number-pages.ts'

/** What a key or value can be. Integers beyond 2^53 are bigints, all others numbers. */
export type Symbol64 = number | bigint | string | null

const TAG_NULL = 0
const TAG_INT = 1
const TAG_TEXT = 2
const NEGATIVE = 16 // added to TAG_INT, tells -1 from 2^64 - 1

const DIRECT_LIMIT = 1 << 22

const STRIDE = 4 // of a slot
const SYMBOL = 0 // the symbol, -1 if the slot is empty
const FIRST = 1 // low word of the integer, or hash of the text
const SECOND = 2 // high word of the integer, or length of the text
const TAG = 3
const FULL = 0.6 // share of slots in use that asks for more
const MIN_INT64 = -(2n ** 63n)
const MAX_UINT64 = 2n ** 64n - 1n

/** Names, such as those of keys and sessions, as numbers from 0. */
export class SymbolTable {
  private direct = new Int32Array(1024).fill(-1) // small integer -> symbol
  private pages = new NumberPages()
  private slots = new Int32Array(64 * STRIDE).fill(-1) // slot · STRIDE -> SYMBOL …
  private mask = 63 // slots, less one
  private hashed = 0 // symbols that live in `slots`
  private tags = new Uint8Array(256) // symbol -> TAG_*
  private words = new Int32Array(512) // symbol · 2 -> low and high word, or text offset and length
  private count = 0 // symbols
  private text = new Uint8Array(256) // UTF-8 of all strings, one after another
  private textLength = 0
  private nullSymbol = -1
  private mayDefer = false
  private isDeferring = false // large integers get symbols without being looked up
  private isStale = false // symbols have changed since they were put where look-ups find them

  /**
   * @param directLimit from where on integers do not go through the plain table; 0 for tables of
   * few integers that may be far from 0, for which it would be much too large
   */
  constructor(private readonly directLimit: number = DIRECT_LIMIT) {}

  get size(): number {
    return this.count
  }

  /** Bytes that it takes. */
  get sizeBytes(): number {
    const { direct, slots, tags, words, text } = this
    return 4 * (direct.length + slots.length + words.length) + tags.length + text.length
  }

  /** Makes room for so many symbols, for parsers that know about how many will come. */
  reserve(count: number): void {
    if (count <= this.tags.length) return
    this.tags = enlarged(this.tags, count)
    this.words = enlarged(this.words, count * 2)
  }

  /** Lets equal integers have several symbols until `settle`, where looking them up is slow. */
  defer(): void {
    this.mayDefer = true
  }

  /**
   * Gives equal integers one symbol again, in order of first use as ever. Returns what each symbol
   * so far has become, null if all are what they were.
   */
  settle(): Int32Array | null {
    this.mayDefer = false
    if (!this.isDeferring) return null
    const { tags, words } = this
    const become = findFirsts(words, tags, this.count, TAG_INT)
    let size = 0
    for (let symbol = 0; symbol < become.length; symbol++) {
      const first = become[symbol]!
      if (first === symbol) {
        tags[size] = tags[symbol]!
        words[size * 2] = words[symbol * 2]!
        words[size * 2 + 1] = words[symbol * 2 + 1]!
        become[symbol] = size++
      } else {
        become[symbol] = become[first]!
      }
    }
    this.count = size
    if (this.nullSymbol >= 0) this.nullSymbol = become[this.nullSymbol]!
    this.direct = new Int32Array(1024).fill(-1)
    this.isDeferring = false
    this.isStale = true
    return become
  }

  /** The symbol of a nonnegative integer below 2^31; the hot path of parsers. */
  ofSmall(n: number): number {
    if (n < this.directLimit) {
      if (n < this.direct.length) {
        const known = this.direct[n]!
        if (known >= 0) return known
      } else {
        this.growDirect(n)
      }
      if (this.isStale) {
        this.reindex()
        return this.ofSmall(n)
      }
      const symbol = this.add(TAG_INT, n, 0)
      this.direct[n] = symbol
      return symbol
    }
    return this.ofWords(n, 0, false)
  }

  /** The symbol of a 64-bit integer given as two words; `negative` tells -1 from 2^64-1. */
  ofWords(low: number, high: number, negative: boolean): number {
    if (high === 0 && !negative && low >= 0 && low < this.directLimit) return this.ofSmall(low)
    const tag = negative ? TAG_INT | NEGATIVE : TAG_INT
    if (this.isStale) this.reindex()
    if (!negative) {
      if (this.isDeferring) return this.add(tag, low, high)
      const place = this.pages.placeOf(low, high)
      if (place >= 0) {
        const known = this.pages.get(place)
        if (known >= 0) return known
        const symbol = this.add(tag, low, high)
        this.pages.set(place, symbol)
        return symbol
      }
      if (this.mayDefer) {
        this.isDeferring = true
        this.pages = new NumberPages() // nobody asks them again
        return this.add(tag, low, high)
      }
    }
    const { slots, mask } = this
    const hash = mix(low, high)
    let slot = hash & mask
    for (;;) {
      const at = slot * STRIDE
      const symbol = slots[at + SYMBOL]!
      if (symbol < 0) break
      if (slots[at + FIRST] === low && slots[at + SECOND] === high && slots[at + TAG] === tag) {
        return symbol
      }
      slot = (slot + 1) & mask
    }
    return this.insert(slot, tag, low, high, this.add(tag, low, high))
  }

  /** The symbol of the string whose UTF-8 is bytes[start .. end). */
  ofBytes(bytes: Uint8Array, start: number, end: number): number {
    if (this.isStale) this.reindex()
    const { slots, mask } = this
    const length = end - start
    const hash = hashBytes(bytes, start, end)
    let slot = hash & mask
    for (;;) {
      const at = slot * STRIDE
      const symbol = slots[at + SYMBOL]!
      if (symbol < 0) break
      const mayBe = slots[at + FIRST] === hash && slots[at + SECOND] === length
      if (mayBe && slots[at + TAG] === TAG_TEXT) {
        if (this.sameText(this.words[symbol * 2]!, bytes, start, end)) return symbol
      }
      slot = (slot + 1) & mask
    }
    const needed = this.textLength + length
    if (needed > this.text.length)
      this.text = enlarged(this.text, Math.max(needed, this.text.length * 2))
    this.text.set(bytes.subarray(start, end), this.textLength)
    const symbol = this.add(TAG_TEXT, this.textLength, length)
    this.textLength += length
    return this.insert(slot, TAG_TEXT, hash, length, symbol)
  }

  of(value: Symbol64): number {
    if (value === null) return this.ofNull()
    if (typeof value === 'string') {
      const bytes = encoder.encode(value)
      return this.ofBytes(bytes, 0, bytes.length)
    }
    const { low, high, negative } = toWords(value)
    return this.ofWords(low, high, negative)
  }

  ofNull(): number {
    if (this.nullSymbol < 0) this.nullSymbol = this.add(TAG_NULL, 0, 0)
    return this.nullSymbol
  }

  get(symbol: number): Symbol64 {
    const tag = this.tags[symbol]!
    const low = this.words[symbol * 2]!
    const high = this.words[symbol * 2 + 1]!
    if (tag === TAG_NULL) return null
    if (tag === TAG_TEXT) return UTF8.decode(this.text.subarray(low, low + high))
    return fromWords(low, high, (tag & NEGATIVE) !== 0)
  }

  private add(tag: number, low: number, high: number): number {
    const symbol = this.count
    if (symbol === this.tags.length) this.reserve(Math.ceil(symbol * 1.75))
    this.tags[symbol] = tag
    this.words[symbol * 2] = low
    this.words[symbol * 2 + 1] = high
    this.count++
    return symbol
  }

  /**
   * Puts all symbols where look-ups find them, once somebody asks after `settle`. They are different
   * and come in order, so that each gets the number, and its text the place, that it has.
   */
  private reindex(): void {
    const { size } = this
    this.isStale = false
    this.slots = new Int32Array(64 * STRIDE).fill(-1)
    this.mask = 63
    this.hashed = 0
    this.nullSymbol = -1
    this.textLength = 0
    this.count = 0
    for (let symbol = 0; symbol < size; symbol++) {
      const tag = this.tags[symbol]!
      const low = this.words[symbol * 2]!
      const high = this.words[symbol * 2 + 1]!
      if (tag === TAG_NULL) this.ofNull()
      else if (tag === TAG_TEXT) this.ofBytes(this.text, low, low + high)
      else this.ofWords(low, high, (tag & NEGATIVE) !== 0)
    }
  }

  /** Fills an empty slot, and makes room for the next one. */
  private insert(slot: number, tag: number, first: number, second: number, symbol: number): number {
    const at = slot * STRIDE
    this.slots[at + SYMBOL] = symbol
    this.slots[at + FIRST] = first
    this.slots[at + SECOND] = second
    this.slots[at + TAG] = tag
    if (++this.hashed > FULL * this.mask) this.rehash()
    return symbol
  }

  private sameText(offset: number, bytes: Uint8Array, start: number, end: number): boolean {
    const text = this.text
    for (let i = start, j = offset; i < end; i++, j++) if (text[j] !== bytes[i]) return false
    return true
  }

  private growDirect(n: number): void {
    const length = Math.min(this.directLimit, Math.max(n + 1, this.direct.length * 4))
    this.direct = enlarged(this.direct, length, -1)
  }

  /** Doubles the slots. */
  private rehash(): void {
    const { slots } = this
    const next = new Int32Array(slots.length * 2).fill(-1)
    const mask = this.mask * 2 + 1
    for (let from = 0; from < slots.length; from += STRIDE) {
      if (slots[from + SYMBOL]! < 0) continue
      const first = slots[from + FIRST]!
      const isText = slots[from + TAG] === TAG_TEXT
      let slot = (isText ? first : mix(first, slots[from + SECOND]!)) & mask
      while (next[slot * STRIDE + SYMBOL]! >= 0) slot = (slot + 1) & mask
      for (let i = 0; i < STRIDE; i++) next[slot * STRIDE + i] = slots[from + i]!
    }
    this.slots = next
    this.mask = mask
  }
}

const encoder = new TextEncoder()

/** Splits an integer in [-2^63, 2^64) into words. */
export function toWords(value: number | bigint): { low: number; high: number; negative: boolean } {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw new InputError('bad-number', `${value} is not an exact integer`)
  }
  const big = BigInt(value)
  if (big < MIN_INT64 || big > MAX_UINT64) {
    throw new InputError('out-of-range', `${value} does not fit into 64 bits`)
  }
  return {
    low: Number(BigInt.asIntN(32, big)),
    high: Number(BigInt.asIntN(32, big >> 32n)),
    negative: big < 0n,
  }
}

function fromWords(low: number, high: number, negative: boolean): number | bigint {
  const signedHigh = negative ? high : high >>> 0
  const near = signedHigh * 4294967296 + (low >>> 0)
  if (Number.isSafeInteger(near)) return near
  return (BigInt(signedHigh) << 32n) | BigInt(low >>> 0)
}

function hashBytes(bytes: Uint8Array, start: number, end: number): number {
  let h = 0x811c9dc5
  for (let i = start; i < end; i++) h = Math.imul(h ^ bytes[i]!, 0x01000193)
  h ^= h >>> 15
  h = Math.imul(h, 0x2c1b3c6d)
  return h ^ (h >>> 13)
}
