// Keys such as "k17", "k4711": a common beginning, then a number. They are looked up by the number
// in a plain table, one access instead of hashing the text and comparing it; the symbols are the
// same as those that `SymbolTable.ofBytes` gives, where every other key goes.

import { enlarged } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import type { SymbolTable } from '../../history/symbols.ts'

const QUOTE = 34
const MAX_PREFIX = 16
const MAX_DIGITS = 7 // a table of ten million entries at most

export class NumberedKeys {
  /** Where the text last found ends, at its closing quote. */
  end = 0
  private readonly prefix = new Uint8Array(MAX_PREFIX)
  private prefixLength = NONE // NONE until the first such key has been seen
  private symbols = new Int32Array(1024).fill(NONE) // number -> symbol

  /** The symbol of the text that begins at bytes[from], or NONE if it is not known here. */
  find(bytes: Uint8Array, from: number): number {
    const { prefix, prefixLength } = this
    if (prefixLength === NONE) return NONE
    for (let i = 0; i < prefixLength; i++) if (bytes[from + i] !== prefix[i]) return NONE
    const first = from + prefixLength
    let at = first
    let number = 0
    for (let c = bytes[at]!; (c - 48) >>> 0 <= 9; c = bytes[++at]!) {
      number = (Math.imul(number, 10) + c - 48) | 0
    }
    if (bytes[at] !== QUOTE || (at - first - 1) >>> 0 >= MAX_DIGITS) return NONE
    // "k07" is not "k7".
    if (bytes[first] === 48 && at > first + 1) return NONE
    this.end = at
    return number < this.symbols.length ? this.symbols[number]! : NONE
  }

  /** Interns bytes[from .. to), and remembers it if it is of the common form. */
  intern(keys: SymbolTable, bytes: Uint8Array, from: number, to: number): number {
    const symbol = keys.ofBytes(bytes, from, to)
    let first = to
    while (first > from && (bytes[first - 1]! - 48) >>> 0 <= 9 && to - first < MAX_DIGITS) first--
    if (first === to || (bytes[first] === 48 && to > first + 1)) return symbol
    if (this.prefixLength === NONE && first - from <= MAX_PREFIX) {
      this.prefixLength = first - from
      this.prefix.set(bytes.subarray(from, first))
    }
    if (first - from !== this.prefixLength) return symbol
    for (let i = from; i < first; i++) if (bytes[i] !== this.prefix[i - from]) return symbol
    let number = 0
    for (let i = first; i < to; i++) number = number * 10 + bytes[i]! - 48
    if (number >= this.symbols.length) {
      this.symbols = enlarged(this.symbols, Math.max(number + 1, this.symbols.length * 4), NONE)
    }
    this.symbols[number] = symbol
    return symbol
  }
}
