// A window of an order as a history of its own, which the engine in memory can judge. What its
// transactions read from before the window is the initial state. On request one more transaction,
// after all others, reads what those after the window read: an order of such a history can take the
// window's place. Main class: WindowHistory.

import { HistoryBuilder } from '../../history/builder.ts'
import { COMMITTED, type History, NONE, READ, WRITE } from '../../history/history.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import { READ_LATER, READS, type WindowRecords, WRITES } from './window-ops.ts'
import type { Span } from './windows.ts'

export class WindowHistory {
  readonly size: number
  private readonly keyOf = new Map<number, number>() // key -> key of the window

  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
    readonly span: Span,
    private readonly records: WindowRecords,
  ) {
    this.size = span.last - span.first + 1
    for (const key of records.key) {
      if (!this.keyOf.has(key)) this.keyOf.set(key, this.keyOf.size)
    }
  }

  /** Transactions have their positions less the first; with an observer, the last is that. */
  build(withObserver: boolean): History {
    const { spilled, size, span, records } = this
    const builder = new HistoryBuilder(null)
    const initial = builder.values.of(null)
    for (let node = 0; node < size; node++) {
      const session = spilled.txnSession.data[this.txnAt(node)]!
      builder.addTxn(builder.sessions.ofSmall(session), COMMITTED)
    }
    // Reads come first: at ser and si it does not matter where in its transaction a read is.
    for (let i = 0; i < records.at.length; i++) {
      if (records.kind[i] !== READS) continue
      const from = records.other[i]! - span.first
      const value = from < 0 ? initial : builder.values.ofSmall(from + 1)
      builder.addOp(records.at[i]! - span.first, READ, this.keyIn(builder, i), value)
    }
    for (let i = 0; i < records.at.length; i++) {
      if (records.kind[i] !== WRITES) continue
      const node = records.at[i]! - span.first
      const value = builder.values.ofSmall(node + 1)
      builder.addOp(node, WRITE, this.keyIn(builder, i), value)
    }
    if (withObserver) this.addObserver(builder)
    return builder.finish()
  }

  private keyIn(builder: HistoryBuilder, record: number): number {
    return builder.keys.ofSmall(this.keyOf.get(this.records.key[record]!)!)
  }

  private addObserver(builder: HistoryBuilder): void {
    const { size, span, records, spilled } = this
    const session = builder.sessions.of('observer')
    const observer = builder.addTxn(session, COMMITTED)
    const met = new Set<number>() // keys
    for (let i = 0; i < records.at.length; i++) {
      if (records.kind[i] !== READ_LATER || met.has(records.key[i]!)) continue
      met.add(records.key[i]!)
      const value = builder.values.ofSmall(records.at[i]! - span.first + 1)
      builder.addOp(observer, READ, this.keyIn(builder, i), value)
    }
    // It comes after the last one of each session, because it reads something from that.
    const last = new Map<number, number>() // session -> its last node
    for (let node = 0; node < size; node++) {
      last.set(spilled.txnSession.data[this.txnAt(node)]!, node)
    }
    let key = this.keyOf.size
    for (const node of last.values()) {
      const marker = builder.keys.ofSmall(key++)
      const value = builder.values.ofSmall(node + 1)
      builder.addOp(node, WRITE, marker, value)
      builder.addOp(observer, READ, marker, value)
    }
  }

  /** Whether an order of the nodes leaves those last that somebody reads from after the window. */
  keepsLast(nodes: Int32Array): boolean {
    const { records, span } = this
    const place = new Int32Array(this.size)
    for (let i = 0; i < nodes.length; i++) place[nodes[i]!] = i
    const lastPlace = new Map<number, number>() // key -> place of its last writer
    for (let i = 0; i < records.at.length; i++) {
      if (records.kind[i] !== WRITES) continue
      const at = place[records.at[i]! - span.first]!
      if (at > (lastPlace.get(records.key[i]!) ?? NONE)) lastPlace.set(records.key[i]!, at)
    }
    for (let i = 0; i < records.at.length; i++) {
      if (records.kind[i] !== READ_LATER) continue
      if (place[records.at[i]! - span.first] !== lastPlace.get(records.key[i]!)) return false
    }
    return true
  }

  /**
   * The transactions of the whole that those nodes are, with whom they read from before the window.
   * @param withLater whether with whoever reads from them after the window
   */
  addTxns(nodes: Iterable<number>, withLater: boolean, into: Set<number>): void {
    const { records, span } = this
    const chosen = new Set<number>()
    for (const node of nodes) if (node < this.size) chosen.add(node)
    for (const node of chosen) into.add(this.txnAt(node))
    for (let i = 0; i < records.at.length; i++) {
      if (!chosen.has(records.at[i]! - span.first)) continue
      const other = records.other[i]!
      const isBefore = records.kind[i] === READS && other !== NONE && other < span.first
      if (isBefore || (withLater && records.kind[i] === READ_LATER)) {
        into.add(this.txnAt(other - span.first))
      }
    }
  }

  private txnAt(node: number): number {
    const at = this.span.first + node
    return this.order.txnAt === null ? at : this.order.txnAt[at]!
  }
}
