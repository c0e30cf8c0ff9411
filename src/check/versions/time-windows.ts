// Real time added to a graph of dependencies, without a chain of instants as long as the history.
// The graph's own nodes are put in an order, those that started earlier first as far as its edges
// allow (condensed-order.ts). Then few steps of real time lead back in it: who was over when one
// that stands before it started. A cycle goes back as far as it goes ahead, so it lies where steps
// back, and components of the graph itself, lie side by side without a gap: in one window of the
// order. So cycles are sought among those who stand in windows, with instants of their own, and
// where there are none, windows are put in order each by itself. O(n + what windows hold) behind
// the order. Main class: TimeWindows.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { firstWhere } from '../../base/search.ts'
import { buildCsr } from '../../graph/csr.ts'
import { findTopologicalOrder, positionsOf } from '../../graph/toposort.ts'
import { COMMITTED, type History, NONE, type TimeScope } from '../../history/history.ts'
import { usesOf } from '../../history/key-uses.ts'
import type { CyclicParts } from './cyclic-parts.ts'
import { type DependencyGraph, EdgeColumns, groupsInTime } from './dependency-graph.ts'

export class TimeWindows {
  /** Edges among those who stand in windows, real time among them. */
  readonly graph: DependencyGraph
  private readonly order: Int32Array // place -> node
  private readonly windows: readonly Window[]

  /** @param plain the graph without real time */
  constructor(
    history: History,
    plain: CyclicParts,
    scope: TimeScope,
    private readonly deadline: Deadline,
  ) {
    const { width } = plain.graph
    const { order, blocks } = plain.orderBy(priorityOf(history, width), deadline)
    this.order = order
    const steps = new Windows(blocks)
    if (scope === 'all') findStepsBack(history, width, order, steps)
    else findStepsBackByKey(history, width, order, steps)
    this.windows = steps.finish()
    const isInside = new Uint8Array(plain.graph.nodeCount)
    for (const { first, last } of this.windows) {
      for (let place = first; place <= last; place++) isInside[order[place]!] = 1
    }
    this.graph = withTime(history, plain.graph, scope, isInside)
  }

  /** The graph's nodes in an order that agrees with real time too; null if there is none. */
  findOrder(): Int32Array | null {
    const { graph, windows } = this
    const { nodeCount, from, to, edgeCount } = graph
    if (windows.length === 0) return this.order
    const found = findTopologicalOrder(
      buildCsr(nodeCount, from, to, edgeCount),
      undefined,
      this.deadline,
    )
    if (found === null) return null
    const position = positionsOf(found)
    const order = this.order.slice()
    for (const { first, last } of windows) {
      const places = order.subarray(first, last + 1).map((node) => position[node]!)
      const sorted = places.sort().map((place) => found[place]!)
      order.set(sorted, first)
    }
    return order
  }
}

interface Window {
  readonly first: number // place
  readonly last: number
}

/** What steps back lie over, told by where they begin, in the order of that. */
class Windows {
  private readonly found: { first: number; last: number }[] = []
  private next = 0

  /** @param blocks that lie in one window each, in order */
  constructor(private readonly blocks: readonly (readonly [number, number])[]) {}

  /** From one place back to another. */
  add(from: number, to: number): void {
    this.addBlocks(from)
    this.join(from, to)
  }

  finish(): readonly Window[] {
    this.addBlocks(Number.POSITIVE_INFINITY)
    return this.found
  }

  private addBlocks(upTo: number): void {
    for (; this.next < this.blocks.length && this.blocks[this.next]![1] <= upTo; this.next++) {
      const [first, last] = this.blocks[this.next]!
      this.join(last, first)
    }
  }

  private join(last: number, to: number): void {
    let first = to
    while (this.found.length > 0 && this.found.at(-1)!.last >= first) {
      first = Math.min(first, this.found.pop()!.first)
    }
    this.found.push({ first, last })
  }
}

/** Snapshots by when they can be taken at the earliest, commits by when they were over at the latest. */
function priorityOf(history: History, width: 1 | 2): Float64Array {
  const { txnCount, txnCounts, txnStatus, txnStartTime, txnFinishTime } = history
  const priority = new Float64Array(width * txnCount)
  for (let txn = 0; txn < txnCount; txn++) {
    if (!txnCounts[txn]) continue // they have no edges, and may have no times
    priority[width * txn] = txnStartTime![txn]!
    if (width === 1) continue
    const isOver = txnStatus[txn] === COMMITTED
    priority[width * txn + 1] = isOver ? txnFinishTime![txn]! : txnStartTime![txn]!
  }
  return priority
}

/** Of each commit that was over when somebody before it started, a step to the first of those. */
function findStepsBack(history: History, width: 1 | 2, order: Int32Array, steps: Windows): void {
  const { txnCounts, txnStatus, txnStartTime, txnFinishTime } = history
  // Starts later than all before them, and where they stand.
  const latest = new Float64Array(order.length)
  const place = new Int32Array(order.length)
  let count = 0
  for (let at = 0; at < order.length; at++) {
    const txn = width === 1 ? order[at]! : order[at]! >> 1
    if (!txnCounts[txn]) continue
    const [isSnapshot, isCommit] = [
      width === 1 || order[at]! % 2 === 0,
      order[at]! % width === width - 1,
    ]
    if (isCommit && txnStatus[txn] === COMMITTED && count > 0) {
      const finish = txnFinishTime![txn]!
      if (finish < latest[count - 1]!) {
        steps.add(at, place[firstWhere(0, count, (i) => latest[i]! > finish)]!)
      }
    }
    if (isSnapshot && (count === 0 || txnStartTime![txn]! > latest[count - 1]!)) {
      latest[count] = txnStartTime![txn]!
      place[count++] = at
    }
  }
}

/** The same among those who use a common key. */
function findStepsBackByKey(
  history: History,
  width: 1 | 2,
  order: Int32Array,
  steps: Windows,
): void {
  assert(width === 1, 'what goes by keys has no snapshots')
  const { txnCounts, txnStatus, txnStartTime, txnFinishTime } = history
  const { start, key: used, keyCount } = usesOf(history)
  // Of each key the latest start so far; who it was, as a use of the key, and the latest before.
  const latest = new Float64Array(keyCount).fill(Number.NEGATIVE_INFINITY)
  const latestUse = new Int32Array(keyCount).fill(NONE)
  const before = new Int32Array(used.length)
  const place = new Int32Array(used.length)
  for (let at = 0; at < order.length; at++) {
    const txn = order[at]!
    if (!txnCounts[txn]) continue
    const started = txnStartTime![txn]!
    const finish = txnStatus[txn] === COMMITTED ? txnFinishTime![txn]! : Number.POSITIVE_INFINITY
    let first = at
    for (let use = start[txn]!; use < start[txn + 1]!; use++) {
      const key = used[use]!
      if (finish < latest[key]!) {
        let earlier = latestUse[key]!
        while (before[earlier] !== NONE && startOf(before[earlier]!) > finish)
          earlier = before[earlier]!
        first = Math.min(first, place[earlier]!)
      }
    }
    if (first < at) steps.add(at, first)
    for (let use = start[txn]!; use < start[txn + 1]!; use++) {
      const key = used[use]!
      if (started <= latest[key]!) continue
      latest[key] = started
      before[use] = latestUse[key]!
      latestUse[key] = use
      place[use] = at
    }
  }
  function startOf(use: number): number {
    return txnStartTime![order[place[use]!]!]!
  }
}

/** The edges of a graph among some nodes, and real time among their transactions. */
function withTime(
  history: History,
  plain: DependencyGraph,
  scope: TimeScope,
  isInside: Uint8Array,
): DependencyGraph {
  const { width, from, to, kind, op } = plain
  const { txnCounts } = history
  const isMeant = txnCounts.map((counts, txn) => {
    const stands = isInside[width * txn] || isInside[width * txn + width - 1]
    return counts && stands ? 1 : 0
  })
  let count = 0
  for (let edge = 0; edge < plain.edgeCount; edge++) {
    count += isInside[from[edge]!]! & isInside[to[edge]!]!
  }
  const only = { ...history, txnCounts: isMeant }
  const users = groupsInTime(only, scope)
  const graph = new EdgeColumns(history, width, users, count)
  for (let edge = 0; edge < plain.edgeCount; edge++) {
    if ((isInside[from[edge]!]! & isInside[to[edge]!]!) === 0) continue
    graph.add(from[edge]!, to[edge]!, kind[edge]!, op[edge]!)
  }
  for (const txns of users) graph.addTimes(txns)
  return graph
}
