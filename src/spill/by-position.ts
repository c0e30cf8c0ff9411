// Records about readers, on disk by the reader's position in an order, so that they can be taken up
// again in that order, a range of positions at a time: whom a reader read from, and which of its
// reads were stale. A stale read comes with some of the writers that it skipped; who writes the
// records decides which. Main classes: ReaderRecords, ReaderRange.

import { IntColumn } from '../base/grow.ts'
import type { Scratch } from '../files/scratch.ts'
import { Streams } from '../files/streams.ts'
import { IntReader, MAX_INT_BYTES, putInt, putSigned } from '../files/varint.ts'
import { NONE } from '../history/history.ts'
import type { SpilledHistory } from './spilled-history.ts'

/** Where what is found of readers goes. */
export interface ReaderSink {
  /** The reader's operation saw a write of `source`; all are positions. */
  addSource(reader: number, op: number, source: number): void
  /** @param source NONE for the initial state */
  addStale(reader: number, op: number, source: number, skipped: IntColumn): void
}

export class ReaderRecords implements ReaderSink {
  readonly rangeSize: number
  readonly rangeCount: number
  sourceCount = 0
  staleCount = 0
  private readonly sources: Streams
  private readonly stales: Streams
  private record = new Uint8Array(256)
  private loaded: ReaderRange | null = null

  constructor({ txnCount, sizes }: SpilledHistory, scratch: Scratch) {
    this.rangeSize = Math.max(1, Math.ceil(txnCount / sizes.buckets))
    this.rangeCount = Math.max(1, Math.ceil(txnCount / this.rangeSize))
    this.sources = new Streams(scratch, this.rangeCount, sizes.blockBytes)
    this.stales = new Streams(scratch, this.rangeCount, Math.min(sizes.blockBytes, 1 << 12))
  }

  addSource(reader: number, op: number, source: number): void {
    this.sourceCount++
    const range = Math.floor(reader / this.rangeSize)
    let at = this.sources.room(range, 3 * MAX_INT_BYTES)
    const { bytes } = this.sources
    at = putInt(bytes, at, reader - range * this.rangeSize)
    at = putInt(bytes, at, op)
    this.sources.end(range, putSigned(bytes, at, reader - source))
  }

  addStale(reader: number, op: number, source: number, skipped: IntColumn): void {
    this.staleCount++
    const room = (skipped.length + 4) * MAX_INT_BYTES
    if (room > this.record.length) this.record = new Uint8Array(2 * room)
    const { record } = this
    const range = Math.floor(reader / this.rangeSize)
    let at = putInt(record, 0, reader - range * this.rangeSize)
    at = putInt(record, at, op)
    at = putInt(record, at, source + 1)
    at = putInt(record, at, skipped.length)
    for (let i = 0; i < skipped.length; i++) at = putInt(record, at, reader - skipped.data[i]!)
    this.stales.put(range, record.subarray(0, at))
  }

  finish(): void {
    this.sources.finish()
    this.stales.finish()
  }

  close(): void {
    this.loaded = null
    this.sources.close()
    this.stales.close()
  }

  hasStale(range: number): boolean {
    return this.stales.firstBlock(range) !== NONE
  }

  /** The records of a range. The last one stays at hand for whoever asks for it again. */
  load(range: number): ReaderRange {
    if (this.loaded?.start === range * this.rangeSize) return this.loaded
    this.loaded = null // so that two are never in memory
    this.loaded = this.read(range)
    return this.loaded
  }

  private read(range: number): ReaderRange {
    return new ReaderRange(range * this.rangeSize, this.rangeSize, (into) => {
      const reader = new IntReader()
      for (const block of this.sources.blocks(range)) {
        for (reader.load(block); !reader.isAtEnd; ) {
          const at = reader.int()
          const op = reader.int()
          into.addSource(at, op, into.start + at - reader.signed())
        }
      }
      for (const block of this.stales.blocks(range)) {
        for (reader.load(block); !reader.isAtEnd; ) {
          const at = reader.int()
          into.addStale(at, reader.int(), reader.int() - 1)
          for (let left = reader.int(); left > 0; left--) {
            into.skipped.push(into.start + at - reader.int())
          }
        }
      }
    })
  }
}

/** What was recorded of the readers at positions start … start + size - 1. */
export class ReaderRange {
  readonly headSource: Int32Array // reader - start -> its last source
  readonly sourceNext = new IntColumn() // source -> the reader's one before
  readonly sourceOp = new IntColumn() // source -> the operation
  readonly sourceAt = new IntColumn() // source -> position that it read from
  readonly headStale: Int32Array // reader - start -> its last stale read
  readonly staleNext = new IntColumn(16) // stale -> the reader's one before
  readonly staleOp = new IntColumn(16) // stale -> the operation
  readonly staleSource = new IntColumn(16) // stale -> position that it read from, or NONE
  readonly skippedStart = new IntColumn(16) // stale -> its first entry in `skipped`
  readonly skipped = new IntColumn(16) // positions of writers

  constructor(
    readonly start: number,
    size: number,
    fill: (into: ReaderRange) => void,
  ) {
    this.headSource = new Int32Array(size).fill(NONE)
    this.headStale = new Int32Array(size).fill(NONE)
    fill(this)
    this.skippedStart.push(this.skipped.length)
  }

  addSource(at: number, op: number, source: number): void {
    this.sourceNext.push(this.headSource[at]!)
    this.headSource[at] = this.sourceAt.length
    this.sourceOp.push(op)
    this.sourceAt.push(source)
  }

  /** What is pushed to `skipped` next is of this one. */
  addStale(at: number, op: number, source: number): void {
    this.staleNext.push(this.headStale[at]!)
    this.headStale[at] = this.staleOp.length
    this.staleOp.push(op)
    this.staleSource.push(source)
    this.skippedStart.push(this.skipped.length)
  }
}
