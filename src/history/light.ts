// Lightweight transactions: compare-and-set, and insert if absent. In the dense history each is the
// reads and writes that it amounts to, so that every level judges it without knowing more: one that
// succeeded is a read of what it expected and a write, one that failed is a read of what it saw.
// The columns here remember what was asked for, so that it can be written back.

import { ByteColumn, IntColumn } from '../base/grow.ts'

export const CAS = 0
export const INSERT = 1

/** How an operation failed: it said what it found, or did not. */
export const FOUND = 1
export const UNTOLD = 2

/** Lightweight operations: compare-and-set and insert. */
export interface LightOps {
  /** read op -> the lightweight operation it belongs to, or NONE; its write, if any, comes next. */
  readonly opLight: Int32Array
  readonly kind: Uint8Array // light -> CAS or INSERT
  readonly expected: Int32Array // light -> value id it compares with
  readonly value: Int32Array // light -> value id it writes if it succeeds
  /** light -> FOUND or UNTOLD if it found something else, and wrote nothing; else 0. */
  readonly failed: Uint8Array
}

/** Collects lightweight operations while a history is built. */
export class LightColumns {
  private readonly arrival = new IntColumn(16) // light -> arrival of its read
  private readonly kind = new ByteColumn(16)
  private readonly expected = new IntColumn(16)
  private readonly value = new IntColumn(16)
  private readonly failed = new ByteColumn(16)

  add(arrival: number, kind: number, expected: number, value: number, failed: number): void {
    this.arrival.push(arrival)
    this.kind.push(kind)
    this.expected.push(expected)
    this.value.push(value)
    this.failed.push(failed)
  }

  /** Arrivals of what they read. */
  arrivals(): ReadonlySet<number> {
    return new Set(this.arrival.view())
  }

  /** Whether one succeeded that expected this value. */
  hasReplaced(value: number): boolean {
    for (let light = 0; light < this.expected.length; light++) {
      if (this.expected.data[light] === value && this.failed.data[light] === 0) return true
    }
    return false
  }

  /** What holds value ids. */
  valueColumns(): Int32Array[] {
    return [this.expected.view(), this.value.view()]
  }

  /** @param arrivals op -> arrival, null if they are the same */
  finish(opCount: number, arrivals: Int32Array | null): LightOps {
    const byArrival = new Int32Array(opCount).fill(-1) // arrival -> light
    for (let light = 0; light < this.arrival.length; light++) {
      byArrival[this.arrival.data[light]!] = light
    }
    return {
      opLight: arrivals === null ? byArrival : arrivals.map((arrival) => byArrival[arrival]!),
      kind: this.kind.view(),
      expected: this.expected.view(),
      value: this.value.view(),
      failed: this.failed.view(),
    }
  }
}
