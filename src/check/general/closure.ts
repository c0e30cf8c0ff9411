// What reaches what in a growing graph whose nodes lie on chains (sessions), each node before the
// next of its chain. Two ways to hold it, behind one interface, of which the smaller is taken:
//
// - Few long chains: what reaches a node is, for each chain, a prefix, and one number a chain says
//   it all. n · chains numbers.
// - Many short ones, down to a chain a transaction where session order does not count: a bit for
//   each pair of nodes. n² / 32 numbers.
//
// A closure only joins what it is told to; chain-graph.ts tells it in topological order.
// Main function: buildClosure.

import type { Deadline } from '../../base/deadline.ts'

export interface Closure {
  /** How many numbers a row holds: the cost of joining two. */
  readonly width: number
  /** True if a = b, or a is known to reach b. */
  reaches(a: number, b: number): boolean
  /** The first node of the chain that is not known to reach the node; the chain's end if all do. */
  firstNotReaching(chain: number, node: number): number
  /** Begins the row of a node: itself, and what reaches the one before it on its chain. */
  begin(node: number): void
  /** Adds what reaches the source to the row of a node; true if that changes it. */
  join(source: number, node: number): boolean
}

/**
 * @param chainStart chain -> its first node; one more entry, the number of nodes, at the end
 * @param mostNumbers beyond so many there is no closure, but null
 */
export function buildClosure(
  chainStart: Int32Array,
  chainOf: Int32Array,
  deadline: Deadline,
  mostNumbers: number,
): Closure | null {
  const chainCount = chainStart.length - 1
  const words = (chainOf.length + 31) >>> 5
  const width = Math.min(chainCount, words)
  const size = chainOf.length * width
  if (size > mostNumbers) return null
  deadline.reserve(4 * size)
  return width === chainCount
    ? new PrefixClosure(chainStart, chainOf)
    : new BitClosure(chainStart, chainOf)
}

class PrefixClosure implements Closure {
  readonly width: number // chains
  private readonly rows: Int32Array // node · width + chain -> first node there not before it

  constructor(
    private readonly chainStart: Int32Array,
    private readonly chainOf: Int32Array,
  ) {
    this.width = chainStart.length - 1
    this.rows = new Int32Array(chainOf.length * this.width)
  }

  reaches(a: number, b: number): boolean {
    return this.rows[b * this.width + this.chainOf[a]!]! > a
  }

  firstNotReaching(chain: number, node: number): number {
    return this.rows[node * this.width + chain]!
  }

  begin(node: number): void {
    const { rows, chainStart, width } = this
    const chain = this.chainOf[node]!
    const at = node * width
    if (node === chainStart[chain]) rows.set(chainStart.subarray(0, width), at)
    else rows.copyWithin(at, at - width, at)
    rows[at + chain] = node + 1
  }

  join(source: number, node: number): boolean {
    const { rows, width } = this
    const from = source * width
    const to = node * width
    let changed = false
    for (let c = 0; c < width; c++) {
      if (rows[from + c]! > rows[to + c]!) {
        rows[to + c] = rows[from + c]!
        changed = true
      }
    }
    return changed
  }
}

class BitClosure implements Closure {
  readonly width: number // words
  private readonly rows: Int32Array // node · width + word -> bits of the nodes that reach it

  constructor(
    private readonly chainStart: Int32Array,
    private readonly chainOf: Int32Array,
  ) {
    this.width = (chainOf.length + 31) >>> 5
    this.rows = new Int32Array(chainOf.length * this.width)
  }

  reaches(a: number, b: number): boolean {
    return ((this.rows[b * this.width + (a >>> 5)]! >>> (a & 31)) & 1) === 1
  }

  firstNotReaching(chain: number, node: number): number {
    let low = this.chainStart[chain]!
    let high = this.chainStart[chain + 1]!
    while (low < high) {
      const mid = (low + high) >>> 1
      if (this.reaches(mid, node)) low = mid + 1
      else high = mid
    }
    return low
  }

  begin(node: number): void {
    const { rows, width } = this
    const at = node * width
    if (node !== this.chainStart[this.chainOf[node]!]) rows.copyWithin(at, at - width, at)
    rows[at + (node >>> 5)]! |= 1 << (node & 31)
  }

  join(source: number, node: number): boolean {
    const { rows, width } = this
    const from = source * width
    const to = node * width
    let news = 0
    for (let w = 0; w < width; w++) {
      const before = rows[to + w]!
      const after = before | rows[from + w]!
      news |= before ^ after
      rows[to + w] = after
    }
    return news !== 0
  }
}
