// Operations that are several reads and writes of registers in the dense history, so that every
// level judges them without knowing more. A range read is a read of each key that it returned and,
// of each other key in it that somebody writes, a read of the initial state. An increment writes
// its transaction's share of the counter, a key that nobody else writes, and a read of a counter
// reads every share of it. An element that is added to a set writes a key of its own, and a read of
// the set reads all of these. The columns here remember what was told, so that it can be written
// back; expand-spans.ts makes the reads and writes.

import { ByteColumn, IntColumn } from '../base/grow.ts'
import type { Symbol64 } from './symbols.ts'

export const RANGE = 0
export const INCREMENT = 1
export const TOTAL = 2
export const ADD = 3
export const SET = 4

const NO_KEY = -1
const NO_VALUE = -1

/** Kinds of operations as they arrive, beside those of history.ts; none is left in a history. */
export const ARRIVED_RANGE = 5 // its value is its span
export const ARRIVED_INCREMENT = 6 // its value is what it adds
export const ARRIVED_OTHER = 7 // read of anything but what was expected, by a cas that failed
export const ARRIVED_ADD = 8 // its value is the element
export const ARRIVED_SET = 9 // its value is its span

/** Reads of ranges of keys, and increments of counters with what was read of these. */
export interface SpanOps {
  /** op -> the span that it begins, or NONE; the others of it come next. */
  readonly opSpan: Int32Array
  readonly kind: Uint8Array // span -> RANGE, INCREMENT, TOTAL, ADD or SET
  readonly size: Int32Array // span -> how many operations it is
  readonly key: Int32Array // span -> its counter or set; of a range NONE
  /** span -> value id: where a range begins, what is added, what was read; of a set NONE. */
  readonly first: Int32Array
  readonly last: Int32Array // span -> value id: where a range ends, else NONE
  readonly returned: Int32Array // span -> how many of its first operations are keys it returned
  readonly pairStart: Int32Array // range or set -> its first pair
  readonly pairValue: Int32Array // pair -> value id: of a key in a range, or the element of a set
}

/** Collects ranges while a history is built, and all spans when it is laid out. */
export class SpanColumns {
  readonly kind = new ByteColumn(16)
  readonly size = new IntColumn(16)
  readonly key = new IntColumn(16)
  readonly first = new IntColumn(16)
  readonly last = new IntColumn(16)
  readonly returned = new IntColumn(16)
  readonly pairStart = new IntColumn(16) // range or set -> its first pair of a key and a value
  readonly pairKey = new IntColumn(16)
  readonly pairValue = new IntColumn(16)

  /** @param first value ids of where it begins and ends; its pairs come by `addPair` */
  addRange(first: number, last: number): number {
    this.pairStart.push(this.pairKey.length)
    return this.add(RANGE, NO_KEY, first, last)
  }

  /** A key that the range added last returned, with its value; of a set, an element. */
  addPair(key: number, value: number): void {
    this.pairKey.push(key)
    this.pairValue.push(value)
    this.returned.data[this.returned.length - 1]!++
  }

  /** @param set its key; elements come by `addPair` with that key */
  addSet(set: number): number {
    this.pairStart.push(this.pairKey.length)
    return this.add(SET, set, NO_VALUE)
  }

  add(kind: number, key: number, first: number, last = -1): number {
    this.kind.push(kind)
    this.size.push(0)
    this.key.push(key)
    this.first.push(first)
    this.last.push(last)
    this.returned.push(0)
    return this.kind.length - 1
  }

  /** What holds value ids. */
  valueColumns(): Int32Array[] {
    return [this.first.view(), this.last.view(), this.pairValue.view()]
  }

  finish(opSpan: Int32Array): SpanOps | null {
    if (this.kind.length === 0) return null
    return {
      opSpan,
      kind: this.kind.view(),
      size: this.size.view(),
      key: this.key.view(),
      first: this.first.view(),
      last: this.last.view(),
      returned: this.returned.view(),
      pairStart: this.pairStart.view(),
      pairValue: this.pairValue.view(),
    }
  }
}

/** Whether something is incremented. */
export function hasCounters({ spans }: { readonly spans: SpanOps | null }): boolean {
  return spans?.kind.includes(INCREMENT) ?? false
}

/** Value ids of the elements that a read of a set returned. */
export function elementsOf({ pairStart, pairValue, returned }: SpanOps, span: number): Int32Array {
  return pairValue.subarray(pairStart[span]!, pairStart[span]! + returned[span]!)
}

export const INCREMENT_HINT = 'an increment is a whole number from 1 to 2^53 - 1'
export const RANGE_HINT =
  'a range read names its first and its last integer key, and each key in it that was there once'

/** Whether a counter can be incremented by that. */
export function isIncrement(by: Symbol64): boolean {
  return typeof by === 'number' && by > 0
}

/** What is wrong with the ends of a range; null if nothing is. */
export function badRange(first: Symbol64, last: Symbol64): string | null {
  if (!isInteger(first) || !isInteger(last)) return 'a range is of integer keys'
  return first > last ? `the range from ${first} to ${last} is empty` : null
}

/** What is wrong with a key that a range read returned; null if nothing is. */
export function badReturn(
  first: Symbol64,
  last: Symbol64,
  key: Symbol64,
  returned: Set<Symbol64>,
): string | null {
  const isWithin = isInteger(key) && isInteger(first) && isInteger(last)
  if (!isWithin || key < first || key > last) {
    return `the range from ${first} to ${last} has no key ${showSymbol(key)}`
  }
  if (returned.has(key)) return `the range returned key ${key} twice`
  returned.add(key)
  return null
}

export const SET_HINT = 'elements of a set are integers or strings, each of them once'

/** What is wrong with an element that a read of a set returned; null if nothing is. */
export function badElement(element: Symbol64, met: Set<Symbol64>): string | null {
  if (element === null) return 'null is no element of a set'
  if (met.has(element)) return `the set returned ${showSymbol(element)} twice`
  met.add(element)
  return null
}

function isInteger(key: Symbol64): key is number | bigint {
  return typeof key === 'number' || typeof key === 'bigint'
}

function showSymbol(symbol: Symbol64): string {
  return typeof symbol === 'bigint' ? String(symbol) : JSON.stringify(symbol)
}
