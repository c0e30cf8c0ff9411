// Decimal digits to 64-bit words, without strings or bigints.

const TWO_32 = 4294967296
const POWERS = Array.from({ length: 10 }, (_, k) => 10 ** k)

/**
 * The high word of a number of `length` digits whose low word is known; -1 if it needs 65 bits, or
 * has fewer than 10 or more than 20 digits. The leading eleven digits are enough: what follows them
 * is less than a quarter of 2^32, and without its low word the number is a multiple of that.
 */
export function highWord(bytes: Uint8Array, at: number, length: number, low: number): number {
  if (length < 10 || length > 20) return -1
  const leading = Math.min(11, length)
  let lead = 0
  for (let p = at; p < at + 9; p++) lead = Math.imul(lead, 10) + bytes[p]! - 48
  for (let p = at + 9; p < at + leading; p++) lead = lead * 10 + bytes[p]! - 48
  const high = Math.round((lead * POWERS[length - leading]! - (low >>> 0)) / TWO_32)
  return high < TWO_32 ? high >>> 0 : -1
}

/** An unsigned 64-bit number as two words; `high` is unsigned until it is stored. */
export class Digits {
  low = 0
  high = 0
  overflow = false

  /** Reads digits from bytes[at] on and returns where they end; `overflow` if they need 65 bits. */
  scan(bytes: Uint8Array, at: number): number {
    // Nine digits at a time fit an Int32; two such halves make all but the last two of 20 digits.
    let start = 0
    let p = at
    let c = bytes[p]!
    for (; p < at + 9 && c >= 48 && c <= 57; c = bytes[++p]!) start = Math.imul(start, 10) + c - 48
    let rest = 0
    const middle = p
    for (; p < at + 18 && c >= 48 && c <= 57; c = bytes[++p]!) rest = Math.imul(rest, 10) + c - 48
    let high = 0
    let low = start
    if (p > middle) {
      // start · 10^k + rest, the factor cut into 16 bits so that no product leaves 53 bits.
      const scale = POWERS[p - middle]!
      const upper = (start >>> 16) * scale
      const lower = (start & 0xffff) * scale
      const carried = Math.floor(upper / 65536)
      const over = Math.floor(lower / TWO_32)
      low = lower - over * TWO_32 + (upper - carried * 65536) * 65536 + rest
      high = carried + over
      if (low >= TWO_32) {
        const excess = Math.floor(low / TWO_32)
        high += excess
        low -= excess * TWO_32
      }
    }
    this.overflow = false
    for (; c >= 48 && c <= 57; c = bytes[++p]!) {
      low = low * 10 + c - 48
      high *= 10
      if (low >= TWO_32) {
        const over = Math.floor(low / TWO_32)
        high += over
        low -= over * TWO_32
      }
      if (high >= TWO_32) {
        this.overflow = true
        high = 0
      }
    }
    this.low = low
    this.high = high
    return p
  }
}
