// Which transaction ids have been seen and let go: ranges of integers, few where ids are given out
// in order, as nearly everybody does. A transaction that is spoken of again after it was let go
// must not be taken for a new one. Main class: IdRanges.

import { firstWhere } from '../base/search.ts'

/** Beyond this, ids are in no order, and remembering them would take memory without bound. */
const MOST_RANGES = 1 << 18

export class IdRanges {
  private from: Float64Array = new Float64Array(0) // range -> its first id
  private to: Float64Array = new Float64Array(0) // range -> its last id
  /** True once ids had to be forgotten. */
  isFull = false

  get rangeCount(): number {
    return this.from.length
  }

  has(id: number): boolean {
    const after = firstWhere(0, this.from.length, (range) => this.from[range]! > id)
    return after > 0 && this.to[after - 1]! >= id
  }

  /** @param ids in any order */
  add(ids: Float64Array): void {
    if (this.isFull || ids.length === 0) return
    const sorted = ids.toSorted()
    const from: number[] = []
    const to: number[] = []
    let range = 0
    let next = 0
    while (range < this.from.length || next < sorted.length) {
      const isRange =
        next === sorted.length || (range < this.from.length && this.from[range]! <= sorted[next]!)
      const [first, last] = isRange
        ? [this.from[range]!, this.to[range++]!]
        : [sorted[next]!, sorted[next++]!]
      const before = to.length - 1
      if (before >= 0 && first <= to[before]! + 1) to[before] = Math.max(to[before]!, last)
      else {
        from.push(first)
        to.push(last)
      }
    }
    if (from.length > MOST_RANGES) {
      this.isFull = true
      this.from = new Float64Array(0)
      this.to = new Float64Array(0)
      return
    }
    this.from = Float64Array.from(from)
    this.to = Float64Array.from(to)
  }

  save(): { from: number[]; to: number[]; isFull: boolean } {
    return { from: Array.from(this.from), to: Array.from(this.to), isFull: this.isFull }
  }

  static restore(saved: ReturnType<IdRanges['save']>): IdRanges {
    const ranges = new IdRanges()
    ranges.from = Float64Array.from(saved.from)
    ranges.to = Float64Array.from(saved.to)
    ranges.isFull = saved.isFull
    return ranges
  }
}
