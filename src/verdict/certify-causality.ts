// Happens-before for the replay, kept apart from the checkers' on purpose. Questions whether one
// transaction happens before another are answered together, 32 writers at a time: each has a bit,
// and a run through the part of the order that the questions lie in hands the bits on along
// sessions and from writers to readers. Where that would cost more than clocks, clocks take over:
// one row for each transaction that learned something, shared by those that follow it in its
// session. O(n · k) for k sessions. Main class: Causes.

import { IntColumn } from '../base/grow.ts'
import { NONE } from '../history/history.ts'
import { hasManySessions } from '../history/sessionless.ts'
import type { Replayed, Skip } from './certify-skipped.ts'

const WRITERS_PER_RUN = 32 // bits of a number
const MANY_QUESTIONS = 1 << 20 // answered before more are asked, to save memory
const FAR = 1 << 13 // questions that reach farther than this are answered by themselves
const SESSIONS_PER_STEP = 32 // clocks of so many sessions cost as much as a step of a run

/** Questions whether one transaction happens before another, answered many at a time. */
export class Causes {
  private clocks: ReplayClocks | null = null
  private readonly first = new IntColumn(64) // question -> does this happen before …
  private readonly second = new IntColumn(64) // question -> … this
  private readonly read = new IntColumn(64) // question -> the read because of which
  private readonly latest: Int32Array // session -> bits of its latest transaction in a run
  private bits = new Int32Array(0) // position -> bits of the transaction in a run
  private steps = 0 // of all runs so far

  constructor(private readonly replayed: Replayed) {
    this.latest = new Int32Array(replayed.history.sessionCount)
  }

  ask(a: number, b: number, read: number): void {
    this.first.push(a)
    this.second.push(b)
    this.read.push(read)
  }

  isFull(): boolean {
    return this.first.length >= MANY_QUESTIONS
  }

  /** Answers what was asked so far: a question whose answer is yes, or null if there is none. */
  answer(): Skip | null {
    const { history, position, deadline } = this.replayed
    if (this.first.length === 0) return null
    deadline.check()
    const questions = this.clocks === null ? this.sortQuestions() : new Float64Array(0)
    deadline.check()
    const runEnds = this.cutIntoRuns(questions)
    for (let run = 0, k = 0; run < runEnds.length; k = runEnds[run++]!) {
      const start = position[this.first.data[questions[k]!]!]!
      this.steps += this.lastOf(questions, k, runEnds[run]!) - start
    }
    const clockSteps = history.txnCount * (1 + history.sessionCount / SESSIONS_PER_STEP)
    if (this.steps > clockSteps && !hasManySessions(history)) {
      this.clocks ??= new ReplayClocks(this.replayed)
    }
    const found = this.clocks !== null ? this.askClocks(this.clocks) : this.run(questions, runEnds)
    const skip =
      found === NONE ? null : { read: this.read.data[found]!, skipped: this.first.data[found]! }
    for (const column of [this.first, this.second, this.read]) column.length = 0
    return skip
  }

  private askClocks(clocks: ReplayClocks): number {
    const { first, second } = this
    for (let i = 0; i < first.length; i++) {
      if (clocks.before(first.data[i]!, second.data[i]!)) return i
    }
    return NONE
  }

  private run(questions: Float64Array, runEnds: readonly number[]): number {
    let from = 0
    for (const to of runEnds) {
      const found = this.runOnce(questions, from, to)
      if (found !== NONE) return found
      from = to
    }
    return NONE
  }

  /** Questions by where they begin, those that reach far after all others. */
  private sortQuestions(): Float64Array {
    const { position, order } = this.replayed
    const { first, second } = this
    const count = first.length
    const keys = new Float64Array(count)
    for (let i = 0; i < count; i++) {
      const start = position[first.data[i]!]!
      const isFar = position[second.data[i]!]! - start > FAR ? 1 : 0
      keys[i] = (isFar * order.length + start) * count + i
    }
    keys.sort()
    for (let k = 0; k < count; k++) keys[k] = keys[k]! % count
    return keys
  }

  /** Ends of the runs: of at most 32 writers, and none where questions do not overlap. */
  private cutIntoRuns(questions: Float64Array): number[] {
    const { position } = this.replayed
    const { first, second } = this
    const ends: number[] = []
    let writers = 0
    let previous = -1
    let last = 0
    for (let k = 0; k < questions.length; k++) {
      const start = position[first.data[questions[k]!]!]!
      const isFull = start !== previous && writers === WRITERS_PER_RUN
      if (k > 0 && (isFull || start < previous || start > last)) {
        ends.push(k)
        writers = 0
        previous = -1
        last = 0
      }
      if (start !== previous) writers++
      previous = start
      last = Math.max(last, position[second.data[questions[k]!]!]!)
    }
    if (questions.length > 0) ends.push(questions.length)
    return ends
  }

  private lastOf(questions: Float64Array, from: number, to: number): number {
    let last = 0
    for (let k = from; k < to; k++) {
      last = Math.max(last, this.replayed.position[this.second.data[questions[k]!]!]!)
    }
    return last
  }

  /** The first of these questions whose answer is yes, or NONE. */
  private runOnce(questions: Float64Array, from: number, to: number): number {
    const { history, order, position, sources, deadline } = this.replayed
    const { txnSession, txnOpStart } = history
    const { first, second, latest } = this
    if (this.bits.length === 0) this.bits = new Int32Array(order.length)
    const { bits } = this
    const start = position[first.data[questions[from]!]!]!
    const end = this.lastOf(questions, from, to)
    let next = from
    let bit = 0
    for (let p = start; p <= end; p++) {
      deadline.step(4)
      const txn = order[p]!
      const session = txnSession[txn]!
      let known = latest[session]!
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const writer = sources[op]!
        if (writer >= 0 && writer !== txn && position[writer]! >= start) {
          known |= bits[position[writer]!]!
        }
      }
      if (next < to && first.data[questions[next]!] === txn) known |= 1 << bit++
      while (next < to && first.data[questions[next]!] === txn) next++
      bits[p] = known
      latest[session] = known
    }
    for (let p = start; p <= end; p++) latest[txnSession[order[p]!]!] = 0
    bit = -1
    let writer: number = NONE
    for (let k = from; k < to; k++) {
      const question = questions[k]!
      if (first.data[question] !== writer) bit++
      writer = first.data[question]!
      if ((bits[position[second.data[question]!]!]! >>> bit) & 1) return question
    }
    return NONE
  }
}

/** For each transaction, how many of each other session happen before it. */
class ReplayClocks {
  private readonly rows: Int32Array[]
  private readonly rowOf: Int32Array // txn -> row

  constructor(private readonly replayed: Replayed) {
    const { history, order, deadline } = replayed
    const latest = new Int32Array(history.sessionCount) // session -> its latest row
    this.rowOf = new Int32Array(history.txnCount)
    this.rows = [new Int32Array(history.sessionCount)]
    for (const txn of order) {
      deadline.step(4)
      const session = history.txnSession[txn]!
      this.rowOf[txn] = latest[session] = this.rowFor(txn, latest[session]!)
    }
  }

  before(a: number, b: number): boolean {
    const { txnSession, txnIndex } = this.replayed.history
    if (txnSession[a] === txnSession[b]) return txnIndex[a]! < txnIndex[b]!
    return this.rows[this.rowOf[b]!]![txnSession[a]!]! > txnIndex[a]!
  }

  private rowFor(txn: number, inherited: number): number {
    const { history, sources, deadline } = this.replayed
    const { txnSession, txnIndex, txnOpStart } = history
    const session = txnSession[txn]!
    let row = this.rows[inherited]!
    let isOwn = false
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const writer = sources[op]!
      if (writer < 0) continue
      const from = txnSession[writer]!
      if (from === session || row[from]! > txnIndex[writer]!) continue
      if (!isOwn) row = row.slice()
      isOwn = true
      if (this.rowOf[writer] !== 0) {
        const other = this.rows[this.rowOf[writer]!]!
        deadline.step(row.length >> 3)
        for (let s = 0; s < row.length; s++) if (other[s]! > row[s]!) row[s] = other[s]!
      }
      row[from] = Math.max(row[from]!, txnIndex[writer]! + 1)
    }
    if (!isOwn) return inherited
    deadline.step(1 + (row.length >> 3))
    this.rows.push(row)
    return this.rows.length - 1
  }
}
