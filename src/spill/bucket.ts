// A bucket of a history on disk as a history in memory: all that was done to some of the keys, by
// whomever. Whatever concerns one key alone can be judged on it: which write a read saw, which
// values were written twice, what a transaction saw of its own. Main function: loadBucket.

import { BudgetExceeded, InputError } from '../base/errors.ts'
import { IntColumn } from '../base/grow.ts'
import { HistoryBuilder } from '../history/builder.ts'
import { ABORTED, type History, NONE, READ, WRITE } from '../history/history.ts'
import { OpRecords } from './op-records.ts'
import { loadPart } from './part.ts'
import { INITIAL_PART, type SpilledHistory } from './spilled-history.ts'

export interface Bucket {
  readonly history: History
  readonly txns: Int32Array // transaction of the bucket -> of the whole
  readonly opIndex: Int32Array // op -> its place in its transaction
}

/** Throws InputError where a value is written twice, BudgetExceeded where it would not fit. */
export function loadBucket(spilled: SpilledHistory, bucket: number): Bucket {
  expectFits(spilled, bucket)
  const loading = new Loading(spilled)
  loading.load(bucket)
  const loaded = loading.finish()
  spilled.bucketKeys[bucket] = loaded.history.keyCount
  return loaded
}

/** Throws BudgetExceeded where a bucket is too large. */
export function expectFits({ ops, sizes }: SpilledHistory, bucket: number): void {
  if (ops.sizeOf(bucket) <= sizes.bucketBytes) return
  throw new BudgetExceeded('what was done to a few of the keys does not fit into this memory')
}

class Loading {
  private readonly builder: HistoryBuilder
  private readonly txns = new IntColumn()
  private readonly indices = new IntColumn() // arrival -> place in its transaction
  private readonly initial: number // id of the initial value
  private readonly earlier = new Map<number, number>() // whole -> here, where they are not in order

  constructor(private readonly spilled: SpilledHistory) {
    const { initial } = spilled
    this.builder = new HistoryBuilder(initial)
    this.initial = initial === undefined ? NONE : this.builder.values.of(initial)
  }

  load(bucket: number): void {
    const { spilled, builder } = this
    const status = spilled.txnStatus.data
    const records = new OpRecords(spilled, bucket, builder.keys, builder.values)
    while (records.next()) {
      const { txn, head, key, value } = records
      const kind = head % 2
      if (kind === WRITE && value === this.initial) {
        if (status[txn] === INITIAL_PART) continue
        throw this.writtenTwice([txn])
      }
      if (kind === READ && status[txn] === ABORTED) continue
      this.indices.push((head - kind) / 2)
      builder.addOp(this.txnFor(txn), kind, key, value)
    }
  }

  finish(): Bucket {
    const { builder, spilled } = this
    const txns = this.txns.view()
    let built: History
    try {
      built = builder.finish({ place: (arrival) => ({ line: arrival, column: 1 }) })
    } catch (error) {
      if (!(error instanceof InputError) || error.code !== 'duplicate-value') throw error
      throw this.writtenTwice(this.findTwice())
    }
    const txnCounts = new Uint8Array(txns.length)
    for (let txn = 0; txn < txns.length; txn++) txnCounts[txn] = spilled.txnCounts[txns[txn]!]!
    let opIndex = this.indices.view()
    if (this.earlier.size > 0) {
      const arrivals = opIndex
      opIndex = Int32Array.from(arrivals, (_, op) => arrivals[built.placeOf(op)!.line]!)
    }
    return { history: { ...built, txnCounts }, txns, opIndex }
  }

  /** The transaction here; they come in order but where one's lines lie between another's. */
  private txnFor(txn: number): number {
    const { txns, builder, spilled, earlier } = this
    const last = txns.length - 1
    if (last >= 0 && txns.data[last] === txn) return last
    if (last >= 0 && txns.data[last]! > txn) {
      if (earlier.size === 0) for (let i = 0; i <= last; i++) earlier.set(txns.data[i]!, i)
      const known = earlier.get(txn)
      if (known !== undefined) return known
    } else if (earlier.size > 0) {
      const known = earlier.get(txn)
      if (known !== undefined) return known
    }
    const session = builder.sessions.ofSmall(spilled.txnSession.data[txn]!)
    const made = builder.addTxn(session, spilled.txnStatus.data[txn]!)
    txns.push(txn)
    if (earlier.size > 0) earlier.set(txn, made)
    return made
  }

  /** Two transactions that write one value of a key, or one that does so twice. */
  private findTwice(): number[] {
    const { opTxn, opKind, opKey, opValue, opCount } = this.builder
    const writers = new Map<string, number>()
    for (let i = 0; i < opCount; i++) {
      if (opKind.data[i] !== WRITE) continue
      const write = `${opKey.data[i]},${opValue.data[i]}`
      const txn = this.txns.data[opTxn.data[i]!]!
      const other = writers.get(write)
      if (other !== undefined) return [other, txn]
      writers.set(write, txn)
    }
    return []
  }

  /** The error that tells where, which only the file knows. */
  private writtenTwice(txns: number[]): unknown {
    try {
      loadPart(this.spilled, new Set(txns), Number.POSITIVE_INFINITY, () => true)
    } catch (error) {
      return error
    }
    const message = 'a value of a key is written twice'
    return new InputError('duplicate-value', message, null, 'let every write have its own value')
  }
}
