// Value ids: a value is one Int32, and two ids are equal exactly when the values are. Integers from
// 0 to 2^30 - 1 are their own id, so the usual history needs no table at all; everything else
// (negative, large, string, null) is interned behind INTERNED.

import { type Symbol64, SymbolTable } from './symbols.ts'

/** Ids from here on are INTERNED + symbol. */
export const INTERNED = 0x40000000

/** What a key can hold. */
export type Value = Symbol64

/** Values as numbers: small integers stand for themselves, others are interned. */
export class ValueTable {
  readonly interned = new SymbolTable()

  /**
   * Lets equal values have several ids until `settle`, where that is faster. For parsers that do
   * not compare ids themselves.
   */
  defer(): void {
    this.interned.defer()
  }

  /** Makes ids equal where values are; `columns` are all that hold ids, which may change. */
  settle(columns: readonly Int32Array[]): void {
    const become = this.interned.settle()
    if (become === null) return
    for (const ids of columns) {
      for (let i = 0; i < ids.length; i++) {
        const id = ids[i]!
        if (id >= INTERNED) ids[i] = INTERNED + become[id - INTERNED]!
      }
    }
  }

  /** The id of a nonnegative integer below 2^31. */
  ofSmall(n: number): number {
    return n < INTERNED ? n : INTERNED + this.interned.ofWords(n, 0, false)
  }

  /** The id of a 64-bit integer given as two words. */
  ofWords(low: number, high: number, negative: boolean): number {
    if (high === 0 && !negative && low >= 0 && low < INTERNED) return low
    return INTERNED + this.interned.ofWords(low, high, negative)
  }

  ofBytes(bytes: Uint8Array, start: number, end: number): number {
    return INTERNED + this.interned.ofBytes(bytes, start, end)
  }

  of(value: Value): number {
    if (typeof value === 'number' && value >= 0 && value < INTERNED && Number.isInteger(value)) {
      return value
    }
    // 1n is 1.
    if (typeof value === 'bigint' && value >= 0n && value < INTERNED) return Number(value)
    return INTERNED + this.interned.of(value)
  }

  get(id: number): Value {
    return id < INTERNED ? id : this.interned.get(id - INTERNED)
  }
}
