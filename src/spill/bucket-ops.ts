// The operations of a bucket as columns, transaction after transaction in a given order: what a
// pass over some of the keys needs, and nothing found out about them. The columns are used again
// for the next bucket. Main class: BucketOps.

import { IntColumn } from '../base/grow.ts'
import { ABORTED, NONE, READ } from '../history/history.ts'
import { SymbolTable } from '../history/symbols.ts'
import { ValueTable } from '../history/values.ts'
import { expectFits } from './bucket.ts'
import type { CommitOrder } from './commit-order.ts'
import { OpRecords } from './op-records.ts'
import { INITIAL_PART, type SpilledHistory } from './spilled-history.ts'

const DIGIT_BITS = 11 // of a position, by which operations are sorted at a time
const DIGITS = 1 << DIGIT_BITS

export class BucketOps {
  count = 0
  keyCount = 0
  initial: number = NONE // id of the initial value
  txn = new IntColumn() // op -> transaction
  head = new IntColumn() // op -> twice its place in the transaction, plus its kind
  key = new IntColumn() // op -> key of the bucket
  value = new IntColumn() // op -> value id of the bucket

  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
  ) {}

  /** All but what spells out the initial state, and what the aborted read. Throws BudgetExceeded where it would not fit. */
  read(bucket: number): void {
    const { spilled, txn: txns, head: heads, key: keys, value: values } = this
    expectFits(spilled, bucket)
    const status = spilled.txnStatus.data
    const keyTable = new SymbolTable()
    const valueTable = new ValueTable()
    this.initial = spilled.initial === undefined ? NONE : valueTable.of(spilled.initial)
    for (const column of [txns, heads, keys, values]) column.length = 0
    const records = new OpRecords(spilled, bucket, keyTable, valueTable)
    while (records.next()) {
      const by = status[records.txn]
      if (by === INITIAL_PART || (by === ABORTED && records.head % 2 === READ)) continue
      txns.push(records.txn)
      heads.push(records.head)
      keys.push(records.key)
      values.push(records.value)
    }
    this.count = txns.length
    this.keyCount = keyTable.size
    this.sort()
  }

  /** By position; those of a transaction stay as they were. */
  private sort(): void {
    const { count } = this
    const { position } = this.order
    const txns = this.txn.data
    let isSorted = true
    let last = 0
    let most = 0
    for (let i = 0; i < count; i++) {
      const at = position === null ? txns[i]! : position[txns[i]!]!
      if (at < last) isSorted = false
      if (at > most) most = at
      last = at
    }
    if (isSorted) return
    const at = new Int32Array(count)
    for (let i = 0; i < count; i++) at[i] = position === null ? txns[i]! : position[txns[i]!]!
    const sorted = sortBy(at, most)
    this.txn = pick(this.txn, sorted)
    this.head = pick(this.head, sorted)
    this.key = pick(this.key, sorted)
    this.value = pick(this.value, sorted)
  }
}

/** Indices in the order of their numbers, digit by digit, the lowest first. */
function sortBy(numbers: Int32Array, most: number): Int32Array {
  const count = numbers.length
  let sorted = Int32Array.from(numbers.keys())
  let next = new Int32Array(count)
  const start = new Int32Array(DIGITS + 1)
  for (let shift = 0; shift < 31 && most >>> shift > 0; shift += DIGIT_BITS) {
    start.fill(0)
    for (let i = 0; i < count; i++) start[((numbers[i]! >>> shift) & (DIGITS - 1)) + 1]!++
    for (let digit = 0; digit < DIGITS; digit++) start[digit + 1]! += start[digit]!
    for (let i = 0; i < count; i++) {
      const index = sorted[i]!
      next[start[(numbers[index]! >>> shift) & (DIGITS - 1)]!++] = index
    }
    ;[sorted, next] = [next, sorted]
  }
  return sorted
}

function pick({ data }: IntColumn, indices: Int32Array): IntColumn {
  const picked = new IntColumn(indices.length)
  picked.length = indices.length
  for (let i = 0; i < indices.length; i++) picked.data[i] = data[indices[i]!]!
  return picked
}
