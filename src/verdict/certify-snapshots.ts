// Verifies si and pc by replaying snapshots and commits. In the sequence of events each transaction
// takes its snapshot, then commits; after the commits of those before it in its session; every read
// from elsewhere returns the latest version committed before the snapshot; and, for si, nobody
// commits a key that was committed since their snapshot. One pass, O(n). Such a sequence exists
// exactly if the level's axiom holds, with co the order of commits:
//
// - Given events: co*;(wr ∪ so) into t3 lies before t3's snapshot, and so does co* before a t4 that
//   committed a common key before t3 did, because t4 and t3 do not overlap. So every t2 that the
//   premise names was committed before the snapshot, and what was read, being the latest, is later.
// - Given co: let each snapshot follow the last of its so and wr predecessors (for si also the last
//   earlier writer of a key it writes) at once. A writer of x committed before the snapshot then
//   satisfies the premise, so it is not later than the version that was read.
//
// What proves si proves psi as well, by the same order of commits; for strong-si snapshots also
// come after the commits of all that finished before they were taken. A list read must show exactly
// the appends so far, in order, so co contains the order seen. Main function: certifySnapshots.

import { Deadline } from '../base/deadline.ts'
import { addTo } from '../base/maps.ts'
import {
  APPEND,
  COMMITTED,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_LIST,
  WRITE,
} from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import { shownPrefix } from './certify-reads.ts'
import { LEVEL_RULES } from './level-rules.ts'

const MAX_PROBLEMS = 5

/** @param events 2·txn for the snapshot of a transaction, 2·txn + 1 for its commit */
export function certifySnapshots(
  history: History,
  level: LevelId,
  events: Int32Array,
  deadline: Deadline = Deadline.none(),
): string[] {
  if (!LEVEL_RULES[level].proofs.has('snapshots')) return [`${level} is not proved by snapshots`]
  const { exclusive, edges } = LEVEL_RULES[level]
  const untimely = edges.has('RT') ? findUntimely(history, events) : null
  if (untimely !== null) return [untimely]
  return new SnapshotReplay(history, exclusive, events).run(deadline)
}

/** Strong si: nothing commits after the snapshot of one that started when it had finished. */
function findUntimely(history: History, events: Int32Array): string | null {
  const { txnStartTime, txnFinishTime, txnStatus } = history
  if (!txnStartTime || !txnFinishTime) return 'the history has no times'
  let latestStart = Number.NEGATIVE_INFINITY // of those that have their snapshots
  for (const event of events) {
    const txn = event >> 1
    const start = txnStartTime[txn] ?? Number.NaN
    const ends = txnStatus[txn] === COMMITTED
    const finish = ends ? (txnFinishTime[txn] ?? Number.NaN) : Number.POSITIVE_INFINITY
    if (Number.isNaN(start) || Number.isNaN(finish)) return `event ${event} has no time`
    if (event % 2 === 0) latestStart = Math.max(latestStart, start)
    else if (finish < latestStart) return `${txn} commits after a snapshot that was taken later`
  }
  return null
}

class SnapshotReplay {
  private readonly problems: string[] = []
  private readonly snapshotAt: Int32Array // txn -> place of its snapshot, NONE before it is taken
  private readonly committed: Uint8Array // txn -> 1 once it committed
  private readonly latest: Int32Array // key -> write op of the latest committed version, or INITIAL
  private readonly latestAt: Int32Array // key -> place of that commit
  private readonly ownTxn: Int32Array // key -> transaction that wrote it last in the replay
  private readonly ownOp: Int32Array // key -> that write
  private readonly ownBefore: Int32Array // append -> the one before it by its transaction, or NONE
  private readonly appended: Map<number, number[]> = new Map() // key -> appends in order
  private readonly previous: Int32Array // txn -> the one before it in its session that counts
  private commitCount = 0

  constructor(
    private readonly history: History,
    private readonly exclusive: boolean,
    private readonly events: Int32Array,
  ) {
    this.snapshotAt = new Int32Array(history.txnCount).fill(NONE)
    this.committed = new Uint8Array(history.txnCount)
    this.latest = new Int32Array(history.keyCount).fill(INITIAL)
    this.latestAt = new Int32Array(history.keyCount).fill(NONE)
    this.ownTxn = new Int32Array(history.keyCount).fill(NONE)
    this.ownOp = new Int32Array(history.keyCount)
    this.ownBefore = new Int32Array(history.listStart.length > 1 ? history.opCount : 0)
    this.previous = findPrevious(history)
  }

  run(deadline: Deadline): string[] {
    const { history, events } = this
    for (let place = 0; place < events.length; place++) {
      deadline.step(2)
      const txn = events[place]! >> 1
      if (!(txn >= 0 && txn < history.txnCount) || !history.txnCounts[txn]) {
        this.fail(`event ${place} is of no transaction that counts`)
      } else if ((events[place]! & 1) === 0) this.takeSnapshot(txn, place)
      else this.commit(txn, place)
      if (this.problems.length >= MAX_PROBLEMS) return this.problems
    }
    let expected = 0
    for (let txn = 0; txn < history.txnCount; txn++) expected += history.txnCounts[txn]!
    if (this.commitCount !== expected) this.fail('not every transaction that counts commits')
    return this.problems
  }

  private takeSnapshot(txn: number, place: number): void {
    const { txnOpStart, opKind, opKey, readFrom } = this.history
    const { latest, ownTxn, ownOp } = this
    if (this.snapshotAt[txn] !== NONE) return this.fail(`${txn} takes two snapshots`)
    this.snapshotAt[txn] = place
    const before = this.previous[txn]!
    if (before !== NONE && !this.committed[before]) {
      this.fail(`${txn} starts before its session's ${before} commits`)
    }
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const key = opKey[op]!
      const own = ownTxn[key] === txn ? ownOp[key]! : NONE
      if (opKind[op] === READ) {
        const expected = own !== NONE ? own : latest[key]
        if (readFrom[op] !== expected) this.fail(`read ${op} is not of the latest version`)
      } else if (opKind[op] === READ_LIST) this.readList(op, own)
      else if (opKind[op] === WRITE || opKind[op] === APPEND) {
        if (opKind[op] === APPEND) this.ownBefore[op] = own
        ownTxn[key] = txn
        ownOp[key] = op
      }
    }
  }

  private readList(read: number, own: number): void {
    const all = this.appended.get(this.history.opKey[read]!) ?? []
    if (shownPrefix(this.history, read, all, own, this.ownBefore) !== all.length)
      this.fail(`list read ${read} does not show what was appended so far`)
  }

  private commit(txn: number, place: number): void {
    const { txnOpStart, opKind, opKey, versions } = this.history
    const snapshot = this.snapshotAt[txn]!
    if (snapshot === NONE) return this.fail(`${txn} commits before its snapshot`)
    if (this.committed[txn]) return this.fail(`${txn} commits twice`)
    this.committed[txn] = 1
    this.commitCount++
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
      const key = opKey[op]!
      if (this.exclusive && this.latestAt[key]! > snapshot && this.latestAt[key] !== place) {
        this.fail(`${txn} overwrites key ${key}, which was committed since its snapshot`)
      }
      const before = this.latest[key]!
      const isTurned =
        versions !== null && before >= 0 && versions.opVersion[op]! < versions.opVersion[before]!
      if (isTurned) this.fail(`write ${op} comes after a later version`)
      this.latest[key] = op
      this.latestAt[key] = place
      if (opKind[op] === APPEND) addTo(this.appended, key, op)
    }
  }

  private fail(problem: string): void {
    this.problems.push(problem)
  }
}

function findPrevious(history: History): Int32Array {
  const previous = new Int32Array(history.txnCount).fill(NONE)
  const last = new Int32Array(history.sessionCount).fill(NONE) // session -> latest that counts
  for (const txn of history.sessionTxns) {
    const session = history.txnSession[txn]!
    previous[txn] = last[session]!
    if (history.txnCounts[txn]) last[session] = txn
  }
  return previous
}
