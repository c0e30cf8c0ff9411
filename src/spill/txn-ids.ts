// What a file says of transactions by their ids, on disk, in buckets by a hash of the id: that it
// told of one, that it is pending, how it ended. In the end it turns out whose id is used twice,
// how pending ones ended, and whether they did so before the next one of the session started.
// Main class: TxnIds.

import { InputError } from '../base/errors.ts'
import { ByteColumn, FloatColumn, IntColumn } from '../base/grow.ts'
import type { Scratch } from '../files/scratch.ts'
import { Streams } from '../files/streams.ts'
import { IntReader, MAX_INT_BYTES, putInt } from '../files/varint.ts'
import type { Outcome } from '../formats/source.ts'
import { showValue } from '../history/initial.ts'
import { SymbolTable } from '../history/symbols.ts'
import type { Value } from '../history/values.ts'
import { impossibleTimes } from './session-times.ts'
import { type SpillSizes, Unspillable } from './spilled-history.ts'
import { hashBytes, putSymbol, roomFor, takeSymbol } from './symbol-code.ts'

const DONE = 0 // a transaction with that id
const PENDING = 1 // the same, whose end is told later; with its start
const NEXT = 2 // the start of the session's next one after it that has one
const ENDED = 3 // and from here on its status; with its finish
const TIME_BYTES = 8

export class TxnIds {
  isUsed = false
  private readonly streams: Streams
  private readonly pending: Value[] = [] // session -> id of its last one with a start, if pending
  private hasStarts = false
  private record = new Uint8Array(256)
  private readonly time = new Float64Array(1)
  private readonly timeBytes = new Uint8Array(this.time.buffer)

  constructor(
    scratch: Scratch,
    private readonly sizes: SpillSizes,
    private readonly isPlume: boolean,
  ) {
    this.streams = new Streams(scratch, sizes.buckets, Math.min(sizes.blockBytes, 1 << 12))
  }

  /** The next transaction of a session. @param start NaN if it is not known */
  add(txn: number, session: number, id: Value, start: number, isPending: boolean): void {
    if (!Number.isNaN(start)) {
      this.hasStarts = true
      const before = this.pending[session] ?? null
      // Later ones start no earlier than this one, so that it speaks for all.
      if (before !== null) this.put(before, NEXT, txn, start)
      while (this.pending.length <= session) this.pending.push(null)
      this.pending[session] = isPending ? id : null
    }
    if (id === null) return
    this.isUsed = true
    if (isPending) this.put(id, PENDING, txn, start)
    else this.put(id, DONE, txn)
  }

  end({ label, status, line, finish }: Outcome): void {
    this.put(label, ENDED + status, line, finish)
  }

  private put(id: Value, kind: number, number: number, time = Number.NaN): void {
    const room = roomFor(id) + 2 * MAX_INT_BYTES + TIME_BYTES
    if (room > this.record.length) this.record = new Uint8Array(2 * room)
    const { record } = this
    const idEnd = putSymbol(record, 0, id)
    const bucket = hashBytes(record, 0, idEnd) % this.sizes.buckets
    let end = putInt(record, putInt(record, idEnd, kind), number)
    if (kind !== DONE) {
      this.time[0] = time
      record.set(this.timeBytes, end)
      end += TIME_BYTES
    }
    this.streams.put(bucket, record.subarray(0, end))
  }

  /** @param onEnd called for each transaction that was pending and ended */
  settle(onEnd: (txn: number, status: number) => void): void {
    this.streams.finish()
    for (let bucket = 0; bucket < this.sizes.buckets; bucket++) this.settleBucket(bucket, onEnd)
    this.streams.close()
  }

  private settleBucket(bucket: number, onEnd: (txn: number, status: number) => void): void {
    const reader = new IntReader()
    const ids = new SymbolTable(0)
    const txnOf = new IntColumn(16) // id -> transaction
    const isPending = new ByteColumn(16) // id -> DONE or PENDING
    const startOf = new FloatColumn(16) // id -> start, if it was pending
    const nextOf = new FloatColumn(16) // id -> start of the next one of its session
    const finishOf = new FloatColumn(16) // id -> finish, if it was pending
    for (const block of this.streams.blocks(bucket)) {
      for (reader.load(block); !reader.isAtEnd; ) {
        const id = takeSymbol(reader, ids)
        const kind = reader.int()
        const number = reader.int()
        const time = kind === DONE ? Number.NaN : this.takeTime(reader)
        const isNew = id === txnOf.length
        if (kind === NEXT) {
          nextOf.data[id] = time
        } else if (kind < NEXT) {
          if (!isNew) throw this.usedTwice(ids.get(id))
          txnOf.push(number)
          isPending.push(kind)
          startOf.push(time)
          nextOf.push(Number.NaN)
          finishOf.push(Number.NaN)
        } else {
          if (isNew || isPending.data[id] === DONE) throw strayOutcome(isNew, number)
          isPending.data[id] = DONE
          finishOf.data[id] = time
          onEnd(txnOf.data[id]!, kind - ENDED)
        }
      }
    }
    for (let id = 0; id < txnOf.length; id++) {
      this.expectInTime(ids.get(id), startOf.data[id]!, finishOf.data[id]!, nextOf.data[id]!)
    }
  }

  private takeTime(reader: IntReader): number {
    this.timeBytes.set(reader.bytes.subarray(reader.at, reader.at + TIME_BYTES))
    reader.at += TIME_BYTES
    return this.time[0]!
  }

  /** Of those that were pending, as checkTimes of history/builder.ts has it. */
  private expectInTime(id: Value, start: number, finish: number, next: number): void {
    if (Number.isNaN(finish)) return
    if (Number.isNaN(start) && this.hasStarts) {
      throw new Unspillable('pending transactions have an end, but no start')
    }
    if (!(finish < start || next < finish)) return
    const what = finish < start ? 'before it started' : 'after the next one of its session started'
    const message = `transaction ${showValue(id)} ended at ${finish}, ${what}`
    throw impossibleTimes(message)
  }

  private usedTwice(id: Value): Error {
    const shown = showValue(id)
    if (this.isPlume) {
      return new Unspillable(`the lines of transaction ${shown} are far apart, or in two sessions`)
    }
    const message = `transaction id ${shown} is used twice`
    return new InputError('duplicate-id', message, null, 'ids name one transaction each')
  }
}

function strayOutcome(isNew: boolean, line: number): InputError {
  const place = { line, column: 1 }
  if (!isNew) return new InputError('duplicate-id', 'the transaction has an outcome already', place)
  const message = 'the outcome of a transaction which is not pending before this line'
  return new InputError('unknown-id', message, place, 'its pending line must come first')
}
