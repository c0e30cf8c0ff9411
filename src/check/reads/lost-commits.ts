// Commits that were acknowledged and are gone (LostCommit). That something is stale proves nothing:
// weak levels allow it. An audit does: it ran alone, on a database that had come to rest, and says
// so. If it shows a version of a key that an earlier transaction saw before it wrote the key,
// directly or through others that built on that version, or the initial state of a key that
// somebody wrote, or a list without what somebody appended, then that transaction's commit is lost:
// in every commit order it comes after what the audit shows. Of several, the first to build on the
// version is told.
//
//   s1: r(x,0) w(x,1) | r(x,0) [audit]      -> the first transaction's commit is gone
//
// Linear in the operations, and for each key audited in the versions built on the one it shows.
// Main class: LostCommits.

import { IntColumn } from '../../base/grow.ts'
import {
  APPEND,
  COMMITTED,
  type History,
  INITIAL,
  NONE,
  READ,
  WRITE,
} from '../../history/history.ts'

const NOTHING: ReadonlySet<number> = new Set()

export class LostCommits {
  private readonly firstOf: Int32Array // key -> first write of it, or NONE
  private readonly next: Int32Array // write op -> the next one of its key
  private readonly firstOn: Int32Array // write op -> first link to what was built on it, or NONE
  private readonly link = new IntColumn(64) // link -> a write that built on a version
  private readonly linkNext = new IntColumn(64) // link -> the next one from that version
  private readonly seenFor: Int32Array // write op -> the search that has come to it last
  private search = 0

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
    this.next = new Int32Array(opCount).fill(NONE)
    this.firstOn = new Int32Array(opCount).fill(NONE)
    this.seenFor = new Int32Array(opCount)
    const leftBy = new Int32Array(keyCount).fill(NONE) // key -> transaction that wrote it last
    const left = new Int32Array(keyCount) // key -> its last write
    // Backwards, so that of those that built on one version the first is met first.
    for (let txn = txnCount - 1; txn >= 0; txn--) {
      if (!txnCounts[txn]) continue
      const start = txnOpStart[txn]!
      for (let op = txnOpStart[txn + 1]! - 1; op >= start; op--) {
        const key = opKey[op]!
        if (opKind[op] === APPEND || (opKind[op] === WRITE && leftBy[key] !== txn)) {
          leftBy[key] = txn
          left[key] = op
          this.next[op] = this.firstOf[key]!
          this.firstOf[key] = op
        } else if (opKind[op] === READ && opSource[op] !== NONE && leftBy[key] === txn) {
          this.addLink(history.readFrom[op]!, left[key]!)
        }
      }
    }
  }

  private addLink(version: number, write: number): void {
    if (version < 0) return // everything is built on the initial state
    this.link.push(write)
    this.linkNext.push(this.firstOn[version]!)
    this.firstOn[version] = this.link.length - 1
  }

  /** A write, acknowledged before the audit began, that the version it shows knows nothing of. */
  find(audit: number, key: number, version: number): number {
    if (version === INITIAL) return this.findAppend(audit, key, NOTHING)
    const { opTxn } = this.history
    const { link, linkNext, firstOn, seenFor } = this
    const search = ++this.search
    seenFor[version] = search // where reads go round in a circle, it may be built on itself
    const pending = [firstOn[version]!]
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      if (at === NONE) continue
      const write = link.data[at]!
      pending.push(linkNext.data[at]!)
      if (seenFor[write] === search) continue
      seenFor[write] = search
      if (this.precedes(opTxn[write]!, audit)) return write
      pending.push(firstOn[write]!)
    }
    return NONE
  }

  /** A write or append of the key that is not shown. */
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
