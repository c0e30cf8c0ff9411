// The transactions at some positions that follow each other, with who comes before whom among them
// by session order and reads-from, and whatever edges are added. Nodes are positions less the
// first. Main class: WindowGraph.

import { BudgetExceeded } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { NONE } from '../../history/history.ts'
import type { ReaderRecords } from '../../spill/by-position.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'

const BYTES_PER_NODE = 64 // with what it read, and what walks over the graph keep

export class WindowGraph {
  private readonly head: Int32Array // node -> its last edge
  private readonly next = new IntColumn() // edge -> the one before of its node
  private readonly target = new IntColumn() // edge -> where it leads
  readonly size: number

  constructor(
    spilled: SpilledHistory,
    { txnAt }: CommitOrder,
    records: ReaderRecords,
    readonly first: number,
    readonly last: number,
  ) {
    this.size = last - first + 1
    if (this.size * BYTES_PER_NODE > spilled.sizes.windowBytes) {
      throw new BudgetExceeded(
        `${this.size} transactions would have to be put into order at once, which does not fit into this memory`,
      )
    }
    this.head = new Int32Array(this.size).fill(NONE)
    const previous = new Map<number, number>() // session -> its last node so far
    for (let node = 0; node < this.size; node++) {
      const at = first + node
      const session = spilled.txnSession.data[txnAt === null ? at : txnAt[at]!]!
      const before = previous.get(session)
      if (before !== undefined) this.add(before, node)
      previous.set(session, node)
    }
    this.addReads(records)
  }

  private addReads(records: ReaderRecords): void {
    const { first, last } = this
    const { rangeSize } = records
    for (let range = Math.floor(first / rangeSize); range * rangeSize <= last; range++) {
      const { headSource, sourceNext, sourceAt, start } = records.load(range)
      const end = Math.min(start + rangeSize - 1, last)
      for (let at = Math.max(first, start); at <= end; at++) {
        for (let i = headSource[at - start]!; i !== NONE; i = sourceNext.data[i]!) {
          const source = sourceAt.data[i]!
          if (source >= first && source <= last) this.add(source - first, at - first)
        }
      }
    }
  }

  add(from: number, to: number): void {
    this.next.push(this.head[from]!)
    this.head[from] = this.target.length
    this.target.push(to)
  }

  /** The nodes in an order that no edge contradicts, as they were where possible; null if none. */
  order(): Int32Array | null {
    const { size, head, next, target } = this
    const waiting = new Int32Array(size) // node -> edges into it from nodes that are not placed
    for (let edge = 0; edge < target.length; edge++) waiting[target.data[edge]!]!++
    const heap = new IntHeap(size)
    for (let node = 0; node < size; node++) if (waiting[node] === 0) heap.push(node)
    const order = new Int32Array(size)
    let placed = 0
    while (!heap.isEmpty) {
      const node = heap.pop()
      order[placed++] = node
      for (let edge = head[node]!; edge !== NONE; edge = next.data[edge]!) {
        if (--waiting[target.data[edge]!]! === 0) heap.push(target.data[edge]!)
      }
    }
    return placed === size ? order : null
  }

  /** A shortest path, with both ends; null if there is none. */
  findPath(from: number, to: number): number[] | null {
    const { size, head, next, target } = this
    const parent = new Int32Array(size).fill(NONE)
    const queue = new Int32Array(size)
    queue[0] = from
    parent[from] = from
    for (let done = 0, length = 1; done < length; done++) {
      const node = queue[done]!
      if (node === to) break
      for (let edge = head[node]!; edge !== NONE; edge = next.data[edge]!) {
        const other = target.data[edge]!
        if (parent[other] !== NONE) continue
        parent[other] = node
        queue[length++] = other
      }
    }
    if (parent[to] === NONE) return null
    const path = [to]
    for (let node = to; node !== from; ) {
      node = parent[node]!
      path.push(node)
    }
    return path.reverse()
  }
}

/** Integers of which the smallest comes first. */
class IntHeap {
  private readonly items: Int32Array
  private count = 0

  constructor(capacity: number) {
    this.items = new Int32Array(Math.max(1, capacity))
  }

  get isEmpty(): boolean {
    return this.count === 0
  }

  push(item: number): void {
    const { items } = this
    let at = this.count++
    while (at > 0) {
      const up = (at - 1) >> 1
      if (items[up]! <= item) break
      items[at] = items[up]!
      at = up
    }
    items[at] = item
  }

  pop(): number {
    const { items } = this
    const top = items[0]!
    const item = items[--this.count]!
    let at = 0
    for (;;) {
      let down = 2 * at + 1
      if (down >= this.count) break
      if (down + 1 < this.count && items[down + 1]! < items[down]!) down++
      if (items[down]! >= item) break
      items[at] = items[down]!
      at = down
    }
    items[at] = item
    return top
  }
}
