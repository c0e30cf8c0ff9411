// Verifies a satisfied level by replaying its commit order: transactions one after another, each
// read compared with the latest version. A read of the latest version agrees with every level. What
// older ones skipped is judged after the pass, each level by its premise and within the bounds of
// the published algorithms (certify-skipped.ts, certify-skipped-causes.ts), session guarantees by
// their letter (certify-skipped-guarantees.ts). Reads of lists must be
// prefixes of the order in which the replay appends. An order proves pc and si if it even proves
// ser; sser and strong-si also ask that it agrees with real time; pl-2 only that everything is read
// after it was written, psi and Adya's other levels by what older reads missed
// (certify-dependencies.ts). O(n) but for older reads. Main function: certifyCommitOrder.

import { Deadline } from '../base/deadline.ts'
import { IntColumn } from '../base/grow.ts'
import { orderBySessions, rightBefore } from '../history/after.ts'
import {
  APPEND,
  COMMITTED,
  type History,
  INITIAL,
  NONE,
  READ,
  READ_LIST,
  writeMask,
} from '../history/history.ts'
import { usesOf } from '../history/key-uses.ts'
import { SessionReach } from '../history/session-reach.ts'
import { isAdyaLevel, type LevelId } from '../levels/levels.ts'
import { findSkippedDependency } from './certify-dependencies.ts'
import { findDirtyWrite, findTurnedVersion } from './certify-dirty-writes.ts'
import {
  findAppended,
  foreignVersion,
  nameListRead,
  offenceOf,
  shownPrefix,
} from './certify-reads.ts'
import { findSkippedByReads, findSkippedBySession, type Skip } from './certify-skipped.ts'
import { findSkippedByCauses } from './certify-skipped-causes.ts'
import { findSkippedByGuarantee } from './certify-skipped-guarantees.ts'
import { LEVEL_RULES, type LevelRules } from './level-rules.ts'

const MAX_PROBLEMS = 5

/** @param recorded what the history was made of, if its session order goes beyond sessions */
export function certifyCommitOrder(
  history: History,
  level: LevelId,
  order: Int32Array,
  deadline: Deadline = Deadline.none(),
  recorded: History = history,
): string[] {
  const replay = new Replay(history, level, order, deadline, recorded)
  if (replay.problems.length > 0) return replay.problems
  // Where real time is part of session order, the replay sees to it.
  const isTimed = LEVEL_RULES[level].edges.has('RT') && history.inTime === undefined
  const untimely = isTimed ? findUntimely(recorded, order, level === 'ser+lin') : null
  if (untimely !== null) return [untimely]
  if (LEVEL_RULES[level].soundReads) return replay.run()
  const { position } = replay
  const wrong =
    findDisorder(history, position) ??
    findDirtyWrite(history, position) ??
    findTurnedVersion(history, position)
  return wrong === null ? [] : [wrong]
}

/** Nothing may stand before what it names as coming before it, directly or through others. */
function findDisorder(history: History, position: Int32Array): string | null {
  if (history.after === null) return null
  // txn -> where the last of those before it is
  const latest = new Int32Array(history.txnCount).fill(NONE)
  for (const txn of orderBySessions(history)) {
    for (const other of rightBefore(history, txn)) {
      latest[txn] = Math.max(latest[txn]!, latest[other]!, position[other]!)
    }
    if (position[txn] !== NONE && latest[txn]! > position[txn]!) {
      return `the order puts ${txn} before one that it comes after`
    }
  }
  return null
}

/** Nothing may stand after what started only when it had finished, if they share a key `byKey`. */
function findUntimely(history: History, order: Int32Array, byKey: boolean): string | null {
  const { txnStartTime, txnFinishTime, txnStatus } = history
  if (order.length === 0) return null
  if (!txnStartTime || !txnFinishTime) return 'the history has no times'
  const uses = byKey ? usesOf(history) : null
  // key, or all of them as one -> the latest start of those that use it, of the order so far
  const latestStart = new Float64Array(uses ? uses.keyCount : 1).fill(Number.NEGATIVE_INFINITY)
  for (const txn of order) {
    const start = txnStartTime[txn]!
    // An indeterminate transaction may take effect at any later moment.
    const finish = txnStatus[txn] === COMMITTED ? txnFinishTime[txn]! : Number.POSITIVE_INFINITY
    if (Number.isNaN(start) || Number.isNaN(finish)) return `transaction ${txn} has no times`
    const end = uses ? uses.start[txn + 1]! : 1
    for (let i = uses ? uses.start[txn]! : 0; i < end; i++) {
      const key = uses ? uses.key[i]! : 0
      if (finish < latestStart[key]!) {
        const common = byKey ? ' and shares a key with it' : ''
        return `the order puts ${txn} after one that started later${common}`
      }
      if (start > latestStart[key]!) latestStart[key] = start
    }
  }
  return null
}

class Replay {
  readonly problems: string[] = []
  readonly position: Int32Array // txn -> position in the order
  private readonly latest: Int32Array // key -> write op of the latest version, INITIAL before
  private readonly rewritten: Uint8Array // write op -> 1 if its transaction writes the key again
  private readonly older = new IntColumn(64) // reads of versions that are not the latest
  private readonly appended: ReadonlyMap<number, readonly number[]> // key -> appends in order
  private readonly ownBefore: Int32Array // append -> the one before it by its transaction, or NONE
  private readonly sources: Int32Array // read -> transaction it saw, negative for none
  private readonly rules: LevelRules
  private readonly version: Float64Array | null // key -> the latest version as the store has it

  constructor(
    private readonly history: History,
    private readonly level: LevelId,
    private readonly order: Int32Array,
    private readonly deadline: Deadline,
    private readonly recorded: History,
  ) {
    this.rules = LEVEL_RULES[level]
    this.version =
      history.versions && new Float64Array(history.keyCount).fill(Number.NEGATIVE_INFINITY)
    const hasLists = history.listStart.length > 1
    this.position = new Int32Array(history.txnCount).fill(NONE)
    this.latest = new Int32Array(history.keyCount).fill(INITIAL)
    this.rewritten = new Uint8Array(history.opCount)
    this.ownBefore = new Int32Array(hasLists ? history.opCount : 0)
    this.appended = hasLists ? findAppended(history, order) : new Map()
    this.sources = hasLists ? history.readTxn.slice() : history.readTxn
    this.checkShape()
  }

  /** All transactions that count, once each, sessions in their order. */
  private checkShape(): void {
    const { history, order, position } = this
    const last = new Int32Array(history.sessionCount).fill(NONE) // session -> latest index
    for (let p = 0; p < order.length; p++) {
      const txn = order[p]!
      if (!(txn >= 0 && txn < history.txnCount) || !history.txnCounts[txn]) {
        this.fail(`position ${p} holds no transaction that counts`)
        return
      }
      if (position[txn] !== NONE) this.fail(`transaction ${txn} stands in the order twice`)
      position[txn] = p
      const session = history.txnSession[txn]!
      if (history.txnIndex[txn]! < last[session]!) this.fail(`the order breaks session ${session}`)
      last[session] = history.txnIndex[txn]!
    }
    for (let txn = 0; txn < history.txnCount; txn++) {
      if (history.txnCounts[txn] && position[txn] === NONE) {
        this.fail(`transaction ${txn} is missing from the order`)
        return
      }
    }
  }

  run(): string[] {
    const { order } = this
    for (let p = 0; p < order.length; p++) {
      this.deadline.step()
      this.replayTxn(order[p]!)
      if (this.problems.length >= MAX_PROBLEMS) break
    }
    if (this.problems.length === 0 && this.older.length > 0) {
      const skip = this.findSkip()
      if (skip !== null) this.failAsSkipped(skip.read, skip.skipped)
    }
    return this.problems.slice(0, MAX_PROBLEMS)
  }

  private replayTxn(txn: number): void {
    const { txnOpStart, opKind, opKey, readFrom } = this.history
    const { latest, rewritten, version } = this
    const start = txnOpStart[txn]!
    const end = txnOpStart[txn + 1]!
    for (let op = start; op < end; op++) {
      const kind = opKind[op]!
      const key = opKey[op]!
      const isWrite = writeMask(kind)
      const current = latest[key]!
      const isOwn = current >= start && current < end
      latest[key] = current ^ ((current ^ op) & isWrite)
      if (kind === APPEND) this.ownBefore[op] = isOwn ? current : NONE
      if (isOwn && isWrite !== 0) rewritten[current] = 1
      if (version !== null && isWrite !== 0) this.replayVersion(op, version)
      // The latest version is sound: its own latest, or the last write of one that ran before.
      if (((current ^ readFrom[op]!) & ~isWrite) === 0) continue
      if (kind === READ) this.replayOlderRead(txn, op, isOwn)
      else if (kind === READ_LIST) this.replayListRead(txn, op)
    }
  }

  /** What the store itself numbers comes in the order of its numbers. */
  private replayVersion(write: number, latest: Float64Array): void {
    const version = this.history.versions!.opVersion[write]!
    const key = this.history.opKey[write]!
    if (version < latest[key]!) this.fail(`write ${write} comes after a later version`)
    else if (version > latest[key]!) latest[key] = version
  }

  /** @param hasOwn whether the transaction itself has written the key so far */
  private replayOlderRead(txn: number, read: number, hasOwn: boolean): void {
    const { readFrom, opTxn } = this.history
    const { ownWrites } = this.rules
    const version = readFrom[read]!
    const writer = version >= 0 ? opTxn[version]! : NONE
    if (!(hasOwn && ownWrites)) {
      if (writer === txn && !ownWrites) return
      const isVersion = version >= 0 && writer !== txn && !this.rewritten[version]
      if (version === INITIAL || (isVersion && this.ranBefore(writer, txn))) {
        return this.notLatest(read)
      }
    }
    const offence = offenceOf(this.history, read, ownWrites)
    if (offence !== null) return this.fail(`read ${read} is ${offence}`)
    this.fail(`read ${read} is from a transaction that commits later`)
  }

  private ranBefore(writer: number, txn: number): boolean {
    const at = this.position[writer]!
    return at !== NONE && at < this.position[txn]!
  }

  private notLatest(read: number): void {
    if (this.countsDependencies()) {
      if (this.rules.argued) this.older.push(read)
    } else if (this.rules.argued) {
      const newer = this.history.opTxn[this.latest[this.history.opKey[read]!]!]!
      this.failAsSkipped(read, newer)
    } else if (this.rules.sight !== null) this.older.push(read)
  }

  /** Whether what counts is the cycles that older reads close, not what had to be visible. */
  private countsDependencies(): boolean {
    return isAdyaLevel(this.level) || this.rules.overwrites !== 'any'
  }

  /** What the level makes visible of the versions that older reads skipped. */
  private findSkip(): Skip | null {
    const { history, order, position, sources, deadline } = this
    const { sight } = this.rules
    const replayed = { history, order, position, sources, older: this.older.view(), deadline }
    if (this.countsDependencies()) return findSkippedDependency(replayed, this.rules.overwrites)
    if (sight === 'over') return null // certify-staleness.ts sees to it
    if (sight === 'causal') return findSkippedByCauses(replayed)
    const skip = findSkippedByReads(replayed, sight !== 'direct')
    if (skip !== null || sight === 'earlier' || sight === null) return skip
    if (sight === 'direct') return findSkippedBySession(replayed)
    const { keyCount } = this.recorded
    return findSkippedByGuarantee(replayed, sight, new SessionReach(this.recorded), keyCount)
  }

  private failAsSkipped(read: number, skipped: number): void {
    this.fail(`read ${read} skipped a version of ${skipped}, which ${this.level} makes visible`)
  }

  /** What the read shows is a prefix of the whole list; what it skipped need not be visible. */
  private replayListRead(txn: number, read: number): void {
    const { opTxn, opKey } = this.history
    const key = opKey[read]!
    const all = this.appended.get(key) ?? []
    const current = this.latest[key]!
    const own = current >= 0 && opTxn[current] === txn ? current : NONE
    const length = shownPrefix(this.history, read, all, own, this.ownBefore)
    const last = length > 0 ? opTxn[all[length - 1]!]! : INITIAL
    if (length < 0 || last === txn) {
      const offence = nameListRead(this.history, read)
      if (offence !== null && !this.rules.ownWrites) return this.replayPastOwn(txn, read)
      return this.fail(`read ${read} is ${offence ?? 'not a prefix of its list'}`)
    }
    this.sources[read] = last
    if (last !== INITIAL && !this.ranBefore(last, txn)) {
      return this.fail(`list read ${read} is from a transaction that commits later`)
    }
    const next = length < all.length ? opTxn[all[length]!]! : NONE
    if (next !== NONE && this.ranBefore(next, txn)) this.notLatest(read)
  }

  /** A list read at a level that looks past the reader's own appends. */
  private replayPastOwn(txn: number, read: number): void {
    const offence = offenceOf(this.history, read, false)
    if (offence !== null) return this.fail(`read ${read} is ${offence}`)
    const version = foreignVersion(this.history, read, false)
    const source = version >= 0 ? this.history.opTxn[version]! : version
    this.sources[read] = source
    if (source >= 0 && !this.ranBefore(source, txn)) {
      return this.fail(`read ${read} is from a transaction that commits later`)
    }
    this.notLatest(read)
  }

  private fail(problem: string): void {
    this.problems.push(problem)
  }
}
