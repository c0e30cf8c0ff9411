// Decides si on a read-modify-write history in which no version was replaced twice, by running it:
// a session's next transaction takes its snapshot once all that it read is committed, and commits
// once nobody has to read what it replaces. That is Kahn's algorithm on the BC graph of snapshots
// and commits (Viper), with edges commit → snapshot for so, wr and ww and snapshot → commit for rw:
// a cycle of it is a cycle of (so ∪ wr ∪ ww) ; rw? (MTC, CHECKSI). No graph is in memory; O(n +
// wake-ups).
//
// The same run decides pc: where every version has one successor, which read it, ww is part of wr,
// and ((so ∪ wr) ; rw?) ∪ ww has the same cycles. On any other history of registers a run that gets
// through still proves pc, because a version is current while it is read; one that gets stuck says
// nothing. Main function: findSnapshotOrder.

import type { Deadline } from '../../base/deadline.ts'
import { type History, INITIAL, NONE, WRITE } from '../../history/history.ts'
import { nextTxn } from '../order/session-head.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { SessionWaits } from './session-waits.ts'

/** Events 2·txn for a snapshot, 2·txn + 1 for a commit, in order; null if there is none. */
export function findSnapshotOrder(
  history: History,
  reads: ReadCheck,
  deadline: Deadline,
): Int32Array | null {
  return new SnapshotRun(history, reads).run(deadline)
}

class SnapshotRun {
  private readonly committed: Uint8Array // txn -> 1 once it committed
  private readonly current: Int32Array // key -> write op of the latest version, or INITIAL
  private readonly unread: Int32Array // write op -> reads of it before whose snapshots we are
  private readonly unreadInitial: Int32Array // key -> the same for its initial version
  private readonly head: Int32Array // session -> slot of its next transaction
  private readonly hasSnapshot: Uint8Array // session -> 1 if that transaction took its snapshot
  private readonly waits: SessionWaits
  private readonly events: Int32Array
  private eventCount = 0

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
  ) {
    const { txnCount, keyCount, opCount, sessionCount, sessionTxnStart } = history
    this.committed = new Uint8Array(txnCount)
    this.current = new Int32Array(keyCount).fill(INITIAL)
    this.unread = new Int32Array(opCount)
    this.unreadInitial = new Int32Array(keyCount)
    this.head = sessionTxnStart.slice(0, sessionCount)
    this.hasSnapshot = new Uint8Array(sessionCount)
    this.waits = new SessionWaits(sessionCount, txnCount, keyCount)
    this.events = new Int32Array(2 * txnCount)
    for (let op = 0; op < opCount; op++) {
      const source = reads.opSource[op]!
      if (source === INITIAL) this.unreadInitial[history.opKey[op]!]!++
      else if (source !== NONE) this.unread[history.readFrom[op]!]!++
    }
  }

  run(deadline: Deadline): Int32Array | null {
    const { sessionCount, txnCount, txnCounts } = this.history
    for (let session = 0; session < sessionCount; session++) this.waits.enqueue(session)
    for (let session = this.waits.dequeue(); session !== NONE; session = this.waits.dequeue()) {
      deadline.step(4)
      const txn = nextTxn(this.history, this.head, session)
      if (txn === NONE) continue
      if (!this.hasSnapshot[session] && !this.takeSnapshot(session, txn)) continue
      this.commit(session, txn)
    }
    let expected = 0
    for (let txn = 0; txn < txnCount; txn++) expected += 2 * txnCounts[txn]!
    return this.eventCount === expected ? this.events.subarray(0, expected) : null
  }

  /** False, and the session waits, if something that was read is not committed yet. */
  private takeSnapshot(session: number, txn: number): boolean {
    const { txnOpStart, opKey, readFrom } = this.history
    const { opSource } = this.reads
    const from = txnOpStart[txn]!
    const end = txnOpStart[txn + 1]!
    for (let op = from; op < end; op++) {
      const source = opSource[op]!
      if (source >= 0 && !this.committed[source]) return this.waits.waitForTxn(session, source)
    }
    for (let op = from; op < end; op++) {
      const source = opSource[op]!
      if (source === NONE) continue
      const key = opKey[op]!
      const left = source === INITIAL ? --this.unreadInitial[key]! : --this.unread[readFrom[op]!]!
      if (left === 0) this.waits.wakeForKey(key)
    }
    this.events[this.eventCount++] = 2 * txn
    this.hasSnapshot[session] = 1
    return true
  }

  /** Commits, unless somebody else still has to read what the transaction replaces. */
  private commit(session: number, txn: number): void {
    const { txnOpStart, opKind, opKey } = this.history
    const end = txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (opKind[op] !== WRITE) continue
      const key = opKey[op]!
      const version = this.current[key]!
      const left = version === INITIAL ? this.unreadInitial[key]! : this.unread[version]!
      if (left > 0) {
        this.waits.waitForKey(session, key)
        return
      }
    }
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (opKind[op] === WRITE) this.current[opKey[op]!] = op
    }
    this.events[this.eventCount++] = 2 * txn + 1
    this.committed[txn] = 1
    this.hasSnapshot[session] = 0
    this.head[session]!++
    this.waits.enqueue(session)
    this.waits.wakeForTxn(txn)
  }
}
