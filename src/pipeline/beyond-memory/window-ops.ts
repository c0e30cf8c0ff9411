// What the transactions of windows did, on disk by window: reads with whom they read from, writes,
// and who reads from the last writers of a window after it. Main class: WindowOps.

import { BudgetExceeded } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import type { Scratch } from '../../files/scratch.ts'
import { Streams } from '../../files/streams.ts'
import { IntReader, MAX_INT_BYTES, putInt, putSigned } from '../../files/varint.ts'
import { NONE } from '../../history/history.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import { type VersionVisitor, walkVersions } from './version-walk.ts'
import type { Window, WindowSet } from './windows.ts'

/** Bytes that a record takes in memory, for each that it has on disk, at most. */
const IN_MEMORY = 6

export const READS = 0 // the other is the source: a position, NONE for the initial state
export const WRITES = 1 // there is no other
export const READ_LATER = 2 // the other is a transaction after the window that reads what it wrote

/** The records of one window, in no particular order. */
export interface WindowRecords {
  readonly at: Int32Array // record -> position
  readonly kind: Int32Array
  readonly key: Int32Array
  readonly other: Int32Array // record -> position, or NONE
}

export class WindowOps implements VersionVisitor {
  private readonly streams: Streams
  private readonly batchOf: Int32Array // window -> stream
  private readonly windows: readonly Window[]
  private readonly mostBytes: number // of a batch on disk

  constructor(
    spilled: SpilledHistory,
    order: CommitOrder,
    private readonly set: WindowSet,
    scratch: Scratch,
    onBucket: (bucket: number) => void,
  ) {
    this.windows = set.windows
    this.mostBytes = spilled.sizes.windowBytes / IN_MEMORY
    const { buckets, blockBytes } = spilled.sizes
    this.batchOf = batches(this.windows, buckets)
    const count = (this.batchOf.at(-1) ?? 0) + 1
    this.streams = new Streams(scratch, count, Math.max(blockBytes, 5 * MAX_INT_BYTES))
    walkVersions(spilled, order, this, onBucket)
    this.streams.finish()
  }

  read(at: number, key: number, source: number, next: number): void {
    const window = this.set.at(at)
    if (window !== NONE) {
      const { first } = this.windows[window]!
      // What was overwritten before the window cannot be told from what is there when it begins.
      if (source >= first || next === NONE || next >= first) {
        this.put(window, at, READS, key, source)
      }
    }
    const by = this.set.at(source)
    if (by === NONE || by === window) return
    if (next === NONE || next > this.windows[by]!.last) this.put(by, source, READ_LATER, key, at)
  }

  write(at: number, key: number): void {
    const window = this.set.at(at)
    if (window !== NONE) this.put(window, at, WRITES, key, at)
  }

  private put(window: number, at: number, kind: number, key: number, other: number): void {
    const { streams, windows } = this
    const batch = this.batchOf[window]!
    let to = streams.room(batch, 5 * MAX_INT_BYTES)
    to = putInt(streams.bytes, to, window)
    to = putInt(streams.bytes, to, at - windows[window]!.first)
    to = putInt(streams.bytes, to, kind)
    to = putInt(streams.bytes, to, key)
    streams.end(batch, putSigned(streams.bytes, to, at - other))
  }

  /** The windows one after another, each with its records. */
  *all(): Generator<[number, WindowRecords]> {
    let from = 0
    for (let batch = 0; batch < this.streams.count; batch++) {
      let to = from
      while (to < this.windows.length && this.batchOf[to] === batch) to++
      const loaded = this.load(batch, from, to)
      for (let window = from; window < to; window++) yield [window, loaded[window - from]!]
      from = to
    }
  }

  private load(batch: number, from: number, to: number): WindowRecords[] {
    if (this.streams.sizeOf(batch) > this.mostBytes) {
      throw new BudgetExceeded(
        `what ${to - from} stretches of the order did does not fit into this memory`,
      )
    }
    const made = Array.from({ length: to - from }, () => [0, 1, 2, 3].map(() => new IntColumn(64)))
    const reader = new IntReader()
    for (const block of this.streams.blocks(batch)) {
      for (reader.load(block); !reader.isAtEnd; ) {
        const window = reader.int()
        const columns = made[window - from]!
        const at = this.windows[window]!.first + reader.int()
        columns[0]!.push(at)
        columns[1]!.push(reader.int())
        columns[2]!.push(reader.int())
        columns[3]!.push(at - reader.signed())
      }
    }
    return made.map(([at, kind, key, other]) => ({
      at: at!.view(),
      kind: kind!.view(),
      key: key!.view(),
      other: other!.view(),
    }))
  }

  close(): void {
    this.streams.close()
  }
}

/** Windows in groups of about as many transactions. */
function batches(windows: readonly Window[], most: number): Int32Array {
  let all = 0
  for (const { first, last } of windows) all += last - first + 1
  const size = Math.max(1, Math.ceil(all / most))
  const batchOf = new Int32Array(windows.length)
  let batch = 0
  let inBatch = 0
  for (const [window, { first, last }] of windows.entries()) {
    if (inBatch >= size) {
      batch++
      inBatch = 0
    }
    batchOf[window] = batch
    inBatch += last - first + 1
  }
  return batchOf
}
