// Which key an operation touches. Four distributions, as in the generators of PolySI, Plume and
// MTC: uniform; zipfian and exponential with YCSB's constants; hotspot, where 80 % of the
// operations touch 20 % of the keys. Key 0 is the hottest. Skewed keys are drawn in O(1) by
// Walker's alias method (Vose's construction): one table over all keys, built once in O(keys).

import type { Random } from '../base/random.ts'

export const DISTRIBUTIONS = ['uniform', 'zipfian', 'hotspot', 'exponential'] as const
/** How keys are chosen. */
export type Distribution = (typeof DISTRIBUTIONS)[number]

/** Draws keys 0 … count - 1. */
export interface KeyChooser {
  next(random: Random): number
}

const ZIPF_EXPONENT = 0.99
const HOT_KEYS = 0.2
const HOT_OPERATIONS = 0.8
/** 95 % of the operations fall within the first 85.7 % of the keys. */
const EXPONENTIAL_SHARE = 0.95
const EXPONENTIAL_RANGE = 0.8571428571

export function chooserOf(distribution: Distribution, keyCount: number): KeyChooser {
  if (distribution === 'uniform') return { next: (random) => random.below(keyCount) }
  if (distribution === 'hotspot') return hotspot(keyCount)
  if (distribution === 'zipfian') return new AliasTable(zipfWeights(keyCount, ZIPF_EXPONENT))
  const rate = -Math.log(1 - EXPONENTIAL_SHARE) / (keyCount * EXPONENTIAL_RANGE)
  const weightOf = (_: unknown, key: number) => Math.exp(-rate * key)
  return new AliasTable(Float64Array.from({ length: keyCount }, weightOf))
}

/** Weight 1 / rank^exponent for ranks 1 … count. */
function zipfWeights(count: number, exponent: number): Float64Array {
  const weights = new Float64Array(count)
  for (let i = 0; i < count; i++) weights[i] = (i + 1) ** -exponent
  return weights
}

function hotspot(keyCount: number): KeyChooser {
  const hotCount = Math.max(1, Math.round(keyCount * HOT_KEYS))
  const coldCount = keyCount - hotCount
  return {
    next(random) {
      if (coldCount === 0 || random.chance(HOT_OPERATIONS)) return random.below(hotCount)
      return hotCount + random.below(coldCount)
    },
  }
}

/** Walker's alias method: draws i with probability weights[i] / sum. */
export class AliasTable implements KeyChooser {
  private readonly threshold: Float64Array // slot -> own item below this uint32, else its alias
  private readonly alias: Int32Array // slot -> the other item that shares the slot

  constructor(weights: Float64Array) {
    const count = weights.length
    let sum = 0
    for (const weight of weights) sum += weight
    this.threshold = new Float64Array(count).fill(4294967296)
    this.alias = Int32Array.from(weights, (_, item) => item)
    const scaled = weights.map((weight) => (weight * count) / sum)
    const small: number[] = []
    const large: number[] = []
    for (let item = 0; item < count; item++) (scaled[item]! < 1 ? small : large).push(item)
    while (small.length > 0 && large.length > 0) {
      const poor = small.pop()!
      const rich = large.at(-1)!
      this.threshold[poor] = scaled[poor]! * 4294967296
      this.alias[poor] = rich
      scaled[rich]! -= 1 - scaled[poor]!
      if (scaled[rich]! < 1) {
        large.pop()
        small.push(rich)
      }
    }
  }

  next(random: Random): number {
    const slot = random.below(this.alias.length)
    return random.uint32() < this.threshold[slot]! ? slot : this.alias[slot]!
  }
}
