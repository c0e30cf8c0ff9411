// Whether one transaction happens before another. Few questions are answered by a search backwards
// from the later one that never leaves the stretch of the base order between the two; when such
// searches have visited as many transactions as a pass over the history would, vector clocks are
// computed once and answer the rest. So a history with a handful of stale reads never pays for
// clocks. Main class: Causality.

import type { Deadline } from '../../base/deadline.ts'
import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { BaseOrder } from './base-order.ts'
import { CausalClocks } from './causal-clocks.ts'

export class Causality {
  private lazyClocks: CausalClocks | null = null
  private readonly seen: Int32Array // txn -> search that reached it
  private readonly pending: number[] = []
  private search = 0
  private allowance: number // transactions that searches may still visit

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    /** An order of so ∪ wr. */
    private readonly order: BaseOrder,
    private readonly deadline: Deadline,
  ) {
    this.seen = new Int32Array(history.txnCount)
    // On a cycle everything is before everything, which only clocks of components know.
    this.allowance = order.component === null ? history.txnCount >> 2 : 0
  }

  /** True if `a` happens before `b`. */
  before(a: number, b: number): boolean {
    if (this.lazyClocks === null && this.allowance > 0) {
      const found = this.searchBack(a, b)
      if (found !== null) return found
    }
    return this.clocks().before(a, b)
  }

  clocks(): CausalClocks {
    const { order, groupEnd } = this.order
    this.lazyClocks ??= new CausalClocks(this.history, this.reads, order, this.deadline, groupEnd)
    return this.lazyClocks
  }

  /** The answer, or null if the allowance ran out on the way. */
  private searchBack(a: number, b: number): boolean | null {
    const { txnSession, txnIndex, sessionTxns, sessionTxnStart, txnOpStart } = this.history
    const { opSource } = this.reads
    const { position } = this.order
    const { seen, pending } = this
    const session = txnSession[a]!
    const index = txnIndex[a]!
    const floor = position[a]!
    this.search++
    pending.length = 0
    pending.push(b)
    while (pending.length > 0) {
      if (--this.allowance < 0) return null
      const txn = pending.pop()!
      if (txnSession[txn] === session && txnIndex[txn]! > index) return true
      const slot = sessionTxnStart[txnSession[txn]!]! + txnIndex[txn]! - 1
      const previous = txnIndex[txn]! > 0 ? sessionTxns[slot]! : NONE
      if (previous !== NONE && this.isNear(previous, floor)) {
        seen[previous] = this.search
        pending.push(previous)
      }
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const source = opSource[op]!
        if (source === a) return true
        if (source < 0 || !this.isNear(source, floor)) continue
        seen[source] = this.search
        pending.push(source)
      }
    }
    return false
  }

  /** Not reached yet, and late enough to matter; transactions that do not count link the others. */
  private isNear(txn: number, floor: number): boolean {
    if (this.seen[txn] === this.search) return false
    const position = this.order.position[txn]!
    return position === NONE || position > floor
  }
}
