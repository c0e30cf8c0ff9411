// Strongly connected components of so ∪ wr ∪ ww ∪ extra edges, in an order that respects all edges
// between components and otherwise stays close to a preferred order. Tarjan's algorithm, iterative,
// over predecessors: those of a transaction are its session predecessor, the sources of its reads
// and the appends before its own, all read off the history, so that no graph is built. Components
// come out predecessors first, and roots are tried in the preferred order. O(n + extra edges).
// Main function: orderComponents.

import type { Deadline } from '../../base/deadline.ts'
import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { type BaseOrder, NO_STALE_READS } from './stale-reads.ts'

/** An order between two transactions that some read forces. */
export interface ForcedEdge {
  from: number
  to: number
  /** The read of `to`'s version by a transaction that should have seen `from`. */
  read: number
}

/** @param spans position -> 1 where the order may have to change; null for everywhere */
export function orderComponents(
  history: History,
  reads: ReadCheck,
  preferred: Int32Array,
  extra: readonly ForcedEdge[],
  deadline: Deadline,
  withVersionOrder = true,
  spans: Uint8Array | null = null,
): BaseOrder {
  return new Tarjan(history, reads, extra, withVersionOrder).run(preferred, deadline, spans)
}

const OUTSIDE = 0x7fffffff // discovery number of transactions that keep their place

class Tarjan {
  private readonly opSource: Int32Array
  private readonly writeAfter: Int32Array | null
  private readonly extraStart: Int32Array // txn -> first of its incoming extra edges
  private readonly extraFrom: Int32Array
  private readonly number: Int32Array // txn -> discovery number, 0 if not seen
  private readonly low: Int32Array // txn -> smallest number known to be reachable
  private readonly cursor: Int32Array // txn -> next predecessor to look at
  private readonly onStack: Uint8Array
  private readonly previous: Int32Array // txn -> predecessor in session order, or NONE

  constructor(
    private readonly history: History,
    reads: ReadCheck,
    extra: readonly ForcedEdge[],
    withVersionOrder: boolean,
  ) {
    const { txnCount } = history
    this.opSource = reads.opSource
    this.writeAfter = withVersionOrder ? (reads.versions?.writeAfter ?? null) : null
    this.number = new Int32Array(txnCount)
    this.low = new Int32Array(txnCount)
    this.cursor = new Int32Array(txnCount)
    this.onStack = new Uint8Array(txnCount)
    this.previous = findPrevious(history)
    this.extraStart = new Int32Array(txnCount + 1)
    for (const edge of extra) this.extraStart[edge.to + 1]!++
    for (let txn = 0; txn < txnCount; txn++) this.extraStart[txn + 1]! += this.extraStart[txn]!
    this.extraFrom = new Int32Array(extra.length)
    const next = this.extraStart.slice()
    for (const edge of extra) this.extraFrom[next[edge.to]!++] = edge.from
  }

  run(preferred: Int32Array, deadline: Deadline, spans: Uint8Array | null): BaseOrder {
    const { txnCount } = this.history
    const { number, low, onStack } = this
    const order = new Int32Array(preferred.length)
    const position = new Int32Array(txnCount).fill(NONE)
    const component = new Int32Array(txnCount).fill(NONE)
    const groupEnd = new Int32Array(preferred.length)
    const path = new Int32Array(preferred.length + 1) // transactions being explored
    const stack = new Int32Array(preferred.length + 1) // transactions without a component yet
    let pathLength = 0
    let stackLength = 0
    let placed = 0
    let counter = 0
    let componentCount = 0
    let cyclic = false
    if (spans !== null) this.keepOutside(preferred, spans)
    for (let i = 0; i < preferred.length; i++) {
      const root = preferred[i]!
      if (number[root] === OUTSIDE) {
        order[placed] = root
        position[root] = placed
        component[root] = componentCount++
        groupEnd[placed] = ++placed
      }
      if (number[root] !== 0) continue
      path[pathLength++] = root
      while (pathLength > 0) {
        const txn = path[pathLength - 1]!
        if (number[txn] === 0) {
          number[txn] = low[txn] = ++counter
          stack[stackLength++] = txn
          onStack[txn] = 1
        }
        deadline.step(2)
        const next = this.nextPredecessor(txn)
        if (next !== NONE) {
          path[pathLength++] = next
          continue
        }
        const below = --pathLength > 0 ? path[pathLength - 1]! : txn
        if (low[txn]! < low[below]!) low[below] = low[txn]!
        if (low[txn] !== number[txn]) continue
        const start = placed
        for (;;) {
          const member = stack[--stackLength]!
          onStack[member] = 0
          component[member] = componentCount
          order[placed++] = member
          if (member === txn) break
        }
        componentCount++
        if (placed - start > 1) {
          cyclic = true
          order.subarray(start, placed).sort()
        }
        for (let p = start; p < placed; p++) position[order[p]!] = p
        groupEnd.fill(placed, start, placed)
      }
    }
    return {
      order,
      position,
      component: cyclic ? component : null,
      groupEnd: cyclic ? groupEnd : null,
      stale: NO_STALE_READS,
    }
  }

  private keepOutside(preferred: Int32Array, spans: Uint8Array): void {
    for (let i = 0; i < preferred.length; i++) {
      if (spans[i] === 0) this.number[preferred[i]!] = OUTSIDE
    }
  }

  /** The next unexplored predecessor; those on the stack lower `low` on the way. */
  private nextPredecessor(txn: number): number {
    const { txnOpStart } = this.history
    const { number, low, onStack, opSource, writeAfter } = this
    const opStart = txnOpStart[txn]!
    const opCount = txnOpStart[txn + 1]! - opStart
    const extraStart = this.extraStart[txn]!
    const total = 1 + opCount * 2 + this.extraStart[txn + 1]! - extraStart
    let at = this.cursor[txn]!
    while (at < total) {
      let before: number
      if (at === 0) before = this.previous[txn]!
      else if (at <= opCount) before = opSource[opStart + at - 1]!
      else if (at <= opCount * 2) {
        if (writeAfter === null) {
          at = opCount * 2 + 1
          continue
        }
        before = writeAfter[opStart + at - opCount - 1]!
      } else before = this.extraFrom[extraStart + at - 1 - opCount * 2]!
      at++
      if (before < 0) continue
      if (number[before] === 0) {
        this.cursor[txn] = at
        return before
      }
      if (onStack[before] && number[before]! < low[txn]!) low[txn] = number[before]!
    }
    this.cursor[txn] = at
    return NONE
  }
}

/** txn -> the last one before it in its session that counts, or NONE. */
export function findPrevious(history: History): Int32Array {
  const { sessionTxns, txnSession, txnCounts, txnCount } = history
  const previous = new Int32Array(txnCount).fill(NONE)
  let last: number = NONE
  for (let slot = 0; slot < sessionTxns.length; slot++) {
    const txn = sessionTxns[slot]!
    if (last !== NONE && txnSession[last] !== txnSession[txn]) last = NONE
    previous[txn] = last
    if (txnCounts[txn]) last = txn
  }
  return previous
}
