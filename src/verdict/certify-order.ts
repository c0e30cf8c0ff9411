// Verifies a satisfied level by replaying its commit order: transactions one after another, each
// read compared with the latest version. A read of the latest version agrees with every level. For
// an older one, each version it skipped is tried: the level's premise must not hold for its writer.
// Reads of lists must be prefixes of the order in which the replay appends. One pass; what older
// reads ask about causality at cc is judged after it (certify-causality.ts). An order proves pc and
// si if it even proves ser; sser also asks that it agrees with real time; pl-2 only that everything
// is read after it was written.
// Main functions: certifyCommitOrder, certifyCut.

import { Deadline } from '../base/deadline.ts'
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
import { ReplayCausality, writerOf } from './certify-causality.ts'
import { foreignVersion, nameListRead, offenceOf, shownPrefix, splitList } from './certify-reads.ts'
import { LEVEL_RULES, type LevelRules } from './level-rules.ts'

const MAX_PROBLEMS = 5

export function certifyCommitOrder(
  history: History,
  level: LevelId,
  order: Int32Array,
  deadline: Deadline = Deadline.none(),
): string[] {
  const replay = new Replay(history, level, order, deadline)
  if (replay.problems.length > 0) return replay.problems
  const untimely = level === 'sser' ? findUntimely(history, order) : null
  return untimely === null ? replay.run() : [untimely]
}

/** Nothing may stand after something that started only when it had finished. */
function findUntimely(history: History, order: Int32Array): string | null {
  const { txnStartTime, txnFinishTime, txnStatus } = history
  if (order.length === 0) return null
  if (!txnStartTime || !txnFinishTime) return 'the history has no times'
  let latestStart = Number.NEGATIVE_INFINITY
  for (const txn of order) {
    const start = txnStartTime[txn]!
    // An indeterminate transaction may take effect at any later moment.
    const finish = txnStatus[txn] === COMMITTED ? txnFinishTime[txn]! : Number.POSITIVE_INFINITY
    if (Number.isNaN(start) || Number.isNaN(finish)) return `transaction ${txn} has no times`
    if (finish < latestStart) return `the order puts ${txn} after one that started later`
    if (start > latestStart) latestStart = start
  }
  return null
}

class Replay {
  readonly problems: string[] = []
  private readonly position: Int32Array // txn -> position in the order
  private readonly latest: Int32Array // key -> write op of the latest version, INITIAL before
  private readonly previous: Int32Array // write op -> the other transaction's version it replaced
  private readonly appended: Map<number, number[]> = new Map() // key -> appends in order
  private causality: ReplayCausality | null = null
  private readonly rules: LevelRules

  constructor(
    private readonly history: History,
    private readonly level: LevelId,
    private readonly order: Int32Array,
    private readonly deadline: Deadline,
  ) {
    this.rules = LEVEL_RULES[level]
    this.position = new Int32Array(history.txnCount).fill(NONE)
    this.latest = new Int32Array(history.keyCount).fill(INITIAL)
    this.previous = new Int32Array(history.opCount)
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
    if (this.history.listStart.length > 1) this.replayAppends()
    for (const txn of this.order) {
      this.deadline.step()
      this.replayTxn(txn)
      this.causality?.passed(txn)
      if (this.problems.length >= MAX_PROBLEMS) break
    }
    if (this.causality !== null) {
      this.causality.judge()
      for (const { read, skipped } of this.causality.offending) this.failAsSkipped(read, skipped)
    }
    return this.problems.slice(0, MAX_PROBLEMS)
  }

  private replayTxn(txn: number): void {
    const { txnOpStart, opKind, opKey, readFrom } = this.history
    const { latest, previous } = this
    const start = txnOpStart[txn]!
    const end = txnOpStart[txn + 1]!
    for (let op = start; op < end; op++) {
      const kind = opKind[op]!
      const key = opKey[op]!
      if (kind === READ) {
        // The latest version is sound: its own latest, or the last write of one that ran before.
        const current = latest[key]!
        if (readFrom[op] === current) continue
        this.replayOlderRead(txn, op)
      } else if (kind === WRITE) {
        const current = latest[key]!
        previous[op] = current >= start && current < end ? previous[current]! : current
        latest[key] = op
      } else if (kind === READ_LIST) this.replayListRead(txn, op)
    }
  }

  private replayOlderRead(txn: number, read: number): void {
    const { ownWrites, sight } = this.rules
    const offence = offenceOf(this.history, read, ownWrites)
    if (offence !== null) return this.fail(`read ${read} is ${offence}`)
    const version = foreignVersion(this.history, read, ownWrites)
    if (version === NONE) return
    const writer = version >= 0 ? this.history.opTxn[version]! : NONE
    if (writer >= 0 && this.position[writer]! >= this.position[txn]!) {
      return this.fail(`read ${read} is from a transaction that commits later`)
    }
    if (sight !== null) this.judgeSkippedVersions(txn, read, version)
  }

  /** None of the versions between the one read and the latest may have had to be visible. */
  private judgeSkippedVersions(txn: number, read: number, version: number): void {
    let skipped = this.latest[this.history.opKey[read]!]!
    while (skipped !== version && skipped >= 0) {
      this.judgeSkipped(txn, read, this.history.opTxn[skipped]!)
      skipped = this.previous[skipped]!
    }
    if (skipped !== version) this.fail(`read ${read} saw a version that was never current`)
  }

  private judgeSkipped(txn: number, read: number, skipped: number): void {
    this.deadline.step(4)
    if (skipped === txn || this.problems.length >= MAX_PROBLEMS) return
    if (this.mustBeVisible(txn, read, skipped)) this.failAsSkipped(read, skipped)
  }

  private failAsSkipped(read: number, skipped: number): void {
    this.fail(`read ${read} skipped a version of ${skipped}, which ${this.level} makes visible`)
  }

  /** What only causality can tell is noted, and judged at the end. */
  private mustBeVisible(txn: number, read: number, t2: number): boolean {
    const { txnOpStart, txnSession } = this.history
    const { sight, argued } = this.rules
    if (argued) return true
    if (sight === null) return false
    const end = sight === 'earlier' ? read : txnOpStart[txn + 1]!
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (writerOf(this.history, op) === t2) return true
    }
    if (sight === 'earlier') return false
    if (txnSession[t2] === txnSession[txn]) return true
    if (sight === 'causal') {
      this.causality ??= new ReplayCausality(this.history, this.order, this.position, this.deadline)
      this.causality.forbid(t2, txn, read)
    }
    return false
  }

  private replayAppends(): void {
    const { txnOpStart, opKind, opKey } = this.history
    for (const txn of this.order) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (opKind[op] !== APPEND) continue
        const list = this.appended.get(opKey[op]!)
        if (list) list.push(op)
        else this.appended.set(opKey[op]!, [op])
      }
    }
  }

  /** What the read shows is a prefix of the whole list; what it skipped need not be visible. */
  private replayListRead(txn: number, read: number): void {
    const { opTxn, opKey } = this.history
    const all = this.appended.get(opKey[read]!) ?? []
    const length = shownPrefix(this.history, read, all)
    const last = length > 0 ? opTxn[all[length - 1]!]! : NONE
    if (length < 0 || last === txn) {
      const offence = nameListRead(this.history, read)
      if (offence !== null && !this.rules.ownWrites) return this.replayOlderRead(txn, read)
      return this.fail(`read ${read} is ${offence ?? 'not a prefix of its list'}`)
    }
    if (last !== NONE && this.position[last]! >= this.position[txn]!) {
      return this.fail(`list read ${read} is from a transaction that commits later`)
    }
    for (let i = length; i < all.length; i++) {
      const skipped = opTxn[all[i]!]!
      if (this.position[skipped]! >= this.position[txn]!) break
      this.judgeSkipped(txn, read, skipped)
    }
  }

  private fail(problem: string): void {
    this.problems.push(problem)
  }
}

/** Cut isolation: sound reads, and one key is read from one transaction only. */
export function certifyCut(history: History): string[] {
  const problems: string[] = []
  const readerOf = new Int32Array(history.keyCount).fill(NONE) // key -> last reader
  const sourceOf = new Int32Array(history.keyCount) // key -> what it read from
  const { opTxn, opKind, opKey, txnCounts } = history
  for (let op = 0; op < history.opCount; op++) {
    const txn = opTxn[op]!
    if (!txnCounts[txn] || (opKind[op] !== READ && opKind[op] !== READ_LIST)) continue
    let version: number
    if (opKind[op] === READ) {
      const offence = offenceOf(history, op, true)
      if (offence !== null) problems.push(`read ${op} is ${offence}`)
      version = history.readFrom[op]!
    } else {
      const { foreign, sound } = splitList(history, op)
      if (!sound) problems.push(`list read ${op} is not sound`)
      version = foreign.length === 0 ? INITIAL : foreign[foreign.length - 1]!
    }
    const source = version < 0 ? version : opTxn[version]!
    if (source === txn) continue
    const key = opKey[op]!
    if (readerOf[key] === txn && sourceOf[key] !== source)
      problems.push(`read ${op} is not repeatable`)
    readerOf[key] = txn
    sourceOf[key] = source
    if (problems.length >= MAX_PROBLEMS) break
  }
  return problems
}
