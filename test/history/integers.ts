// Integers of 64 bits, such as keys and values may be.

import { Random } from '../../src/base/random.ts'

/** Counters behind a session, lone large numbers, numbers around the ends of words. */
export function* someIntegers(seed: number, count: number): Generator<bigint> {
  const random = new Random(seed)
  const any = () => (BigInt(random.below(2 ** 31)) << 33n) | BigInt(random.below(2 ** 31))
  for (let i = 0; i < count; i++) {
    yield [
      (BigInt(random.below(50)) << 40n) + BigInt(i >> 3),
      any(),
      (1n << BigInt(22 + random.below(42))) + BigInt(random.below(5)) - 2n,
    ][random.below(3)]!
  }
}
