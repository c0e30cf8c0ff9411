// Integers as few bytes, seven bits each, the low ones first. Main functions: putInt, IntReader.

/** The most bytes that `putInt` takes for an integer below 2^53. */
export const MAX_INT_BYTES = 8

/** Writes an integer from 0 to 2^53 - 1; returns where it ends. */
export function putInt(bytes: Uint8Array, at: number, n: number): number {
  while (n > 0x7fffffff) {
    bytes[at++] = (n % 128) | 128
    n = Math.floor(n / 128)
  }
  while (n >= 128) {
    bytes[at++] = (n & 127) | 128
    n >>>= 7
  }
  bytes[at++] = n
  return at
}

/** Writes any integer of at most 52 bits; returns where it ends. */
export function putSigned(bytes: Uint8Array, at: number, n: number): number {
  return putInt(bytes, at, n < 0 ? -2 * n - 1 : 2 * n)
}

/** Reads what `putInt` and `putSigned` wrote. */
export class IntReader {
  at = 0
  bytes: Uint8Array = new Uint8Array(0)

  load(bytes: Uint8Array): void {
    this.bytes = bytes
    this.at = 0
  }

  get isAtEnd(): boolean {
    return this.at >= this.bytes.length
  }

  int(): number {
    const { bytes } = this
    let b = bytes[this.at++]!
    if (b < 128) return b
    let n = b & 127
    let shift = 7
    for (; shift < 28; shift += 7) {
      b = bytes[this.at++]!
      n |= (b & 127) << shift
      if (b < 128) return n
    }
    let scale = 2 ** 28
    do {
      b = bytes[this.at++]!
      n += (b & 127) * scale
      scale *= 128
    } while (b >= 128)
    return n
  }

  signed(): number {
    const n = this.int()
    return n % 2 === 0 ? n / 2 : -(n + 1) / 2
  }
}
