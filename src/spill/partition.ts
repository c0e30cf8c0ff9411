// From a file to a history on disk, in one pass: operations go to buckets by a hash of their key's
// bytes, the ids of transactions to buckets of their own, where it turns out whether one is used
// twice and how those ended that were pending. A hash only chooses the bucket: keys, values and
// ids are on disk whole. Main function: partition.

import { InputError } from '../base/errors.ts'
import { ByteColumn, FloatColumn, IntColumn } from '../base/grow.ts'
import type { Scratch } from '../files/scratch.ts'
import { Streams } from '../files/streams.ts'
import { IntReader, MAX_INT_BYTES, putInt, putSigned } from '../files/varint.ts'
import { type PlainFile, readPieces } from '../formats/pieces.ts'
import type { Draft } from '../formats/source.ts'
import { COMMITTED, WRITE } from '../history/history.ts'
import { showValue } from '../history/initial.ts'
import { SymbolTable } from '../history/symbols.ts'
import type { Value } from '../history/values.ts'
import {
  INITIAL_PART,
  type SpilledHistory,
  type SpillSizes,
  Unspillable,
} from './spilled-history.ts'
import { hashBytes, putSymbol, roomFor, takeSymbol } from './symbol-code.ts'
import { type Numbers, TxnNumbers } from './txn-numbers.ts'

const ID_DONE = 0 // a transaction with that id
const ID_OPEN = 1 // the same, whose end is told later
const ID_ENDED = 2 // and from here on its status

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
  private readonly latest = new FloatColumn(16) // session -> the latest time told of it
  private readonly ops: Streams
  private readonly ids: Streams
  private readonly lastTxn: Int32Array // bucket -> transaction of its last record
  private leads = true // all so far were part of the initial transaction
  private opCount = 0
  private hasLabels = false
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
    this.ids = new Streams(scratch, sizes.buckets, Math.min(sizes.blockBytes, 1 << 12))
    this.lastTxn = new Int32Array(sizes.buckets)
  }

  take(draft: Draft, readBytes: number): void {
    const { builder } = draft
    if (draft.obstacle !== null) throw new Unspillable(`the history has ${draft.obstacle}`)
    if (builder.initial !== undefined || this.txnStatus.length === 0) this.initial = builder.initial
    for (const warning of builder.warnings) this.warnings.push(warning)
    const numbers = this.numbers.take(draft, (local, session, label) =>
      this.addTxn(draft, local, session, label),
    )
    this.spillOps(draft, numbers)
    this.lead(draft, numbers)
    for (const { label, status, line } of draft.outcomes) this.putId(label, ID_ENDED + status, line)
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
    this.ids.finish()
    this.settleIds()
    this.ids.close()
    const { file, sizes, txnSession, txnStatus, opCount, initial, hasLabels } = this
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
      hasLabels,
      bucketKeys: new Int32Array(sizes.buckets),
      warnings: this.warnings,
      ops: this.ops,
    }
  }

  private addTxn(draft: Draft, local: number, session: number, label: Value): void {
    const txn = this.txnStatus.length
    this.txnSession.push(session)
    this.txnStatus.push(draft.builder.statusOf(local))
    if (label !== null) {
      this.hasLabels = true
      this.putId(label, draft.isOpen(local) ? ID_OPEN : ID_DONE, txn)
    }
    this.checkTimes(draft, local, session)
  }

  /** As checkTimes of history/builder.ts has it. */
  private checkTimes({ builder }: Draft, local: number, session: number): void {
    while (this.latest.length <= session) this.latest.push(Number.NEGATIVE_INFINITY)
    const start = builder.times.startOf(local)
    const finish = builder.times.finishOf(local)
    const latest = this.latest.data[session]!
    if (start < latest || finish < start) {
      throw new InputError(
        'impossible-times',
        `a transaction of session ${showValue(this.numbers.sessions.get(session))} starts at ${start}, before the one before it ended or after its own end`,
        null,
        'a session runs one transaction at a time; check the clock or the session numbers',
      )
    }
    this.latest.data[session] = Math.max(latest, start || latest, finish || latest)
  }

  private spillOps({ builder }: Draft, { txns, opsBefore }: Numbers): void {
    const { keys, values, opCount } = builder
    const opTxn = builder.opTxn.data
    const opKind = builder.opKind.data
    const opKey = builder.opKey.data
    const opValue = builder.opValue.data
    const { buckets } = this.sizes
    for (let i = 0; i < opCount; i++) {
      if (opKind[i]! > WRITE) throw new Unspillable('the history has lists, or reads of many rows')
      const local = opTxn[i]!
      const key = keys.get(opKey[i]!)
      const value = values.get(opValue[i]!)
      const size = 2 * MAX_INT_BYTES + roomFor(key) + roomFor(value)
      if (size > this.record.length) this.record = new Uint8Array(2 * size)
      const { record } = this
      const keyEnd = putSymbol(record, 0, key)
      const bucket = hashBytes(record, 0, keyEnd) % buckets
      const end = putSymbol(record, keyEnd, value)
      const txn = txns[local]!
      // The beginning of the record goes behind its end, until its length is known.
      let headEnd = putSigned(record, end, txn - this.lastTxn[bucket]!)
      headEnd = putInt(record, headEnd, 2 * opsBefore[local]!++ + opKind[i]!)
      this.lastTxn[bucket] = txn
      this.putOp(bucket, end, headEnd)
    }
  }

  private putOp(bucket: number, end: number, headEnd: number): void {
    const { record, ops } = this
    if (headEnd > this.sizes.blockBytes) {
      const whole = new Uint8Array(headEnd)
      whole.set(record.subarray(end, headEnd))
      whole.set(record.subarray(0, end), headEnd - end)
      ops.put(bucket, whole)
      return
    }
    let at = ops.room(bucket, headEnd)
    const { bytes } = ops
    for (let i = end; i < headEnd; i++) bytes[at++] = record[i]!
    for (let i = 0; i < end; i++) bytes[at++] = record[i]!
    ops.end(bucket, at)
  }

  /** Marks the transactions at the beginning that spell out the initial state (initial.ts). */
  private lead({ builder, isOpen }: Draft, { txns }: Numbers): void {
    if (!this.leads || this.initial === undefined) return
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
      const status = this.txnStatus.data[txn]!
      const mayLead = status === COMMITTED || status === INITIAL_PART
      const doesNot = isOther[local] === 1 || !hasOps[local]
      if (!doesNot && (isOpen(local) || builder.times.startOf(local) >= 0)) {
        throw new Unspillable('the history spells out the initial state, with times or pending')
      }
      if (doesNot || !mayLead) {
        if (status === INITIAL_PART) this.txnStatus.data[txn] = COMMITTED
        this.leads = false
        return
      }
      this.txnStatus.data[txn] = INITIAL_PART
    }
  }

  private putId(label: Value, kind: number, number: number): void {
    const room = roomFor(label) + 2 * MAX_INT_BYTES
    if (room > this.record.length) this.record = new Uint8Array(2 * room)
    const { record } = this
    const labelEnd = putSymbol(record, 0, label)
    const bucket = hashBytes(record, 0, labelEnd) % this.sizes.buckets
    const end = putInt(record, putInt(record, labelEnd, kind), number)
    this.ids.put(bucket, record.slice(0, end))
  }

  /** Whose ids are used twice, and how pending transactions ended. */
  private settleIds(): void {
    const reader = new IntReader()
    for (let bucket = 0; bucket < this.sizes.buckets; bucket++) {
      const symbols = new SymbolTable()
      const txnOf = new IntColumn()
      const isOpen = new ByteColumn()
      for (const block of this.ids.blocks(bucket)) {
        for (reader.load(block); !reader.isAtEnd; ) {
          const symbol = takeSymbol(reader, symbols)
          const kind = reader.int()
          const number = reader.int()
          const isNew = symbol === txnOf.length
          if (kind < ID_ENDED) {
            if (!isNew) throw this.usedTwice(symbols.get(symbol))
            txnOf.push(number)
            isOpen.push(kind)
          } else {
            if (isNew || isOpen.data[symbol] === ID_DONE) throw strayOutcome(isNew, number)
            isOpen.data[symbol] = ID_DONE
            this.txnStatus.data[txnOf.data[symbol]!] = kind - ID_ENDED
          }
        }
      }
    }
  }

  private usedTwice(id: Value): Error {
    const shown = showValue(id)
    if (this.file.format.id === 'plume') {
      return new Unspillable(`the lines of transaction ${shown} are far apart, or in two sessions`)
    }
    const message = `transaction id ${shown} is used twice`
    return new InputError('duplicate-id', message, null, 'ids name one transaction each')
  }
}

function strayOutcome(isNew: boolean, line: number): InputError {
  return isNew
    ? new InputError(
        'unknown-id',
        'the outcome of a transaction which is not pending before this line',
        { line, column: 1 },
        'its pending line must come first',
      )
    : new InputError('duplicate-id', 'the transaction has an outcome already', { line, column: 1 })
}
