// What reaches what in a growing graph whose nodes lie on chains (sessions), each node before the
// next of its chain. Two ways to hold it, behind one interface, of which the smaller is taken:
//
// - Few long chains: what reaches a node is, for each chain, a prefix, and one number a chain says
//   it all. n · chains numbers.
// - Many short ones, down to a chain a transaction where session order does not count: a bit for
//   each pair of nodes. n² / 32 numbers. Bits are in the order of the nodes at first, so that a row
//   begins with what reaches everybody and ends with what reaches nobody yet: both are left out
//   where two rows are joined.
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
  /** To be told, before the first row, which places the nodes have in a topological order. */
  numberBy(position: Int32Array): void
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

  numberBy(): void {
    // Its rows are in the order of the chains.
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
  private readonly bitOf: Int32Array // node -> its bit in every row
  private readonly full: Int32Array // node -> words at the head of its row that have all bits
  private readonly end: Int32Array // node -> one behind the last word of its row that has any bit

  constructor(
    private readonly chainStart: Int32Array,
    private readonly chainOf: Int32Array,
  ) {
    const nodeCount = chainOf.length
    this.width = (nodeCount + 31) >>> 5
    this.rows = new Int32Array(nodeCount * this.width)
    this.bitOf = new Int32Array(nodeCount)
    this.full = new Int32Array(nodeCount)
    this.end = new Int32Array(nodeCount)
  }

  numberBy(position: Int32Array): void {
    this.bitOf.set(position)
  }

  reaches(a: number, b: number): boolean {
    const bit = this.bitOf[a]!
    return ((this.rows[b * this.width + (bit >>> 5)]! >>> (bit & 31)) & 1) === 1
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
    const { rows, width, end, full } = this
    const at = node * width
    if (node !== this.chainStart[this.chainOf[node]!]) {
      rows.copyWithin(at, at - width, at - width + end[node - 1]!)
      end[node] = end[node - 1]!
      full[node] = full[node - 1]!
    }
    const bit = this.bitOf[node]!
    rows[at + (bit >>> 5)]! |= 1 << (bit & 31)
    end[node] = Math.max(end[node]!, (bit >>> 5) + 1)
  }

  join(source: number, node: number): boolean {
    const { rows, width, end, full } = this
    const from = source * width
    const to = node * width
    const last = end[source]!
    let news = 0
    for (let w = full[node]!; w < last; w++) {
      const before = rows[to + w]!
      const after = before | rows[from + w]!
      news |= before ^ after
      rows[to + w] = after
    }
    if (news === 0) return false
    if (last > end[node]!) end[node] = last
    let first = full[node]!
    while (first < width && rows[to + first] === -1) first++
    full[node] = first
    return true
  }
}
