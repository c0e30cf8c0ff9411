// One pass over the buckets of a history on disk, in a given order of the transactions: which reads
// are unsound, which come before what they read, which are stale. A read is stale if somebody else
// wrote its key after what it saw and before the reader; only a stale read can force anything
// against the order (docs/beyond-memory.md). Main function: sweepBuckets.

import { checkReads } from '../../check/reads/read-consistency.ts'
import type { Scratch } from '../../files/scratch.ts'
import { INITIAL, NONE, READ, WRITE } from '../../history/history.ts'
import { type Bucket, loadBucket } from '../../spill/bucket.ts'
import { ReaderRecords, type ReaderSink } from '../../spill/by-position.ts'
import { type CommitOrder, sortByPosition } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import type { SpilledLevel } from './levels.ts'
import { PlainSweep } from './plain-sweep.ts'
import { SkippedWriters, Versions } from './skipped-writers.ts'

/** An unsound read. */
export interface Offence {
  readonly kind: number // index into OFFENCES of check/reads
  readonly txn: number
  readonly op: number // its place in the transaction
  readonly writer: number // transaction that wrote what it saw, or NONE
}

export interface Sweep extends Sound {
  /** Null if no read is stale or late: then the order is right as it is. */
  readonly records: ReaderRecords | null
}

/** Whether reads are sound, and where they are. */
export interface Sound {
  readonly offences: readonly Offence[]
  /** Whether a read comes before what it read. */
  readonly isLate: boolean
}

/** How many unsound reads of a kind are kept as examples. */
const EXAMPLES = 8

export interface SweepTools {
  readonly scratch: Scratch
  /** Called for each bucket. */
  readonly onBucket: (bucket: number) => void
}

export function sweepBuckets(
  spilled: SpilledHistory,
  order: CommitOrder,
  level: SpilledLevel,
  tools: SweepTools,
): Sweep {
  // Most orders that are right are so without a stale read: then nothing needs to be written down.
  const first = new BucketSweep(spilled, order, level, null)
  for (let bucket = 0; bucket < spilled.sizes.buckets; bucket++) {
    tools.onBucket(bucket)
    first.visit(bucket)
    if (first.isLate || first.hasStale) break
  }
  if (!first.isLate && !first.hasStale) {
    return { offences: first.offences, isLate: false, records: null }
  }
  const records = new ReaderRecords(spilled, tools.scratch)
  try {
    const found = sweepInto(spilled, order, level, records, tools.onBucket)
    records.finish()
    return { ...found, records }
  } catch (error) {
    records.close()
    throw error
  }
}

/** The same, where all that is found goes elsewhere. */
export function sweepInto(
  spilled: SpilledHistory,
  order: CommitOrder,
  level: SpilledLevel,
  sink: ReaderSink,
  onBucket: (bucket: number) => void,
): Sound {
  const sweep = new BucketSweep(spilled, order, level, sink)
  for (let bucket = 0; bucket < spilled.sizes.buckets; bucket++) {
    onBucket(bucket)
    sweep.visit(bucket)
  }
  return { offences: sweep.offences, isLate: sweep.isLate }
}

class BucketSweep {
  isLate = false
  hasStale = false
  readonly offences: Offence[] = []
  private readonly kept = new Map<number, number>() // kind of offence -> how many are kept
  private readonly plain: PlainSweep
  private readonly skipped: SkippedWriters
  private readonly versions = new Versions()

  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
    level: SpilledLevel,
    private readonly records: ReaderSink | null,
  ) {
    this.plain = new PlainSweep(spilled, order, level, records)
    this.skipped = new SkippedWriters(spilled, order, level)
  }

  visit(bucket: number): void {
    const isPlain = this.plain.visit(bucket)
    if (this.plain.hasStale) this.hasStale = true
    if (!isPlain) this.visitHistory(loadBucket(this.spilled, bucket))
  }

  private visitHistory(bucket: Bucket): void {
    const { history, txns, opIndex } = bucket
    const { opSource, offendingOp, offendingKind } = checkReads(history)
    for (let i = 0; i < offendingOp.length; i++) {
      this.keepOffence(bucket, offendingOp[i]!, offendingKind[i]!)
    }
    const { records } = this
    const { position } = this.order
    const { txnOpStart, opKind, opKey, txnCounts } = history
    const latest = new Int32Array(history.keyCount).fill(NONE) // key -> its latest version
    const { versions, skipped } = this
    versions.clear()
    for (const txn of sortByPosition(txns, this.order)) {
      if (!txnCounts[txn]) continue
      const from = txnOpStart[txn]!
      const to = txnOpStart[txn + 1]!
      const at = position === null ? txns[txn]! : position[txns[txn]!]!
      for (let op = from; op < to; op++) {
        const source = opSource[op]!
        if (opKind[op] !== READ || source === NONE) continue
        const sourceAt = this.positionOf(txns, source)
        if (source !== INITIAL) {
          if (sourceAt > at) this.isLate = true
          records?.addSource(at, opIndex[op]!, sourceAt)
        }
        const version = latest[opKey[op]!]!
        if (sourceAt > at || version === NONE || versions.writer.data[version] === sourceAt)
          continue
        this.hasStale = true
        if (records === null) return
        skipped.collect(versions, version, sourceAt, at)
        records.addStale(at, opIndex[op]!, sourceAt, skipped.positions)
      }
      for (let op = from; op < to; op++) {
        if (opKind[op] !== WRITE) continue
        const version = latest[opKey[op]!]!
        if (version !== NONE && versions.writer.data[version] === at) continue
        latest[opKey[op]!] = versions.add(at, version)
      }
    }
  }

  private positionOf(txns: Int32Array, txn: number): number {
    if (txn === INITIAL) return NONE
    const whole = txns[txn]!
    const { position } = this.order
    return position === null ? whole : position[whole]!
  }

  private keepOffence({ history, txns, opIndex }: Bucket, op: number, kind: number): void {
    const kept = this.kept.get(kind) ?? 0
    if (kept === EXAMPLES) return
    this.kept.set(kind, kept + 1)
    const writer = history.readTxn[op]!
    this.offences.push({
      kind,
      txn: txns[history.opTxn[op]!]!,
      op: opIndex[op]!,
      writer: writer >= 0 ? txns[writer]! : NONE,
    })
  }
}
