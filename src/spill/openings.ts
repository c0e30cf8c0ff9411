// Of each writer that somebody skipped: who was the last to do so, on disk by the writer's
// position. Main class: Openings.

import type { Scratch } from '../files/scratch.ts'
import { Streams } from '../files/streams.ts'
import { IntReader, MAX_INT_BYTES, putInt } from '../files/varint.ts'
import { NONE } from '../history/history.ts'
import type { ReaderRecords } from './by-position.ts'
import type { SpilledHistory } from './spilled-history.ts'

export class Openings {
  private readonly streams: Streams
  private readonly rangeSize: number

  constructor({ sizes }: SpilledHistory, records: ReaderRecords, scratch: Scratch) {
    const { rangeSize, rangeCount } = records
    this.rangeSize = rangeSize
    this.streams = new Streams(scratch, rangeCount, Math.min(sizes.blockBytes, 1 << 12))
    for (let range = 0; range < rangeCount; range++) {
      if (!records.hasStale(range)) continue
      const { headStale, staleNext, skipped, skippedStart, start } = records.load(range)
      for (let i = 0; i < headStale.length; i++) {
        for (let stale = headStale[i]!; stale !== NONE; stale = staleNext.data[stale]!) {
          for (let s = skippedStart.data[stale]!; s < skippedStart.data[stale + 1]!; s++) {
            this.put(skipped.data[s]!, start + i)
          }
        }
      }
    }
    this.streams.finish()
  }

  private put(writer: number, reader: number): void {
    const range = Math.floor(writer / this.rangeSize)
    let at = this.streams.room(range, 2 * MAX_INT_BYTES)
    at = putInt(this.streams.bytes, at, writer - range * this.rangeSize)
    this.streams.end(range, putInt(this.streams.bytes, at, reader - writer))
  }

  /** Writer less the range's first -> position of the last reader that skipped it, or NONE. */
  load(range: number): Int32Array {
    const lastReader = new Int32Array(this.rangeSize).fill(NONE)
    const reader = new IntReader()
    for (const block of this.streams.blocks(range)) {
      for (reader.load(block); !reader.isAtEnd; ) {
        const at = reader.int()
        const skippedBy = range * this.rangeSize + at + reader.int()
        if (skippedBy > lastReader[at]!) lastReader[at] = skippedBy
      }
    }
    return lastReader
  }

  close(): void {
    this.streams.close()
  }
}
