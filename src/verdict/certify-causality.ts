// Happens-before for the replay, kept apart from the checkers' on purpose. The first questions are
// answered by walking back from the later transaction, never past the earlier one's position; when
// that has cost as much as a pass over the history, clocks take over: one row for each transaction
// that learned something, shared by those that follow it in its session. The reads of the
// transactions passed so far have been found sound, so a read's writer can be taken as it is.

import { APPEND, type History, NONE, READ, READ_LIST } from '../history/history.ts'
import { hasManySessions } from '../history/sessionless.ts'

/** The other transaction whose write a sound read saw, or NONE. */
export function writerOf(history: History, op: number): number {
  const { opKind, opTxn, readFrom } = history
  let write: number = NONE
  if (opKind[op] === READ) write = readFrom[op]!
  else if (opKind[op] === READ_LIST) write = lastForeign(history, op)
  if (write < 0) return NONE
  return opTxn[write] === opTxn[op] ? NONE : opTxn[write]!
}

/** The last append that a sound list read shows before the reader's own, or NONE. */
function lastForeign(history: History, read: number): number {
  const { opKind, opKey, opTxn, opValue, txnOpStart, listStart, listFrom } = history
  let end = listStart[opValue[read]! + 1]!
  for (let op = txnOpStart[opTxn[read]!]!; op < read; op++) {
    if (opKind[op] === APPEND && opKey[op] === opKey[read]) end--
  }
  return end > listStart[opValue[read]!]! ? listFrom[end - 1]! : NONE
}

export class ReplayCausality {
  private clocks: ReplayClocks | null = null
  private readonly seen: Int32Array // txn -> walk that reached it
  private walk = 0
  private allowance: number // transactions that walks may still visit

  constructor(
    private readonly history: History,
    private readonly order: Int32Array,
    private readonly position: Int32Array,
  ) {
    this.seen = new Int32Array(history.txnCount)
    // With many short sessions clocks would be n² numbers: walks answer everything.
    this.allowance = hasManySessions(history) ? Number.POSITIVE_INFINITY : history.txnCount >> 2
  }

  /** True if `a` happens before `b`, which is the transaction the replay has come to. */
  before(a: number, b: number): boolean {
    if (this.clocks === null) {
      const found = this.walkBack(a, b)
      if (found !== null) return found
      this.clocks = new ReplayClocks(this.history, this.order, this.position[b]!)
    }
    return this.clocks.before(a, b)
  }

  /** To be told of every transaction once it has been replayed. */
  passed(txn: number): void {
    this.clocks?.advance(txn)
  }

  private walkBack(a: number, b: number): boolean | null {
    const { txnSession, txnIndex, txnOpStart, sessionTxns, sessionTxnStart } = this.history
    const floor = this.position[a]!
    const pending = [b]
    this.walk++
    const reach = (txn: number) => {
      if (txn === NONE || this.seen[txn] === this.walk) return
      // Transactions that do not count have no position, but link those of their session.
      if (this.position[txn] !== NONE && this.position[txn]! < floor) return
      this.seen[txn] = this.walk
      pending.push(txn)
    }
    while (pending.length > 0) {
      if (--this.allowance < 0) return null
      const txn = pending.pop()!
      if (txn === a) return true
      const index = txnIndex[txn]!
      if (index > 0) reach(sessionTxns[sessionTxnStart[txnSession[txn]!]! + index - 1]!)
      if (!this.history.txnCounts[txn]) continue
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        reach(writerOf(this.history, op))
      }
    }
    return false
  }
}

class ReplayClocks {
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
    const { txnSession, txnIndex, txnOpStart } = this.history
    const session = txnSession[txn]!
    const inherited = this.latest[session]!
    let row = this.rows[inherited]!
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const writer = writerOf(this.history, op)
      if (writer === NONE) continue
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
