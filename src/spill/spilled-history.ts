// A history on disk. Of each transaction a few bytes are in memory; operations lie on disk, in
// buckets by key, so that all that was done to a key is in one bucket. Transactions have the
// numbers that they would have in memory: the order in which the file first speaks of them.

import type { ByteColumn, IntColumn } from '../base/grow.ts'
import type { Streams } from '../files/streams.ts'
import type { PlainFile } from '../formats/pieces.ts'
import type { SymbolTable } from '../history/symbols.ts'
import type { Value } from '../history/values.ts'

/** A status beside those of history.ts: part of the initial transaction. */
export const INITIAL_PART = 3

/** How much memory may be used for what, and into how many parts things are cut. */
export interface SpillSizes {
  /** Bytes of text that are parsed at a time. */
  readonly pieceBytes: number
  /** Parts by key, and by place in the order. */
  readonly buckets: number
  /** Bytes on disk that a bucket may have; in memory they are about eight times as many. */
  readonly bucketBytes: number
  /** Bytes of a block on disk. */
  readonly blockBytes: number
  /** Bytes that what is loaded beside a bucket may take: graphs, clocks. */
  readonly windowBytes: number
}

export interface SpilledHistory {
  readonly file: PlainFile
  readonly sizes: SpillSizes
  readonly txnCount: number
  readonly opCount: number
  readonly sessions: SymbolTable
  readonly txnSession: IntColumn // txn -> session
  readonly txnStatus: ByteColumn // txn -> status, or INITIAL_PART
  /** txn -> 1 if it takes part in every order. Settled by whoever matches reads with writes. */
  txnCounts: Uint8Array
  readonly initial: Value | undefined
  readonly hasLabels: boolean
  readonly bucketKeys: Int32Array // bucket -> its keys; known once it was loaded
  readonly warnings: readonly string[]
  /** bucket -> operations, as they came: see partition.ts for the records. */
  readonly ops: Streams
}

/** The file cannot be judged beyond memory, and why. */
export class Unspillable extends Error {
  override readonly name = 'Unspillable'
}

/**
 * Sizes for a memory budget. What is parsed or loaded takes a few times the size of its text, and
 * several of the parts below are in memory at once.
 */
export function sizesFor(fileBytes: number, memoryBytes: number): SpillSizes {
  const free = Math.max(32 * 2 ** 20, memoryBytes - 96 * 2 ** 20)
  const buckets = Math.max(4, Math.min(1024, Math.ceil((fileBytes * 20) / free)))
  return {
    pieceBytes: Math.max(1 << 18, Math.min(1 << 23, Math.floor(free / 48))),
    buckets,
    bucketBytes: Math.floor(free / 8),
    blockBytes: Math.max(1 << 14, Math.min(1 << 17, Math.floor(free / 64 / buckets))),
    windowBytes: Math.floor(free / 4),
  }
}
