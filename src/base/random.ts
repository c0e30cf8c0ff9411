// The only source of randomness: a seeded generator, so that the same seed gives the same bytes.

/** xoshiro128** over four 32-bit words, seeded by splitmix32; fast, good enough for workloads. */
export class Random {
  private a: number
  private b: number
  private c: number
  private d: number

  constructor(seed: number) {
    let state = seed | 0
    const next = () => {
      state = (state + 0x9e3779b9) | 0
      let z = state ^ (state >>> 16)
      z = Math.imul(z, 0x21f0aaad)
      z ^= z >>> 15
      z = Math.imul(z, 0x735a2d97)
      return z ^ (z >>> 15)
    }
    // Seeds beyond 32 bits count in full.
    state ^= Math.imul(Math.floor(seed / 4294967296), 0x85ebca6b)
    this.a = next()
    this.b = next()
    this.c = next()
    this.d = next() | 1
  }

  /** A uniform 32-bit unsigned integer. */
  uint32(): number {
    const m = Math.imul(this.b, 5)
    const result = Math.imul((m << 7) | (m >>> 25), 9) >>> 0
    const t = this.b << 9
    this.c ^= this.a
    this.d ^= this.b
    this.b ^= this.c
    this.a ^= this.d
    this.c ^= t
    this.d = (this.d << 11) | (this.d >>> 21)
    return result
  }

  /** A uniform number in [0, 1). */
  unit(): number {
    return (this.uint32() * 2097152 + (this.uint32() >>> 11)) / 9007199254740992
  }

  /** A uniform integer in [0, bound), for bound up to 2^32. */
  below(bound: number): number {
    // Multiply-shift; the bias is below bound / 2^32, invisible at the sizes used here.
    return Math.floor((this.uint32() / 4294967296) * bound)
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.uint32() < probability * 4294967296
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }

  /** Shuffles in place (Fisher–Yates). */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1)
      const swap = items[i]!
      items[i] = items[j]!
      items[j] = swap
    }
    return items
  }

  /** An independent generator for a part of the work, fixed by this seed and the label. */
  fork(label: number): Random {
    return new Random((this.uint32() ^ Math.imul(label + 1, 0x9e3779b1)) >>> 0)
  }
}
