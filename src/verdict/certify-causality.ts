// Happens-before for the replay, kept apart from the checkers' on purpose. The replay notes pairs of
// transactions of which the first must not happen before the second. They are judged together, 32
// at a time: each first transaction has a bit, and a run through the part of the order that the
// pairs lie in hands the bits on along sessions and from writers to readers. Where that would cost
// more than clocks, clocks take over: one row for each transaction that learned something, shared
// by those that follow it in its session. The reads of the transactions passed so far have been
// found sound, so a read's writer can be taken as it is. Main class: ReplayCausality.

import type { Deadline } from '../base/deadline.ts'
import { IntColumn } from '../base/grow.ts'
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

const PAIRS_PER_RUN = 32 // bits of a number
const MANY_PAIRS = 1 << 20 // judged before more are noted, to save memory
const FAR = 1 << 13 // pairs that lie farther apart than this are judged by themselves
const SESSIONS_PER_STEP = 32 // clocks of so many sessions cost as much as a step of a run

export class ReplayCausality {
  private clocks: ReplayClocks | null = null
  private readonly first = new IntColumn(64) // pair -> what must not happen before …
  private readonly second = new IntColumn(64) // pair -> … this
  private readonly read = new IntColumn(64) // pair -> the read because of which
  private readonly latest: Int32Array // session -> bits of its latest transaction in a run
  private bits = new Int32Array(0) // position -> bits of the transaction in a run
  /** Reads that skipped a version of something that happened before them, with its writer. */
  readonly offending: { read: number; skipped: number }[] = []

  constructor(
    private readonly history: History,
    private readonly order: Int32Array,
    private readonly position: Int32Array,
    private readonly deadline: Deadline,
  ) {
    this.latest = new Int32Array(history.sessionCount)
  }

  /** Notes that `a` must not happen before `b`, which is the transaction the replay has come to. */
  forbid(a: number, b: number, read: number): void {
    if (this.clocks === null) {
      this.first.push(a)
      this.second.push(b)
      this.read.push(read)
      if (this.first.length >= MANY_PAIRS) this.judge()
    } else if (this.clocks.before(a, b)) this.offending.push({ read, skipped: a })
  }

  /** To be told of every transaction once it has been replayed. */
  passed(txn: number): void {
    this.clocks?.advance(txn)
  }

  /** Judges the pairs noted so far. */
  judge(): void {
    const { history, first, second, position } = this
    const count = first.length
    if (count === 0) return
    this.deadline.check()
    const pairs = this.sortPairs()
    this.deadline.check()
    const runEnds = this.cutIntoRuns(pairs)
    let steps = 0
    for (let run = 0, k = 0; run < runEnds.length; k = runEnds[run++]!) {
      steps += this.lastOf(pairs, k, runEnds[run]!) - position[first.data[pairs[k]!]!]!
    }
    const clockSteps = history.txnCount * (1 + history.sessionCount / SESSIONS_PER_STEP)
    if (steps > clockSteps && !hasManySessions(history)) {
      const here = position[second.data[count - 1]!]!
      const clocks = new ReplayClocks(history, this.order, here, this.deadline)
      for (let i = 0; i < count; i++) {
        if (clocks.before(first.data[i]!, second.data[i]!)) this.offend(i)
      }
      this.clocks = clocks
    } else {
      let from = 0
      for (const to of runEnds) {
        this.run(pairs, from, to)
        from = to
      }
    }
    for (const column of [first, second, this.read]) column.length = 0
  }

  /** Pairs by where they begin, those that lie far apart after all others. */
  private sortPairs(): Float64Array {
    const { first, second, position, order } = this
    const count = first.length
    const keys = new Float64Array(count)
    for (let i = 0; i < count; i++) {
      const start = position[first.data[i]!]!
      const isFar = position[second.data[i]!]! - start > FAR ? 1 : 0
      keys[i] = (isFar * order.length + start) * count + i
    }
    return keys.sort().map((key) => key % count)
  }

  /** Ends of the runs: of at most 32 pairs, and none where pairs do not overlap. */
  private cutIntoRuns(pairs: Float64Array): number[] {
    const { first, second, position } = this
    const ends: number[] = []
    let begin = 0
    let last = 0
    for (let k = 0; k < pairs.length; k++) {
      const start = position[first.data[pairs[k]!]!]!
      const isBack = k > 0 && start < position[first.data[pairs[k - 1]!]!]!
      if (k > begin && (k - begin === PAIRS_PER_RUN || isBack || start > last)) {
        ends.push(k)
        begin = k
        last = 0
      }
      last = Math.max(last, position[second.data[pairs[k]!]!]!)
    }
    ends.push(pairs.length)
    return ends
  }

  private lastOf(pairs: Float64Array, from: number, to: number): number {
    let last = 0
    for (let k = from; k < to; k++) {
      last = Math.max(last, this.position[this.second.data[pairs[k]!]!]!)
    }
    return last
  }

  private run(pairs: Float64Array, from: number, to: number): void {
    const { history, order, position, first, second, latest } = this
    const { txnSession, txnOpStart } = history
    if (this.bits.length === 0) this.bits = new Int32Array(order.length)
    const { bits } = this
    const start = position[first.data[pairs[from]!]!]!
    const end = this.lastOf(pairs, from, to)
    let next = from
    for (let p = start; p <= end; p++) {
      this.deadline.step(4)
      const txn = order[p]!
      const session = txnSession[txn]!
      let known = latest[session]!
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const writer = writerOf(history, op)
        if (writer !== NONE && position[writer]! >= start) known |= bits[position[writer]!]!
      }
      for (; next < to && first.data[pairs[next]!] === txn; next++) known |= 1 << (next - from)
      bits[p] = known
      latest[session] = known
    }
    for (let k = from; k < to; k++) {
      const pair = pairs[k]!
      if ((bits[position[second.data[pair]!]!]! >>> (k - from)) & 1) this.offend(pair)
    }
    for (let p = start; p <= end; p++) latest[txnSession[order[p]!]!] = 0
  }

  private offend(pair: number): void {
    this.offending.push({ read: this.read.data[pair]!, skipped: this.first.data[pair]! })
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
    private readonly deadline: Deadline,
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
      if (writer === NONE || this.rowOf[writer] === NONE) continue // unsound if it is yet to come
      const from = txnSession[writer]!
      if (from === session || row[from]! > txnIndex[writer]!) continue
      if (row === this.rows[inherited]) row = row.slice()
      const other = this.rows[this.rowOf[writer]!]!
      this.deadline.step(row.length >> 3)
      for (let s = 0; s < row.length; s++) if (other[s]! > row[s]!) row[s] = other[s]!
      row[from] = Math.max(row[from]!, txnIndex[writer]! + 1)
    }
    if (row === this.rows[inherited]) return inherited
    this.deadline.step(1 + (row.length >> 3))
    this.rows.push(row)
    return this.rows.length - 1
  }
}
