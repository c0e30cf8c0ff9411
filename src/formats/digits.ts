// Decimal digits to 64-bit words, without strings or bigints.

const TWO_32 = 4294967296

/** An unsigned 64-bit number as two words; `high` is unsigned until it is stored. */
export class Digits {
  low = 0
  high = 0
  overflow = false

  /** Reads digits from bytes[at] on and returns where they end; `overflow` if they need 65 bits. */
  scan(bytes: Uint8Array, at: number): number {
    // Fifteen digits are exact in a double; only what follows has to be carried from word to word.
    let start = 0
    let p = at
    const exact = at + 15
    for (let c = bytes[p]!; p < exact && c >= 48 && c <= 57; c = bytes[++p]!) {
      start = start * 10 + c - 48
    }
    let high = Math.floor(start / TWO_32)
    let low = start - high * TWO_32
    this.overflow = false
    for (let c = bytes[p]!; c >= 48 && c <= 57; c = bytes[++p]!) {
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
