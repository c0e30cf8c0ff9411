// Keys that retire: a fixed number is in use at one time, each lives for a number of writes, and a
// new one takes its place. One write, 2 or 3, 4 to 7 and so on are equally likely, as in a zipf
// distribution: some see many writes, most a few, and there is always one unwritten.

import { IntColumn } from '../base/grow.ts'
import type { Random } from '../base/random.ts'

/** The keys in use: one pool for all, or one for each session if no key may have two writers. */
export class KeyPools {
  readonly used = new IntColumn() // every key there has been, in order of birth
  private readonly octaves: number // a key lives for less than 2 ** octaves writes
  private readonly slots: Int32Array // pool * slotCount + slot -> key
  private readonly left: Int32Array // pool * slotCount + slot -> writes until the key retires
  private readonly births: Int32Array // pool -> keys it has had so far

  constructor(
    private readonly slotCount: number,
    private readonly poolCount: number,
    mostWrites: number,
    random: Random,
  ) {
    this.octaves = Math.max(1, 31 - Math.clz32(mostWrites))
    this.slots = new Int32Array(slotCount * poolCount)
    this.left = new Int32Array(slotCount * poolCount)
    this.births = new Int32Array(poolCount)
    for (let slot = 0; slot < slotCount; slot++) {
      for (let pool = 0; pool < poolCount; pool++) this.renew(pool, slot, random)
    }
  }

  /** All keys there have been lie below this. */
  get keyCount(): number {
    let most = 0
    for (const key of this.used.view()) if (key >= most) most = key + 1
    return most
  }

  keyAt(pool: number, slot: number): number {
    return this.slots[pool * this.slotCount + slot]!
  }

  /** The key of the slot ages by one write; one that has retired already does not. */
  age(pool: number, slot: number, key: number, random: Random): void {
    const at = pool * this.slotCount + slot
    if (this.slots[at] === key && --this.left[at]! === 0) this.renew(pool, slot, random)
  }

  private renew(pool: number, slot: number, random: Random): void {
    const at = pool * this.slotCount + slot
    // The owner of a key is its residue class.
    const key = pool + this.poolCount * this.births[pool]!++
    this.used.push(key)
    this.slots[at] = key
    const least = 1 << random.below(this.octaves)
    this.left[at] = least + random.below(least)
  }
}
