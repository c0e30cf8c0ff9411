// Happens-before for the replay, kept apart from the checkers' clocks on purpose. Advances with the
// replay along the order; one row a transaction that reads, rows shared where nothing was learned.

import { type History, NONE } from '../history/history.ts'
import { foreignVersion } from './certify-reads.ts'

export class ReplayClocks {
  private readonly rows: Int32Array[] = []
  private readonly rowOf: Int32Array // txn -> row
  private readonly latest: Int32Array // session -> its latest row

  /** Starts by catching up with the first `done` transactions of the order. */
  constructor(
    private readonly history: History,
    order: Int32Array,
    done: number,
  ) {
    this.rowOf = new Int32Array(history.txnCount).fill(NONE)
    this.latest = new Int32Array(history.sessionCount).fill(0)
    this.rows.push(new Int32Array(history.sessionCount))
    for (let p = 0; p < done; p++) this.advance(order[p]!)
  }

  advance(txn: number): void {
    this.rowOf[txn] = this.rowFor(txn)
    this.latest[this.history.txnSession[txn]!] = this.rowOf[txn]!
  }

  /** True if `a`, already passed, happens before `b`, which may be the next to pass. */
  before(a: number, b: number): boolean {
    const { txnSession, txnIndex } = this.history
    if (this.rowOf[b] === NONE) this.rowOf[b] = this.rowFor(b)
    if (txnSession[a] === txnSession[b]) return txnIndex[a]! < txnIndex[b]!
    return this.rows[this.rowOf[b]!]![txnSession[a]!]! > txnIndex[a]!
  }

  private rowFor(txn: number): number {
    if (this.rowOf[txn] !== NONE) return this.rowOf[txn]!
    const { txnSession, txnIndex, txnOpStart, opTxn } = this.history
    const session = txnSession[txn]!
    const inherited = this.latest[session]!
    let row = this.rows[inherited]!
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const version = foreignVersion(this.history, op)
      if (version < 0) continue
      const writer = opTxn[version]!
      const from = txnSession[writer]!
      if (from === session || row[from]! > txnIndex[writer]!) continue
      if (row === this.rows[inherited]) row = row.slice()
      const other = this.rows[this.rowOf[writer]!]!
      for (let s = 0; s < row.length; s++) if (other[s]! > row[s]!) row[s] = other[s]!
      row[from] = Math.max(row[from]!, txnIndex[writer]! + 1)
    }
    if (row === this.rows[inherited]) return inherited
    this.rows.push(row)
    return this.rows.length - 1
  }
}
