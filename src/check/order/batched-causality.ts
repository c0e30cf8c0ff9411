// Answers many questions "does a happen before b?" at once, without clocks. A batch takes up to
// 1024 earlier transactions, gives each a bit, and runs once through the stretch of the order from
// the first of them to the last later one: each transaction has the bits of its session predecessor
// and of all it read from. A row of bits that learned nothing new is shared.
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

const MAX_BITS = 1024 // of a row
const REACHES = [1 << 10, 1 << 13, 1 << 16, 1 << 20] // questions that reach less far come first

export class BatchedQuestions {
  /** Transactions to be run through for all batches. */
  readonly cost: number
  private readonly sorted: Float64Array // questions by reach and beginning
  private readonly batchEnd: number[] = [] // batch -> its end in `sorted`
  private readonly bit: Int32Array // question -> bit of its earlier transaction
  private readonly answers: Uint8Array
  private readonly latestRow: Int32Array // session -> row of its latest transaction
  private readonly latestBatch: Int32Array // session -> the batch that is about
  private batch = 0
  private rows = new Int32Array(1024) // row · words -> bits; row 0 is empty
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
    this.sorted = this.sortQuestions()
    this.bit = new Int32Array(from.length)
    this.answers = new Uint8Array(from.length)
    this.latestRow = new Int32Array(history.sessionCount)
    this.latestBatch = new Int32Array(history.sessionCount)
    this.cost = this.cutIntoBatches()
  }

  /** question -> 1 if its earlier transaction happens before the later one. */
  answer(deadline: Deadline): Uint8Array {
    let start = 0
    const rowAt = new Int32Array(this.order.order.length) // position -> row
    for (const end of this.batchEnd) {
      this.batch++
      this.answerBatch(start, end, rowAt, deadline)
      start = end
    }
    return this.answers
  }

  /** Reach class · questions² + beginning · questions + question, all exact in a double. */
  private sortQuestions(): Float64Array {
    const { from, to } = this
    const { position, order } = this.order
    const keys = new Float64Array(from.length)
    for (let i = 0; i < from.length; i++) {
      const start = position[from[i]!]!
      const gap = position[to[i]!]! - start
      let reach = 0
      while (reach < REACHES.length && gap > REACHES[reach]!) reach++
      keys[i] = (reach * order.length + start) * from.length + i
    }
    keys.sort()
    for (let k = 0; k < keys.length; k++) keys[k] = keys[k]! % from.length
    return keys
  }

  private cutIntoBatches(): number {
    const { position } = this.order
    let cost = 0
    let bits = 0
    let first = 0
    let last = 0
    let previous: number = NONE
    let latestStart = 0
    for (let k = 0; k < this.sorted.length; k++) {
      const i = this.sorted[k]!
      const start = position[this.from[i]!]!
      const isFull = bits === MAX_BITS && this.from[i] !== previous
      // It begins before the question before, where a farther reach begins, or after all so far.
      if (k > 0 && (isFull || start < latestStart || start > last)) {
        this.batchEnd.push(k)
        cost += last - first + 1
        bits = 0
        previous = NONE
      }
      if (bits === 0) {
        first = start
        last = start
      }
      if (this.from[i] !== previous) bits++
      previous = this.from[i]!
      latestStart = start
      this.bit[i] = bits - 1
      last = Math.max(last, position[this.to[i]!]!)
    }
    if (this.sorted.length > 0) {
      this.batchEnd.push(this.sorted.length)
      cost += last - first + 1
    }
    return cost
  }

  private answerBatch(start: number, end: number, rowAt: Int32Array, deadline: Deadline): void {
    const { from, to, sorted, bit, answers } = this
    const { position } = this.order
    const first = position[from[sorted[start]!]!]!
    let last = first
    for (let k = start; k < end; k++) last = Math.max(last, position[to[sorted[k]!]!]!)
    this.words = (bit[sorted[end - 1]!]! >> 5) + 1
    this.rows.fill(0, 0, this.words)
    this.rowCount = 1
    this.propagate(start, end, first, last, rowAt, deadline)
    for (let k = start; k < end; k++) {
      const i = sorted[k]!
      const at = position[to[i]!]!
      if (at <= position[from[i]!]!) continue
      const word = this.rows[rowAt[at]! * this.words + (bit[i]! >> 5)]!
      answers[i] = (word >>> (bit[i]! & 31)) & 1
    }
  }

  /** Gives every transaction from position `first` to `last` its row of bits. */
  private propagate(
    start: number,
    end: number,
    first: number,
    last: number,
    rowAt: Int32Array,
    deadline: Deadline,
  ): void {
    const { txnSession, txnOpStart } = this.history
    const { opSource } = this.reads
    const { order, position } = this.order
    const { latestRow, latestBatch, batch } = this
    let next = start // the next earlier transaction to come
    for (let p = first; p <= last; p++) {
      const txn = order[p]!
      deadline.step(2 + this.words)
      const session = txnSession[txn]!
      let row = latestBatch[session] === batch ? latestRow[session]! : 0
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
        const bit = this.bit[this.sorted[next]!]!
        if (!isOwn) row = this.copy(row)
        this.rows[row * this.words + (bit >> 5)]! |= 1 << (bit & 31)
        while (next < end && this.from[this.sorted[next]!] === txn) next++
      }
      rowAt[p] = row
      latestRow[session] = row
      latestBatch[session] = batch
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
