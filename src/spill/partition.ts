// From a file to a history on disk, in one pass: operations go to buckets by a hash of their key's
// bytes, the ids of transactions to buckets of their own (txn-ids.ts). A hash only chooses the
// bucket: keys, values and ids are on disk whole. Main function: partition.

import { InputError } from '../base/errors.ts'
import { ByteColumn, IntColumn } from '../base/grow.ts'
import type { Scratch } from '../files/scratch.ts'
import { Streams } from '../files/streams.ts'
import { MAX_INT_BYTES, putInt, putSigned } from '../files/varint.ts'
import { type PlainFile, readPieces } from '../formats/pieces.ts'
import type { Draft } from '../formats/source.ts'
import { ABORTED, COMMITTED, NONE, READ, WRITE } from '../history/history.ts'
import type { Value } from '../history/values.ts'
import { SessionTimes } from './session-times.ts'
import {
  INITIAL_PART,
  type SpilledHistory,
  type SpillSizes,
  Unspillable,
} from './spilled-history.ts'
import { hashBytes, isSmall, putSmall, putSymbol, roomFor, SMALL } from './symbol-code.ts'
import { TxnIds } from './txn-ids.ts'
import { type Numbers, TxnNumbers } from './txn-numbers.ts'

export interface PartitionOptions {
  readonly memoryBytes: number
  readonly onProgress?: (readBytes: number) => void
}

export function partition(
  file: PlainFile,
  scratch: Scratch,
  sizes: SpillSizes,
  options: PartitionOptions,
): SpilledHistory {
  const partitioner = new Partitioner(file, scratch, sizes)
  for (const { draft, readBytes } of readPieces(file, sizes.pieceBytes, options.memoryBytes)) {
    partitioner.take(draft, readBytes)
    options.onProgress?.(readBytes)
  }
  return partitioner.finish()
}

class Partitioner {
  private readonly numbers: TxnNumbers
  private readonly txnSession = new IntColumn()
  private readonly txnStatus = new ByteColumn()
  private readonly times = new SessionTimes()
  private readonly ops: Streams
  private readonly ids: TxnIds
  private readonly lastTxn: Int32Array // bucket -> transaction of its last record
  private leads = true // all so far were part of the initial transaction
  private leadStart = Number.NEGATIVE_INFINITY // the latest start of a part of it
  private othersFinish = Number.POSITIVE_INFINITY // the first finish of any other
  private opCount = 0
  private initial: Value | undefined = undefined
  private readonly warnings: string[] = []
  private record = new Uint8Array(256)

  constructor(
    private readonly file: PlainFile,
    scratch: Scratch,
    private readonly sizes: SpillSizes,
  ) {
    this.numbers = new TxnNumbers(file.format.id === 'plume')
    this.ops = new Streams(scratch, sizes.buckets, sizes.blockBytes)
    this.ids = new TxnIds(scratch, sizes, file.format.id === 'plume')
    this.lastTxn = new Int32Array(sizes.buckets)
  }

  take(draft: Draft, readBytes: number): void {
    const { builder } = draft
    if (draft.obstacle !== null) throw new Unspillable(`the history has ${draft.obstacle}`)
    if (builder.initial !== undefined || this.txnStatus.length === 0) this.initial = builder.initial
    for (const warning of builder.warnings) this.warnings.push(warning)
    // Outcomes first: they are of earlier pieces, whatever this one tells under the same id.
    for (const outcome of draft.outcomes) this.ids.end(outcome)
    const numbers = this.numbers.take(draft, (local, session, label) =>
      this.addTxn(draft, local, session, label),
    )
    this.spillOps(draft, numbers)
    this.lead(draft, numbers)
    this.expectFirstInTime(draft, numbers)
    this.opCount += builder.opCount
    if (readBytes < this.file.sizeBytes) {
      // Transactions are of about one size: room for all of them, once.
      const expected = (this.txnStatus.length * this.file.sizeBytes * 1.02) / readBytes
      if (expected > this.txnStatus.data.length) {
        this.txnStatus.grow(Math.ceil(expected))
        this.txnSession.grow(Math.ceil(expected))
      }
    }
  }

  finish(): SpilledHistory {
    this.ops.finish()
    const { file, sizes, txnSession, txnStatus, opCount, initial } = this
    this.ids.settle((txn, status) => {
      txnStatus.data[txn] = status
    })
    const txnCount = txnStatus.length
    const txnCounts = new Uint8Array(txnCount)
    for (let txn = 0; txn < txnCount; txn++) {
      txnCounts[txn] = txnStatus.data[txn] === COMMITTED ? 1 : 0
    }
    return {
      file,
      sizes,
      txnCount,
      opCount,
      sessions: this.numbers.sessions,
      txnSession,
      txnStatus,
      txnCounts,
      initial,
      hasLabels: this.ids.isUsed,
      bucketKeys: new Int32Array(sizes.buckets),
      warnings: this.warnings,
      ops: this.ops,
    }
  }

  private addTxn(draft: Draft, local: number, session: number, label: Value): void {
    const txn = this.txnStatus.length
    this.txnSession.push(session)
    this.txnStatus.push(draft.builder.statusOf(local))
    this.ids.add(txn, session, label, draft.builder.times.startOf(local), draft.isOpen(local))
    const { times } = draft.builder
    const nameOf = (of: number) => this.numbers.sessions.get(of)
    this.times.add(session, times.startOf(local), times.finishOf(local), nameOf)
  }

  private spillOps({ builder }: Draft, { txns, opsBefore }: Numbers): void {
    const { keys, opCount } = builder
    const opTxn = builder.opTxn.data
    const opKind = builder.opKind.data
    const opKey = builder.opKey.data
    const opValue = builder.opValue.data
    const { lastTxn, ops } = this
    const { buckets } = this.sizes
    const small = new Int32Array(keys.size).fill(NONE) // key -> itself, if it is a small integer
    const bucketOf = new Int32Array(keys.size) // key -> bucket
    for (let key = 0; key < keys.size; key++) {
      const symbol = keys.get(key)
      if (isSmall(symbol)) small[key] = symbol
      bucketOf[key] = this.hashOf(symbol) % buckets
    }
    const isTold = new Uint8Array(keys.size) // key -> 1 if something is done to it here
    for (let i = 0; i < opCount; i++) {
      if (opKind[i]! > WRITE)
        throw new Unspillable('the history has more than reads and writes of registers')
      const key = opKey[i]!
      const local = opTxn[i]!
      const txn = txns[local]!
      isTold[key] = 1
      const bucket = bucketOf[key]!
      const head = 2 * opsBefore[local]!++ + opKind[i]!
      if (small[key] === NONE || opValue[i]! >= SMALL) {
        this.putOp(bucket, txn, head, keys.get(key), builder.values.get(opValue[i]!))
        continue
      }
      let at = ops.room(bucket, 4 * MAX_INT_BYTES)
      at = putSigned(ops.bytes, at, txn - lastTxn[bucket]!)
      at = putInt(ops.bytes, at, head)
      at = putSmall(ops.bytes, at, small[key]!)
      ops.end(bucket, putSmall(ops.bytes, at, opValue[i]!))
      lastTxn[bucket] = txn
    }
    if (!isTold.includes(0)) return
    // Of what aborted ones read, Plume text leaves only the keys, which count all the same.
    const by = txns.find((txn) => this.txnStatus.data[txn] === ABORTED)
    for (let key = 0; key < keys.size && by !== undefined; key++) {
      if (!isTold[key]) this.putOp(bucketOf[key]!, by, READ, keys.get(key), null)
    }
  }

  /** A number that equal keys share. */
  private hashOf(key: Value): number {
    if (roomFor(key) > this.record.length) this.record = new Uint8Array(2 * roomFor(key))
    return hashBytes(this.record, 0, putSymbol(this.record, 0, key))
  }

  /** A record of any size. */
  private putOp(bucket: number, txn: number, head: number, key: Value, value: Value): void {
    const size = 2 * MAX_INT_BYTES + roomFor(key) + roomFor(value)
    if (size > this.record.length) this.record = new Uint8Array(2 * size)
    const { record } = this
    let at = putSigned(record, 0, txn - this.lastTxn[bucket]!)
    at = putInt(record, at, head)
    at = putSymbol(record, at, key)
    this.ops.put(bucket, record.subarray(0, putSymbol(record, at, value)))
    this.lastTxn[bucket] = txn
  }

  /** Marks the transactions at the beginning that spell out the initial state (initial.ts). */
  private lead({ builder, isOpen }: Draft, { txns }: Numbers): void {
    if (this.initial === undefined) return
    const status = this.txnStatus.data
    if (!this.leads && !txns.some((txn) => status[txn] === INITIAL_PART)) return
    const initial = builder.values.of(this.initial)
    const isOther = new Uint8Array(builder.txnCount)
    const hasOps = new Uint8Array(builder.txnCount)
    for (let i = 0; i < builder.opCount; i++) {
      const local = builder.opTxn.data[i]!
      hasOps[local] = 1
      if (builder.opKind.data[i] !== WRITE || builder.opValue.data[i] !== initial)
        isOther[local] = 1
    }
    for (let local = 0; local < builder.txnCount; local++) {
      const txn = txns[local]!
      if (status[txn] === INITIAL_PART) {
        if (!isOther[local]) continue
        status[txn] = COMMITTED // it goes on, with something else
        this.leads = false
      }
      if (!this.leads) continue
      const doesNot = isOther[local] === 1 || !hasOps[local]
      if (!doesNot && isOpen(local)) {
        throw new Unspillable('what spells out the initial state is pending')
      }
      if (doesNot || status[txn] !== COMMITTED) {
        this.leads = false
      } else {
        status[txn] = INITIAL_PART
        const start = builder.times.startOf(local)
        if (start > this.leadStart) this.leadStart = start
      }
    }
  }

  /** As expectFirstInTime of history/initial.ts has it. */
  private expectFirstInTime({ builder, outcomes }: Draft, { txns }: Numbers): void {
    if (this.leadStart === Number.NEGATIVE_INFINITY) return
    const status = this.txnStatus.data
    for (const { finish } of outcomes) if (finish < this.othersFinish) this.othersFinish = finish
    for (let local = 0; local < builder.txnCount; local++) {
      const finish = builder.times.finishOf(local)
      const isEarlier = finish < this.othersFinish
      if (isEarlier && status[txns[local]!] !== INITIAL_PART) this.othersFinish = finish
    }
    if (!(this.othersFinish < this.leadStart)) return
    throw new InputError(
      'duplicate-value',
      `an initial value is written twice: a transaction that writes nothing else starts at ${this.leadStart}, after another one finished (${this.othersFinish})`,
      null,
      'the initial state is written only by committed transactions that come before all others and write nothing else',
    )
  }
}
