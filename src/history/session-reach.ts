// How far session order reaches back from a transaction into each session, be it by its own session
// or by what is named beyond sessions (after.ts). Rows are shared along sessions. O(transactions,
// and sessions times those that name others). Main class: SessionReach.

import { orderBySessions } from './after.ts'
import { type History, NONE } from './history.ts'

export class SessionReach {
  private readonly rowOf: Int32Array // txn -> its row, NONE if it comes after no other session
  private readonly rows: Int32Array[] = [] // row -> session -> how many of its transactions

  constructor(private readonly history: History) {
    const { after, txnCount, txnIndex, txnSession, sessionTxns, sessionTxnStart } = history
    this.rowOf = new Int32Array(after === null ? 0 : txnCount).fill(NONE)
    if (after === null) return
    for (const txn of orderBySessions(history)) {
      const slot = sessionTxnStart[txnSession[txn]!]! + txnIndex[txn]! - 1
      if (txnIndex[txn]! > 0) this.rowOf[txn] = this.rowOf[sessionTxns[slot]!]!
      if (after.start[txn] === after.start[txn + 1]) continue
      const row = this.row(txn)?.slice() ?? new Int32Array(history.sessionCount)
      for (let i = after.start[txn]!; i < after.start[txn + 1]!; i++) this.join(row, after.txn[i]!)
      this.rowOf[txn] = this.rows.length
      this.rows.push(row)
    }
  }

  /** Whether it ever leaves a session. */
  get isWide(): boolean {
    return this.rows.length > 0
  }

  /** session -> how many of its transactions come before, other than its own; null if none. */
  row(txn: number): Int32Array | null {
    return this.rows[this.rowOf[txn] ?? NONE] ?? null
  }

  /** How many transactions of the session come before the given one. */
  countBefore(txn: number, session: number): number {
    const { txnSession, txnIndex } = this.history
    return txnSession[txn] === session ? txnIndex[txn]! : (this.row(txn)?.[session] ?? 0)
  }

  isBefore(earlier: number, later: number): boolean {
    const { txnSession, txnIndex } = this.history
    return txnIndex[earlier]! < this.countBefore(later, txnSession[earlier]!)
  }

  private join(row: Int32Array, earlier: number): void {
    const { txnSession, txnIndex } = this.history
    const further = this.row(earlier)
    for (let s = 0; further !== null && s < row.length; s++) row[s] = Math.max(row[s]!, further[s]!)
    const session = txnSession[earlier]!
    row[session] = Math.max(row[session]!, txnIndex[earlier]! + 1)
  }
}
