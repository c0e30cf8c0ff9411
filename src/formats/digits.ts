// Decimal digits to 64-bit words, without strings or bigints.

const TWO_32 = 4294967296
const POWERS = Float64Array.from({ length: 10 }, (_, k) => 10 ** k)
const ZERO = 48 // the byte of the digit 0
const FIVE_ZEROS = ZERO * 11111

/**
 * The high word of a number of `length` digits whose low word is known; -1 if it needs 65 bits, or
 * has fewer than 10 or more than 20 digits. The leading eleven digits are enough: what follows them
 * is less than a quarter of 2^32, and without its low word the number is a multiple of that.
 */
export function highWord(bytes: Uint8Array, at: number, length: number, low: number): number {
  if (length < 10 || length > 20) return -1
  const ten = fiveDigits(bytes, at) * 100000 + fiveDigits(bytes, at + 5)
  const isLonger = length > 10
  const lead = isLonger ? ten * 10 + (bytes[at + 10]! - ZERO) : ten
  const scale = POWERS[isLonger ? length - 11 : 0]!
  const high = (lead * scale - (low >>> 0)) / TWO_32 + 0.5
  return high < TWO_32 ? high >>> 0 : -1
}

/** A sum of products that do not wait for one another, as steps of `n * 10 + digit` would. */
function fiveDigits(bytes: Uint8Array, at: number): number {
  return (
    Math.imul(bytes[at]!, 10000) +
    Math.imul(bytes[at + 1]!, 1000) +
    Math.imul(bytes[at + 2]!, 100) +
    Math.imul(bytes[at + 3]!, 10) +
    bytes[at + 4]! -
    FIVE_ZEROS
  )
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
