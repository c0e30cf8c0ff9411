// The second decider, independent of the first: a search for an order, transaction by transaction
// (Biswas & Enea, Algorithm 2). A prefix of every session is extended by one step as long as that
// is valid: everything the step reads is in place, and nothing that it overwrites still has to be
// read. What follows depends on the prefix alone, so a prefix that failed once is remembered,
// exactly, and never tried again: at most product-of-session-lengths prefixes.
//
// pc and si by the paper's reductions (sections 4.2, 4.3), made on the fly: a transaction takes two
// steps, first all its reads, then all its writes; for si, its writes may not fall between the two
// steps of another that writes a common key. A step that writes nothing and holds no key is taken
// as soon as it can be: coming early, it stands in nobody's way. Main function: searchOrder.

import { type Deadline, withProgress } from '../../base/deadline.ts'
import { NONE } from '../../history/history.ts'
import { type Access, buildAccess, findEarliestFinish, readsVersion } from '../problem/access.ts'
import type { StrongLevel } from '../problem/levels.ts'
import type { RegisterProblem } from '../problem/register-problem.ts'
import { PrefixMemo } from './prefix-memo.ts'

/** The transactions in the order of their commits, or null if there is no valid one. */
export function searchOrder(
  problem: RegisterProblem,
  level: StrongLevel,
  deadline: Deadline,
): Int32Array | null {
  const search = new OrderSearch(problem, level, deadline)
  const { width } = search
  const commits = search.run()?.filter((step) => step % width === width - 1)
  return commits?.map((step) => (step / width) | 0) ?? null
}

class OrderSearch {
  readonly width: number // steps of a transaction
  private readonly next: Int32Array // session -> its next step
  private readonly end: Int32Array // session -> step after its last
  private readonly isDone: Uint8Array // step -> 1 once taken
  private readonly unread: Int32Array // version -> readers that have not read it yet
  private readonly unreadInitial: Int32Array // local key -> readers of its initial state to come
  private readonly latest: Int32Array // local key -> versions in place, as a stack through `below`
  private readonly below: Int32Array // version -> version in place before it
  private readonly holders: Int32Array // si: local key -> transactions between their two steps
  private readonly access: Access
  private readonly earliestFinish: Float64Array | null // sser: step -> first finish from there on
  private readonly order: Int32Array // steps taken
  private length = 0
  private longest = 0 // of the valid orders so far

  constructor(
    private readonly problem: RegisterProblem,
    private readonly level: StrongLevel,
    private readonly deadline: Deadline,
  ) {
    this.width = level === 'pc' || level === 'si' ? 2 : 1
    const { width } = this
    const { sessionStart, sessionCount, txnCount, keyCount, versionTxn } = problem
    this.next = sessionStart.slice(0, sessionCount).map((first) => width * first)
    this.end = sessionStart.slice(1).map((end) => width * end)
    this.isDone = new Uint8Array(width * txnCount)
    this.unread = new Int32Array(versionTxn.length)
    this.unreadInitial = new Int32Array(keyCount)
    this.latest = new Int32Array(keyCount).fill(NONE)
    this.below = new Int32Array(versionTxn.length).fill(NONE)
    this.holders = new Int32Array(keyCount)
    this.access = buildAccess(problem)
    this.order = new Int32Array(width * txnCount)
    for (let v = 0; v < versionTxn.length; v++) {
      this.unread[v] = problem.readerStart[v + 1]! - problem.readerStart[v]!
    }
    for (let key = 0; key < keyCount; key++) {
      this.unreadInitial[key] = problem.initialStart[key + 1]! - problem.initialStart[key]!
    }
    this.earliestFinish = level === 'sser' ? findEarliestFinish(problem) : null
  }

  run(): Int32Array | null {
    return withProgress(
      () => this.search(),
      () => `the longest valid order found has ${this.longest} of ${this.order.length} steps`,
    )
  }

  private search(): Int32Array | null {
    const memo = new PrefixMemo(this.problem.sessionCount, this.deadline)
    const untried: number[] = [] // pairs: place in the order, session to go on with there
    while (true) {
      while (this.takeHarmless()) {}
      this.longest = Math.max(this.longest, this.length)
      if (this.length === this.order.length) return this.order
      if (memo.add(this.next)) this.addChoices(untried)
      const session = untried.pop()
      const place = untried.pop()
      if (session === undefined || place === undefined) return null
      while (this.length > place) this.takeBack()
      this.take(session)
    }
  }

  /** Sessions that can go on from here, the one that lags most on top. */
  private addChoices(untried: number[]): void {
    const { next, end } = this
    const { sessionStart } = this.problem
    const sessions: number[] = []
    this.deadline.step(4 * next.length)
    for (let session = 0; session < next.length; session++) {
      if (next[session]! < end[session]! && this.isValid(next[session]!)) sessions.push(session)
    }
    const left = (s: number) =>
      (end[s]! - next[s]!) / (this.width * (sessionStart[s + 1]! - sessionStart[s]!))
    sessions.sort((a, b) => left(a) - left(b) || b - a)
    for (const session of sessions) untried.push(this.length, session)
  }

  /** Takes some step that writes nothing and holds no key; false if none can be taken. */
  private takeHarmless(): boolean {
    let taken = false
    this.deadline.step(2 * this.next.length)
    for (let session = 0; session < this.next.length; session++) {
      while (this.next[session]! < this.end[session]!) {
        const step = this.next[session]!
        if (!this.isHarmless(step) || !this.isValid(step)) break
        this.take(session)
        taken = true
      }
    }
    return taken
  }

  private isHarmless(step: number): boolean {
    const { width, level } = this
    const txn = (step / width) | 0
    const writes = this.access.writeStart[txn + 1]! > this.access.writeStart[txn]!
    return !writes || (level === 'pc' && this.isReadStep(step))
  }

  private isReadStep(step: number): boolean {
    return this.width === 1 || (step & 1) === 0
  }

  private isWriteStep(step: number): boolean {
    return this.width === 1 || (step & 1) === 1
  }

  private isValid(step: number): boolean {
    const txn = (step / this.width) | 0
    if (this.earliestFinish !== null && !this.isTimely(txn)) return false
    if (this.isReadStep(step) && !this.canRead(txn)) return false
    return !this.isWriteStep(step) || this.canWrite(txn)
  }

  /** Nothing that is still to come finished before this one started. */
  private isTimely(txn: number): boolean {
    const { history, txnOf } = this.problem
    const start = history.txnStartTime![txnOf[txn]!]!
    this.deadline.step(this.next.length >> 2)
    for (let session = 0; session < this.next.length; session++) {
      const step = this.next[session]!
      if (step < this.end[session]! && this.earliestFinish![step]! < start) return false
    }
    return true
  }

  private canRead(txn: number): boolean {
    const { readStart, readVersion } = this.access
    for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
      const version = readVersion[i]!
      if (version >= 0 && !this.isDone[this.writeStep(this.problem.versionTxn[version]!)]) {
        return false
      }
    }
    // si: two open transactions that write a common key could neither of them commit.
    return this.level !== 'si' || this.othersHolding(txn, 0) === 0
  }

  private canWrite(txn: number): boolean {
    const { writeStart, writeKey, appendStart, appendFrom } = this.access
    for (let i = appendStart[txn]!; i < appendStart[txn + 1]!; i++) {
      if (!this.isDone[this.writeStep(appendFrom[i]!)]) return false
    }
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const key = writeKey[i]!
      const version = this.latest[key]!
      const waiting = version === NONE ? this.unreadInitial[key]! : this.unread[version]!
      if (waiting > (this.width === 1 && readsVersion(this.access, txn, version, key) ? 1 : 0))
        return false
    }
    return this.level !== 'si' || this.othersHolding(txn, 1) === 0
  }

  /** si: transactions other than this one, itself `own` times, that hold a key it writes. */
  private othersHolding(txn: number, own: number): number {
    const { writeStart, writeKey } = this.access
    let count = 0
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      count += this.holders[writeKey[i]!]! - own
    }
    return count
  }

  private writeStep(txn: number): number {
    return this.width * txn + this.width - 1
  }

  private take(session: number): void {
    const step = this.next[session]!++
    this.order[this.length++] = step
    this.isDone[step] = 1
    this.apply(step, 1)
  }

  private takeBack(): void {
    const step = this.order[--this.length]!
    this.next[this.problem.sessionOf[(step / this.width) | 0]!]!--
    this.isDone[step] = 0
    this.apply(step, -1)
  }

  private apply(step: number, sign: 1 | -1): void {
    const txn = (step / this.width) | 0
    const { readStart, readVersion, writeStart, writeKey, writeVersion } = this.access
    if (this.isReadStep(step)) {
      for (let i = readStart[txn]!; i < readStart[txn + 1]!; i++) {
        const version = readVersion[i]!
        if (version >= 0) this.unread[version]! -= sign
        else this.unreadInitial[~version]! -= sign
      }
    }
    for (let i = writeStart[txn]!; i < writeStart[txn + 1]!; i++) {
      const key = writeKey[i]!
      if (this.width === 2) this.holders[key]! += this.isReadStep(step) ? sign : -sign
      if (!this.isWriteStep(step)) continue
      const version = writeVersion[i]!
      if (sign > 0) {
        this.below[version] = this.latest[key]!
        this.latest[key] = version
      } else this.latest[key] = this.below[version]!
    }
  }
}
