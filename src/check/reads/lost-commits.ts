// Commits that were acknowledged and are gone (LostCommit). That something is stale proves nothing:
// weak levels allow it. An audit does: it ran alone, on a database that had come to rest, and says
// so. If it shows a version of a key that an earlier transaction saw and replaced, directly or
// through others that built on it, or the initial state of a key that somebody wrote, or a list
// without what somebody appended, then that transaction's commit is lost. Of several, the first to
// build on the version is told.
//
//   s1: r(x,0) w(x,1) | r(x,0) [audit]      -> the first transaction's commit is gone
//
// Linear in the operations, and for each key audited in the versions built on the one it shows.
// Main class: LostCommits.

import {
  APPEND,
  COMMITTED,
  type History,
  INITIAL,
  NONE,
  READ,
  WRITE,
} from '../../history/history.ts'

export class LostCommits {
  private readonly firstOf: Int32Array // key -> last write that built on its initial state, or NONE
  private readonly firstOn: Int32Array // write op -> last write that built on it, or NONE
  private readonly next: Int32Array // write op -> the write before it that built on the same

  /** Null if there is no audit. @param opSource see ReadCheck */
  static of(history: History, opSource: Int32Array): LostCommits | null {
    const { txnAudit, txnCounts } = history
    const isAudited = txnAudit?.some((audit, txn) => audit === 1 && txnCounts[txn] === 1)
    return isAudited ? new LostCommits(history, opSource) : null
  }

  private constructor(
    private readonly history: History,
    opSource: Int32Array,
  ) {
    const { txnCount, txnCounts, txnOpStart, opKind, opKey, keyCount, opCount } = history
    this.firstOf = new Int32Array(keyCount).fill(NONE)
    this.firstOn = new Int32Array(opCount).fill(NONE)
    this.next = new Int32Array(opCount).fill(NONE)
    const seenBy = new Int32Array(keyCount).fill(NONE) // key -> transaction that saw it last
    const seen = new Int32Array(keyCount) // key -> the version that it saw
    const left = new Int32Array(keyCount) // key -> its last write so far
    // Backwards, so that of those that built on one version the first is met first.
    for (let txn = txnCount - 1; txn >= 0; txn--) {
      if (!txnCounts[txn]) continue
      const end = txnOpStart[txn + 1]!
      for (let op = txnOpStart[txn]!; op < end; op++) {
        const key = opKey[op]!
        if (opKind[op] === WRITE) left[key] = op
        else if (opKind[op] === READ && opSource[op] !== NONE) {
          seenBy[key] = txn
          seen[key] = history.readFrom[op]!
        }
      }
      for (let op = end - 1; op >= txnOpStart[txn]!; op--) {
        const key = opKey[op]!
        if (opKind[op] === APPEND) this.add(key, INITIAL, op)
        else if (opKind[op] === WRITE && left[key] === op) {
          this.add(key, seenBy[key] === txn ? seen[key]! : INITIAL, op)
        }
      }
    }
  }

  private add(key: number, version: number, write: number): void {
    const [heads, at] = version === INITIAL ? [this.firstOf, key] : [this.firstOn, version]
    this.next[write] = heads[at]!
    heads[at] = write
  }

  /** A write, acknowledged before the audit began, that the version it shows knows nothing of. */
  find(audit: number, key: number, version: number): number {
    const { opTxn } = this.history
    const pending = [version === INITIAL ? this.firstOf[key]! : this.firstOn[version]!]
    for (let write = pending.pop(); write !== undefined; write = pending.pop()) {
      if (write === NONE) continue
      if (this.precedes(opTxn[write]!, audit)) return write
      pending.push(this.next[write]!, this.firstOn[write]!)
    }
    return NONE
  }

  /** The same for a list that shows these appends. */
  findAppend(audit: number, key: number, shown: ReadonlySet<number>): number {
    for (let append = this.firstOf[key]!; append !== NONE; append = this.next[append]!) {
      if (!shown.has(append) && this.precedes(this.history.opTxn[append]!, audit)) return append
    }
    return NONE
  }

  private precedes(txn: number, audit: number): boolean {
    const { txnStatus, txnSession, txnIndex, txnFinishTime, txnStartTime, txnIsInitial } =
      this.history
    if (txn === audit || txnStatus[txn] !== COMMITTED || txnIsInitial[txn]) return false
    if (txnSession[txn] === txnSession[audit]) return txnIndex[txn]! < txnIndex[audit]!
    return (txnFinishTime?.[txn] ?? Number.NaN) < (txnStartTime?.[audit] ?? Number.NaN)
  }
}
