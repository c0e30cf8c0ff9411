// The stale reads of an order, in memory: who read, whom it read from, and the first that wrote the
// key after that. Where they are too many, those met first are kept. Main class: StaleReads.

import { IntColumn } from '../../base/grow.ts'
import type { ReaderSink } from '../../spill/by-position.ts'

const BYTES_EACH = 24 // as columns that grow

export class StaleReads implements ReaderSink {
  readonly reader = new IntColumn() // stale read -> position of its transaction
  readonly source = new IntColumn() // stale read -> position that it read from, or NONE
  readonly next = new IntColumn() // stale read -> position of the first writer that it skipped
  isComplete = true
  private readonly most: number

  /** @param bytes that they may take */
  constructor(bytes: number) {
    this.most = Math.max(16, Math.floor(bytes / BYTES_EACH))
  }

  get count(): number {
    return this.reader.length
  }

  /** Reads that are not stale matter to nobody here. */
  addSource(): void {}

  addStale(reader: number, _op: number, source: number, skipped: IntColumn): void {
    this.add(reader, source, skipped.data[0]!) // the first, at these levels
  }

  add(reader: number, source: number, next: number): void {
    if (this.count === this.most) {
      this.isComplete = false
      return
    }
    this.reader.push(reader)
    this.source.push(source)
    this.next.push(next)
  }
}
