// Answers many questions "does a happen before b?" at once, without clocks. A batch takes some
// earlier transactions, gives each a bit, and runs once through the stretch of the order from the
// first of them to the last later one: each transaction has the bits of its session predecessor
// and of all it read from. Narrow batches take 32 earlier ones, so that a transaction's bits are one
// number; where many questions lie close together, wide ones of 1024 make fewer runs: there a
// transaction has a row of bits, and a row that learned nothing new is shared.
//
// Stale reads ask about transactions that stand close together, so a batch's stretch is short, and
// a session costs nothing: with a thousand sessions clocks would be a thousand numbers for each
// transaction. Questions are sorted by how far they reach and then by where they begin, so that one
// far reach does not make the stretches of all others long. O(stretches · operations); what they
// add up to is known beforehand. Main class: BatchedQuestions.

import type { Deadline } from '../../base/deadline.ts'
import { type History, NONE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { BaseOrder } from './stale-reads.ts'

const NARROW = 32
const WIDE = 1024
/** A step through rows of bits costs about so many steps through numbers. */
const WIDE_STEP = 6
const REACHES = [1 << 10, 1 << 13, 1 << 16, 1 << 20] // questions that reach less far come first

/** Questions answered in one run: a part of those sorted, and the stretch of the order. */
interface Batch {
  readonly start: number
  readonly end: number
  readonly first: number // position
  readonly last: number
  readonly isWide: boolean
}

export class BatchedQuestions {
  /** Transactions to be run through for all batches; more where that takes longer. */
  readonly cost: number
  private readonly sorted: Float64Array // questions by reach and beginning
  readonly batches: Batch[] = []
  private readonly answers: Uint8Array
  private readonly latest: Int32Array // session -> bits, or row, of its latest transaction
  private readonly latestBatch: Int32Array // session -> the batch that is about
  private batch = 0
  private rows = new Int32Array(0) // row · words -> bits; row 0 is empty
  private rowCount = 1
  private words = 1 // of a row, as many as the batch needs

  /**
   * @param order an order of so ∪ wr without cycles
   * @param from question -> earlier transaction
   * @param to question -> later transaction; where it stands before the other, the answer is no
   */
  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly order: BaseOrder,
    private readonly from: Int32Array,
    private readonly to: Int32Array,
  ) {
    const { sorted, classEnds } = this.sortQuestions()
    this.sorted = sorted
    this.answers = new Uint8Array(from.length)
    this.latest = new Int32Array(history.sessionCount)
    this.latestBatch = new Int32Array(history.sessionCount)
    let start = 0
    let cost = 0
    for (const end of classEnds) {
      const narrow = this.cutIntoBatches(start, end, NARROW)
      const wide = this.cutIntoBatches(start, end, WIDE)
      const isNarrow = stepsOf(narrow) <= stepsOf(wide) * WIDE_STEP
      cost += isNarrow ? stepsOf(narrow) : stepsOf(wide) * WIDE_STEP
      for (const batch of isNarrow ? narrow : wide) this.batches.push(batch)
      start = end
    }
    this.cost = cost
  }

  /** question -> 1 if its earlier transaction happens before the later one. */
  answer(deadline: Deadline): Uint8Array {
    const at = new Int32Array(this.order.order.length) // position -> bits, or row
    for (const batch of this.batches) {
      this.batch++
      if (batch.isWide) this.answerWide(batch, at, deadline)
      else this.answerNarrow(batch, at, deadline)
    }
    return this.answers
  }

  /** Also where questions of another reach begin. */
  private sortQuestions(): { sorted: Float64Array; classEnds: number[] } {
    const { from, to } = this
    const { position, order } = this.order
    // Reach class · questions² + beginning · questions + question, all exact in a double.
    const sorted = new Float64Array(from.length)
    const counts: number[] = new Array(REACHES.length + 1).fill(0)
    for (let i = 0; i < from.length; i++) {
      const start = position[from[i]!]!
      const gap = position[to[i]!]! - start
      let reach = 0
      while (reach < REACHES.length && gap > REACHES[reach]!) reach++
      counts[reach]!++
      sorted[i] = (reach * order.length + start) * from.length + i
    }
    sorted.sort()
    for (let k = 0; k < sorted.length; k++) sorted[k] = sorted[k]! % from.length
    let end = 0
    const classEnds = counts.map((count) => {
      end += count
      return end
    })
    return { sorted, classEnds }
  }

  private cutIntoBatches(start: number, end: number, mostBits: number): Batch[] {
    const { position } = this.order
    const batches: Batch[] = []
    let begin = start
    let bits = 0
    let first = 0
    let last = 0
    let previous: number = NONE
    const isWide = mostBits > NARROW
    for (let k = start; k < end; k++) {
      const i = this.sorted[k]!
      const at = position[this.from[i]!]!
      // It begins after all so far end.
      if (k > begin && ((bits === mostBits && this.from[i] !== previous) || at > last)) {
        batches.push({ start: begin, end: k, first, last, isWide })
        begin = k
      }
      if (k === begin) {
        bits = 0
        previous = NONE
        first = at
        last = at
      }
      if (this.from[i] !== previous) bits++
      previous = this.from[i]!
      last = Math.max(last, position[this.to[i]!]!)
    }
    if (end > begin) batches.push({ start: begin, end, first, last, isWide })
    return batches
  }

  private answerNarrow(batch: Batch, bitsAt: Int32Array, deadline: Deadline): void {
    const { from, to, sorted, answers } = this
    const { position } = this.order
    this.propagateBits(batch, bitsAt, deadline)
    let bit = -1
    let previous: number = NONE
    for (let k = batch.start; k < batch.end; k++) {
      const i = sorted[k]!
      if (from[i] !== previous) bit++
      previous = from[i]!
      const at = position[to[i]!]!
      if (at > position[previous]!) answers[i] = (bitsAt[at]! >>> bit) & 1
    }
  }

  /** Gives every transaction of the stretch its bits. */
  private propagateBits(batch: Batch, bitsAt: Int32Array, deadline: Deadline): void {
    const { first, last, end } = batch
    const { txnSession, txnOpStart } = this.history
    const { opSource } = this.reads
    const { order, position } = this.order
    const { latest, latestBatch } = this
    let next = batch.start // the next earlier transaction to come
    let bit = 0
    for (let p = first; p <= last; p++) {
      const txn = order[p]!
      deadline.step(2)
      const session = txnSession[txn]!
      let bits = latestBatch[session] === this.batch ? latest[session]! : 0
      const opEnd = txnOpStart[txn + 1]!
      for (let op = txnOpStart[txn]!; op < opEnd; op++) {
        const source = opSource[op]!
        if (source < 0) continue
        const at = position[source]!
        if (at >= first) bits |= bitsAt[at]!
      }
      if (next < end && this.from[this.sorted[next]!] === txn) {
        bits |= 1 << bit++
        while (next < end && this.from[this.sorted[next]!] === txn) next++
      }
      bitsAt[p] = bits
      latest[session] = bits
      latestBatch[session] = this.batch
    }
  }

  private answerWide(batch: Batch, rowAt: Int32Array, deadline: Deadline): void {
    const { from, to, sorted, answers } = this
    const { position } = this.order
    let bits = 0
    for (let k = batch.start; k < batch.end; k++) {
      if (k === batch.start || from[sorted[k]!] !== from[sorted[k - 1]!]) bits++
    }
    this.words = (bits + 31) >> 5
    if (this.rows.length < this.words) this.rows = new Int32Array(WIDE)
    this.rows.fill(0, 0, this.words)
    this.rowCount = 1
    this.propagateRows(batch, rowAt, deadline)
    let bit = -1
    let previous: number = NONE
    for (let k = batch.start; k < batch.end; k++) {
      const i = sorted[k]!
      if (from[i] !== previous) bit++
      previous = from[i]!
      const at = position[to[i]!]!
      if (at <= position[previous]!) continue
      answers[i] = (this.rows[rowAt[at]! * this.words + (bit >> 5)]! >>> (bit & 31)) & 1
    }
  }

  /** Gives every transaction of the stretch its row of bits. */
  private propagateRows(batch: Batch, rowAt: Int32Array, deadline: Deadline): void {
    const { first, last, end } = batch
    const { txnSession, txnOpStart } = this.history
    const { opSource } = this.reads
    const { order, position } = this.order
    const { latest, latestBatch } = this
    let next = batch.start // the next earlier transaction to come
    let bit = 0
    for (let p = first; p <= last; p++) {
      const txn = order[p]!
      deadline.step(2 + this.words)
      const session = txnSession[txn]!
      let row = latestBatch[session] === this.batch ? latest[session]! : 0
      let isOwn = false
      const opEnd = txnOpStart[txn + 1]!
      for (let op = txnOpStart[txn]!; op < opEnd; op++) {
        const source = opSource[op]!
        if (source < 0) continue
        const at = position[source]!
        if (at < first) continue
        const other = rowAt[at]!
        if (other === row || other === 0) continue
        const joined = row === 0 ? other : this.join(row, other, isOwn)
        if (row !== 0 && joined !== row) isOwn = true
        row = joined
      }
      if (next < end && this.from[this.sorted[next]!] === txn) {
        if (!isOwn) row = this.copy(row)
        this.rows[row * this.words + (bit >> 5)]! |= 1 << (bit & 31)
        bit++
        while (next < end && this.from[this.sorted[next]!] === txn) next++
      }
      rowAt[p] = row
      latest[session] = row
      latestBatch[session] = this.batch
    }
  }

  /** The row with the bits of the other; a new one if there are new bits and it is shared. */
  private join(row: number, other: number, isOwn: boolean): number {
    const { rows, words } = this
    const a = row * words
    const b = other * words
    let word = 0
    while (word < words && (rows[b + word]! & ~rows[a + word]!) === 0) word++
    if (word === words) return row
    const target = isOwn ? row : this.copy(row)
    const to = this.rows
    for (; word < words; word++) to[target * words + word]! |= to[b + word]!
    return target
  }

  private copy(row: number): number {
    const { words } = this
    const copy = this.rowCount++
    if (this.rowCount * words > this.rows.length) {
      const larger = new Int32Array(this.rows.length * 2 + words)
      larger.set(this.rows)
      this.rows = larger
    }
    const { rows } = this
    for (let word = 0; word < words; word++) rows[copy * words + word] = rows[row * words + word]!
    return copy
  }
}

function stepsOf(batches: readonly Batch[]): number {
  let steps = 0
  for (const { first, last } of batches) steps += last - first + 1
  return steps
}
