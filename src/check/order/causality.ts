// Whether one transaction happens before another. A question is answered by a search backwards from
// the later one that never leaves the stretch of the base order between the two, in which it mostly
// finds next to nothing, the less the more sessions there are. When such searches have visited as
// many transactions as a pass over the history would, clocks are computed once and answer the rest.
// So a history with a handful of stale reads never pays for clocks. Of questions that are
// known together, those that a short search does not settle are answered in batches, each a run
// through a part of the order (batched-causality.ts), if that costs less than vector clocks; before
// that, longer searches have a try, as long as they cost but a part of it. Where
// sessions are many and short, as without session order, clocks would be n² numbers: there is
// nothing but searches and batches. Main class: Causality.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { type History, NONE } from '../../history/history.ts'
import { hasManySessions } from '../../history/sessionless.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { BatchedQuestions } from './batched-causality.ts'
import { CausalClocks } from './causal-clocks.ts'
import type { BaseOrder } from './stale-reads.ts'

/** Joining the clocks of so many sessions costs about as much as a transaction in a batch. */
const SESSIONS_PER_STEP = 32
/** Transactions that a short search visits at most. */
const SHORT_SEARCH = 128
/** Short searches for many questions visit at most so many times what the history has. */
const SHORT_SHARE = 2
/** Transactions that a longer search visits at most. */
const LONG_SEARCH = 4096
/** Longer searches visit at most this share of what batches or clocks would run through. */
const LONG_SHARE = 1 / 8

export class Causality {
  private lazyClocks: CausalClocks | null = null
  private readonly seen: Int32Array // txn -> search that reached it
  private readonly pending: number[] = []
  private search = 0
  private visits = 0 // of all searches
  private allowance: number // transactions that searches may still visit
  /** Whether there are clocks at all. */
  readonly hasClocks: boolean

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    /** An order of so ∪ wr. */
    private readonly order: BaseOrder,
    private readonly deadline: Deadline,
  ) {
    this.seen = new Int32Array(history.txnCount)
    // On a cycle everything is before everything, which only clocks of components know.
    this.hasClocks = !hasManySessions(history)
    if (!this.hasClocks) this.allowance = Number.POSITIVE_INFINITY
    else this.allowance = order.component === null ? history.txnCount >> 2 : 0
  }

  /** True if `a` happens before `b`. */
  before(a: number, b: number): boolean {
    if (this.lazyClocks === null && this.allowance > 0) {
      const before = this.visits
      const found = this.searchBack(a, b, this.allowance)
      this.allowance -= this.visits - before
      if (found !== null) return found
    }
    return this.clocks().before(a, b)
  }

  /** question -> 1 if `from` happens before `to`. */
  beforeAll(from: Int32Array, to: Int32Array): Uint8Array {
    if (this.lazyClocks !== null || this.order.component !== null) {
      return Uint8Array.from(from, (a, i) => (this.before(a, to[i]!) ? 1 : 0))
    }
    const answers = new Uint8Array(from.length)
    const all = from.map((_, i) => i)
    const most = SHORT_SHARE * this.history.txnCount
    let open = this.searchEach(all, from, to, answers, SHORT_SEARCH, most)
    for (const isLast of [false, true]) {
      if (open.length === 0) break
      const earlier = open.map((i) => from[i]!)
      const later = open.map((i) => to[i]!)
      this.deadline.check()
      const batches = new BatchedQuestions(this.history, this.reads, this.order, earlier, later)
      this.deadline.check()
      const cost = this.hasClocks ? Math.min(batches.cost, this.clockCost) : batches.cost
      if (!isLast) {
        open = this.searchEach(open, from, to, answers, LONG_SEARCH, LONG_SHARE * cost)
        continue
      }
      const rest =
        cost === batches.cost
          ? batches.answer(this.deadline)
          : earlier.map((a, k) => (this.before(a, later[k]!) ? 1 : 0))
      for (let k = 0; k < open.length; k++) answers[open[k]!] = rest[k]!
    }
    return answers
  }

  /** What clocks cost, in transactions that a batch runs through. */
  private get clockCost(): number {
    const { sessionCount, txnCount } = this.history
    return txnCount * (1 + sessionCount / SESSIONS_PER_STEP)
  }

  /**
   * Answers what searches can that visit so many transactions, and in all not many more than
   * `mostOfAll`; returns the other questions.
   */
  private searchEach(
    questions: Int32Array,
    from: Int32Array,
    to: Int32Array,
    answers: Uint8Array,
    most: number,
    mostOfAll: number,
  ): Int32Array {
    const { position } = this.order
    const end = this.visits + mostOfAll
    const open = new IntColumn(16)
    for (const i of questions) {
      if (position[from[i]!]! >= position[to[i]!]!) continue // no
      const found = this.visits < end ? this.searchBack(from[i]!, to[i]!, most) : null
      if (found === null) open.push(i)
      else if (found) answers[i] = 1
    }
    return open.view()
  }

  /** Calls `visit` for what happens before `b`, leaving out what is not near, with its causes. */
  forEachCause(b: number, isNear: (txn: number) => boolean, visit: (txn: number) => void): void {
    const { txnOpStart, txnIndex, txnSession, sessionTxns, sessionTxnStart } = this.history
    const { opSource } = this.reads
    const pending = [b]
    this.search++
    const reach = (txn: number) => {
      if (this.seen[txn] === this.search || !isNear(txn)) return
      this.seen[txn] = this.search
      pending.push(txn)
      if (this.order.position[txn] !== NONE) visit(txn)
    }
    while (pending.length > 0) {
      const txn = pending.pop()!
      if ((++this.visits & 4095) === 0) this.deadline.check()
      const slot = sessionTxnStart[txnSession[txn]!]! + txnIndex[txn]! - 1
      if (txnIndex[txn]! > 0) reach(sessionTxns[slot]!)
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (opSource[op]! >= 0) reach(opSource[op]!)
      }
    }
  }

  clocks(): CausalClocks {
    const { order, groupEnd } = this.order
    this.lazyClocks ??= new CausalClocks(this.history, this.reads, order, this.deadline, groupEnd)
    return this.lazyClocks
  }

  /** The answer, or null if it takes a look at more transactions than that. */
  private searchBack(a: number, b: number, most: number): boolean | null {
    const { txnSession, txnIndex, sessionTxns, sessionTxnStart, txnOpStart } = this.history
    const { opSource } = this.reads
    const { seen, pending } = this
    const session = txnSession[a]!
    const index = txnIndex[a]!
    const floor = this.floorOf(a)
    const end = this.visits + most
    this.search++
    pending.length = 0
    pending.push(b)
    while (pending.length > 0) {
      if (this.visits >= end) return null
      if ((++this.visits & 4095) === 0) this.deadline.check()
      const txn = pending.pop()!
      if (txnSession[txn] === session && txnIndex[txn]! > index) return true
      const slot = sessionTxnStart[txnSession[txn]!]! + txnIndex[txn]! - 1
      const previous = txnIndex[txn]! > 0 ? sessionTxns[slot]! : NONE
      if (previous !== NONE && this.isNear(previous, floor)) {
        seen[previous] = this.search
        pending.push(previous)
      }
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const source = opSource[op]!
        if (source === a) return true
        if (source < 0 || !this.isNear(source, floor)) continue
        seen[source] = this.search
        pending.push(source)
      }
    }
    return false
  }

  /** Position before that of everything which may lie between `a` and what it happens before. */
  private floorOf(a: number): number {
    const { order, position, component } = this.order
    let floor = position[a]!
    if (component === null) return floor
    while (floor >= 0 && component[order[floor]!] === component[a]) floor--
    return floor
  }

  /** Not reached yet, and late enough to matter; transactions that do not count link the others. */
  private isNear(txn: number, floor: number): boolean {
    if (this.seen[txn] === this.search) return false
    const position = this.order.position[txn]!
    return position === NONE || position > floor
  }
}
