// The operations of a bucket as they lie on disk, one after another: the transaction as the step
// from the one before, its place there and kind in one number, the key, the value. Main class:
// OpRecords.

import { IntReader } from '../files/varint.ts'
import type { SpilledHistory } from './spilled-history.ts'
import { type SymbolSink, takeSymbol } from './symbol-code.ts'

export class OpRecords {
  txn = 0
  head = 0 // twice the place in the transaction, plus the kind
  key = 0 // number in the sink of keys
  value = 0 // number in the sink of values
  private readonly reader = new IntReader()
  private readonly blocks: Iterator<Uint8Array>

  constructor(
    { ops }: SpilledHistory,
    bucket: number,
    private readonly keys: SymbolSink,
    private readonly values: SymbolSink,
  ) {
    this.blocks = ops.blocks(bucket)
  }

  /** Goes on to the next one; false behind the last. */
  next(): boolean {
    const { reader } = this
    while (reader.isAtEnd) {
      const { done, value: block } = this.blocks.next()
      if (done) return false
      reader.load(block)
    }
    this.txn += reader.signed()
    this.head = reader.int()
    this.key = takeSymbol(reader, this.keys)
    this.value = takeSymbol(reader, this.values)
    return true
  }
}
