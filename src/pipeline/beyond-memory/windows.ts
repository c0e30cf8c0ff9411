// The stretches of an order that have to be ordered anew at ser or si, so that they fit into memory
// one by one. Main functions: chooseWindows, WindowSet.

import { NONE } from '../../history/history.ts'

/** Positions, both ends included. */
export interface Span {
  readonly first: number
  readonly last: number
}

export interface Window extends Span {
  /** Whether it is a piece of a stretch that is too long: then it can only show a violation. */
  readonly isPiece: boolean
}

/** Transactions of a piece; many enough for any anomaly that is found in practice. */
const PIECE_TXNS = 2000
/** How many pieces of all are looked at. */
const MAX_PIECES = 8

/**
 * Spans that meet become one window.
 * @param most transactions that a window may have
 */
export function chooseWindows(spans: readonly Span[], most: number): Window[] {
  const windows: Window[] = []
  let pieces = 0
  for (const { first, last } of joined(spans)) {
    if (last - first < most) {
      windows.push({ first, last, isPiece: false })
      continue
    }
    const size = Math.max(2, Math.min(most, PIECE_TXNS))
    for (let from = first; from <= last && pieces < MAX_PIECES; from += size, pieces++) {
      windows.push({ first: from, last: Math.min(last, from + size - 1), isPiece: true })
    }
  }
  return windows
}

function joined(spans: readonly Span[]): Span[] {
  const found: { first: number; last: number }[] = []
  for (const { first, last } of spans.toSorted((a, b) => a.first - b.first)) {
    const before = found.at(-1)
    if (before && first <= before.last) before.last = Math.max(before.last, last)
    else found.push({ first, last })
  }
  return found
}

/** Windows that do not meet, by position. */
export class WindowSet {
  private readonly inside: Uint8Array // a bit for each position
  private readonly firsts: Int32Array // window -> its first position

  constructor(
    readonly windows: readonly Window[],
    txnCount: number,
  ) {
    this.inside = new Uint8Array((txnCount >>> 3) + 1)
    this.firsts = Int32Array.from(windows, ({ first }) => first)
    for (const { first, last } of windows) {
      for (let at = first; at <= last; at++) this.inside[at >>> 3]! |= 1 << (at & 7)
    }
  }

  /** The number of the window that has a position, or NONE. */
  at(position: number): number {
    if (position < 0 || (this.inside[position >>> 3]! & (1 << (position & 7))) === 0) return NONE
    let low = 0
    let high = this.firsts.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.firsts[middle]! <= position) low = middle
      else high = middle - 1
    }
    return low
  }
}
