// Who took effect before whom for sure, as the certifier sees it, from the history alone: by
// sessions, reads, known orders of versions, the clock, and any chain of these. Kept apart from the
// checkers' on purpose: here every transaction knows who follows it, and questions go forward.
//
// Whoever starts when all that a transaction comes to be before is over comes after it, so that two
// numbers, the latest start behind and the earliest finish ahead, answer most questions; a search
// ahead, through transactions that do not follow by the clock, answers the others. Main class:
// Precedence.

import type { Deadline } from '../base/deadline.ts'
import { COMMITTED, type History, NONE, READ, READ_LIST } from '../history/history.ts'
import { foreignVersion, isWrite, splitList } from './certify-reads.ts'

interface Pairs {
  readonly from: Int32Array
  readonly to: Int32Array
}

export class Precedence {
  readonly seen: Int32Array // read -> the version it saw of others, INITIAL; else NONE
  private lazySteps: Steps | null = null

  /** @param history that has no session order but within sessions; its times are known */
  constructor(
    private readonly history: History,
    private readonly deadline: Deadline,
  ) {
    const { opCount, opTxn, opKind, txnCounts } = history
    this.seen = new Int32Array(opCount).fill(NONE)
    for (let op = 0; op < opCount; op++) {
      const isRead = opKind[op] === READ || opKind[op] === READ_LIST
      if (isRead && txnCounts[opTxn[op]!]) this.seen[op] = foreignVersion(history, op)
    }
  }

  /** Finish of a transaction; never, if nobody knows that it committed. */
  finishOf(txn: number): number {
    const { txnStatus, txnFinishTime } = this.history
    return txnStatus[txn] === COMMITTED ? txnFinishTime![txn]! : Number.POSITIVE_INFINITY
  }

  isBefore(earlier: number, later: number): boolean {
    this.lazySteps ??= this.measured()
    return this.lazySteps.lead(earlier, later)
  }

  private measured(): Steps {
    const { txnStartTime, txnCount } = this.history
    const behind = Float64Array.from({ length: txnCount }, (_, txn) => txnStartTime![txn]!)
    const ahead = Float64Array.from({ length: txnCount }, (_, txn) => this.finishOf(txn))
    return new Steps(this.findSteps(), behind, ahead, this.deadline)
  }

  /** Every transaction with one right after it. */
  private findSteps(): Pairs {
    const { sessionTxns, txnSession, txnCount, txnCounts, opCount, opTxn } = this.history
    const { seen } = this
    const known = [...this.knownVersions()]
    const room = known.reduce((sum, versions) => sum + versions.length, txnCount + opCount)
    const [from, to] = [new Int32Array(room), new Int32Array(room)]
    let count = 0
    let last: number = NONE
    for (const txn of sessionTxns) {
      if (!txnCounts[txn]) continue
      if (last !== NONE && txnSession[last] === txnSession[txn]) {
        from[count] = last
        to[count++] = txn
      }
      last = txn
    }
    for (let op = 0; op < opCount; op++) {
      if (seen[op]! < 0 || opTxn[seen[op]!] === opTxn[op]) continue
      from[count] = opTxn[seen[op]!]!
      to[count++] = opTxn[op]!
    }
    for (const versions of known) {
      for (let i = 1; i < versions.length; i++) {
        from[count] = opTxn[versions[i - 1]!]!
        to[count] = opTxn[versions[i]!]!
        if (from[count] !== to[count]) count++
      }
    }
    return { from: from.subarray(0, count), to: to.subarray(0, count) }
  }

  /** Orders of versions as the store gave them, or as lists show them. */
  private *knownVersions(): Generator<ArrayLike<number>> {
    const { versions, keyCount } = this.history
    if (versions !== null) {
      const { orderStart, order } = versions
      for (let key = 0; key < keyCount; key++) {
        yield order.subarray(orderStart[key], orderStart[key + 1])
      }
    }
    if (this.history.listStart.length > 1) yield* this.shownVersions()
  }

  /** What the longest read of each list shows, and each append that nobody saw behind that. */
  private *shownVersions(): Generator<ArrayLike<number>> {
    const { opCount, opKind, opKey, opTxn, txnCounts } = this.history
    const longest = new Map<number, number[]>()
    for (let op = 0; op < opCount; op++) {
      if (opKind[op] !== READ_LIST || this.seen[op] === NONE) continue
      const { foreign } = splitList(this.history, op)
      if (foreign.length > (longest.get(opKey[op]!)?.length ?? 0)) longest.set(opKey[op]!, foreign)
    }
    yield* longest.values()
    const shown = new Set([...longest.values()].flat())
    for (let op = 0; op < opCount; op++) {
      const end = longest.get(opKey[op]!)?.at(-1)
      if (end === undefined || !isWrite(this.history, op) || !txnCounts[opTxn[op]!]) continue
      if (!shown.has(op)) yield [end, op]
    }
  }
}

/** Who comes right after whom, and what follows from that. */
class Steps {
  private readonly start: Int32Array // txn -> first of those right after it
  private readonly next: Int32Array
  private readonly reached: Int32Array // txn -> the last search that reached it
  private since: number = NONE // from whom the last search went
  private search = 0

  /**
   * @param behind txn -> its start; becomes the latest start of it and all before it
   * @param ahead txn -> its finish; becomes the earliest finish of it and all after it
   */
  constructor(
    { from, to }: Pairs,
    private readonly behind: Float64Array,
    private readonly ahead: Float64Array,
    private readonly deadline: Deadline,
  ) {
    const txnCount = behind.length
    const count = from.length
    this.start = new Int32Array(txnCount + 1)
    for (let i = 0; i < count; i++) this.start[from[i]! + 1]!++
    for (let txn = 0; txn < txnCount; txn++) this.start[txn + 1]! += this.start[txn]!
    this.next = new Int32Array(count)
    const slot = this.start.slice()
    for (let i = 0; i < count; i++) this.next[slot[from[i]!]!++] = to[i]!
    this.reached = new Int32Array(txnCount)
    this.measure()
  }

  lead(earlier: number, later: number): boolean {
    if (this.ahead[earlier]! < this.behind[later]!) return true
    if (this.since !== earlier) this.goAhead(earlier)
    return this.reached[later] === this.search
  }

  /** Marks what follows one without being put there by the clock. */
  private goAhead(txn: number): void {
    const { start, next, reached, behind, ahead } = this
    const pending = [txn]
    this.since = txn
    const search = ++this.search
    reached[txn] = search
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      this.deadline.step(2)
      for (let i = start[at]!; i < start[at + 1]!; i++) {
        const follower = next[i]!
        if (reached[follower] === search || ahead[txn]! < behind[follower]!) continue
        reached[follower] = search
        pending.push(follower)
      }
    }
  }

  /** Both numbers, along an order of what follows what; circles keep their own. */
  private measure(): void {
    const { start, next, behind, ahead } = this
    const txnCount = behind.length
    const waits = new Int32Array(txnCount)
    for (const later of next) waits[later]!++
    const order = new Int32Array(txnCount)
    let length = 0
    for (let txn = 0; txn < txnCount; txn++) {
      if (waits[txn] === 0) order[length++] = txn
    }
    for (let p = 0; p < length; p++) {
      const txn = order[p]!
      for (let i = start[txn]!; i < start[txn + 1]!; i++) {
        behind[next[i]!] = Math.max(behind[next[i]!]!, behind[txn]!)
        if (--waits[next[i]!]! === 0) order[length++] = next[i]!
      }
    }
    for (let p = length - 1; p >= 0; p--) {
      const txn = order[p]!
      for (let i = start[txn]!; i < start[txn + 1]!; i++) {
        ahead[txn] = Math.min(ahead[txn]!, ahead[next[i]!]!)
      }
    }
  }
}
