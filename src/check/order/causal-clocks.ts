// Happens-before, hb = (so ∪ wr)+, as vector clocks: for each transaction and session, how many of
// that session's transactions are before it. Sessions are chains, so one number a session says it
// all. A read whose writer is already covered needs no join, and a transaction that learned nothing
// new shares its predecessor's row; its place in its own session is implicit. O(n + joins · k)
// time. Main class: CausalClocks.

import type { Deadline } from '../../base/deadline.ts'
import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

const ROWS_PER_SLAB = 4096

export class CausalClocks {
  private readonly slabs: Int32Array[] = []
  private rowCount = 0
  private readonly rowOf: Int32Array // txn -> row
  private readonly width: number

  /**
   * @param order transactions that count in an order that respects so ∪ wr
   * @param groupEnd where so ∪ wr is cyclic: position -> end of its strongly connected component,
   *   whose members all precede each other; null if there is no cycle
   */
  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    order: Int32Array,
    deadline: Deadline,
    groupEnd: Int32Array | null = null,
  ) {
    this.width = history.sessionCount
    this.rowOf = new Int32Array(history.txnCount).fill(NONE)
    const last = new Int32Array(history.sessionCount).fill(NONE) // session -> its latest row
    this.newRow(deadline)
    for (let p = 0; p < order.length; p++) {
      if ((p & 4095) === 0) deadline.check()
      const end = groupEnd ? groupEnd[p]! : p + 1
      if (end > p + 1) {
        this.addGroup(order.subarray(p, end), last, deadline)
        p = end - 1
      } else {
        this.addTxn(order[p]!, last, deadline)
      }
    }
  }

  /** True if `a` happens before `b`; false for a = b unless they are on a cycle. */
  before(a: number, b: number): boolean {
    const { txnSession, txnIndex } = this.history
    const session = txnSession[a]!
    if (session === txnSession[b] && txnIndex[a]! < txnIndex[b]!) return true
    return this.seen(b, session) > txnIndex[a]!
  }

  /** How many transactions of another session are before `txn`. */
  seen(txn: number, session: number): number {
    const row = this.rowOf[txn]!
    return this.slabs[(row / ROWS_PER_SLAB) | 0]![(row % ROWS_PER_SLAB) * this.width + session]!
  }

  private addTxn(txn: number, last: Int32Array, deadline: Deadline): void {
    const { txnSession, txnIndex, txnOpStart } = this.history
    const { opSource } = this.reads
    const session = txnSession[txn]!
    const inherited = last[session] === NONE ? 0 : last[session]!
    let row = inherited
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      const source = opSource[op]!
      if (source < 0) continue
      const from = txnSession[source]!
      if (from === session) continue // already before it in session order
      if (this.at(row, from) > txnIndex[source]!) continue
      if (row === inherited) row = this.copyRow(row, deadline)
      this.join(row, source)
    }
    this.rowOf[txn] = row
    last[session] = row
  }

  /** All members of a cycle share one row, which contains every one of them. */
  private addGroup(members: Int32Array, last: Int32Array, deadline: Deadline): void {
    const { txnSession, txnIndex, txnOpStart } = this.history
    const { opSource } = this.reads
    const row = this.newRow(deadline)
    for (const txn of members) {
      const session = txnSession[txn]!
      if (last[session] !== NONE) this.joinRow(row, last[session]!)
      this.raise(row, session, txnIndex[txn]! + 1)
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const source = opSource[op]!
        if (source >= 0 && this.rowOf[source] !== NONE) this.join(row, source)
      }
    }
    for (const txn of members) {
      this.rowOf[txn] = row
      last[txnSession[txn]!] = row
    }
  }

  private at(row: number, session: number): number {
    return this.slabs[(row / ROWS_PER_SLAB) | 0]![(row % ROWS_PER_SLAB) * this.width + session]!
  }

  private raise(row: number, session: number, count: number): void {
    const slab = this.slabs[(row / ROWS_PER_SLAB) | 0]!
    const at = (row % ROWS_PER_SLAB) * this.width + session
    if (slab[at]! < count) slab[at] = count
  }

  /** Adds everything before `source`, and itself, to the row. */
  private join(row: number, source: number): void {
    this.joinRow(row, this.rowOf[source]!)
    this.raise(row, this.history.txnSession[source]!, this.history.txnIndex[source]! + 1)
  }

  private joinRow(row: number, other: number): void {
    const width = this.width
    const a = this.slabs[(row / ROWS_PER_SLAB) | 0]!
    const b = this.slabs[(other / ROWS_PER_SLAB) | 0]!
    const aStart = (row % ROWS_PER_SLAB) * width
    const bStart = (other % ROWS_PER_SLAB) * width
    for (let s = 0; s < width; s++) {
      const count = b[bStart + s]!
      if (count > a[aStart + s]!) a[aStart + s] = count
    }
  }

  private newRow(deadline: Deadline): number {
    const row = this.rowCount++
    if (row % ROWS_PER_SLAB === 0) {
      deadline.reserve(ROWS_PER_SLAB * this.width * 4)
      this.slabs.push(new Int32Array(ROWS_PER_SLAB * this.width))
    }
    return row
  }

  private copyRow(row: number, deadline: Deadline): number {
    const copy = this.newRow(deadline)
    const width = this.width
    const from = (row % ROWS_PER_SLAB) * width
    const source = this.slabs[(row / ROWS_PER_SLAB) | 0]!
    const target = this.slabs[(copy / ROWS_PER_SLAB) | 0]!
    target.set(source.subarray(from, from + width), (copy % ROWS_PER_SLAB) * width)
    return copy
  }
}
