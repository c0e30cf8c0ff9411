// One pass over the buckets of a history on disk, in a given order of the transactions: which reads
// are unsound, which come before what they read, which are stale. A read is stale if somebody else
// wrote its key after what it saw and before the reader; only a stale read can force anything
// against the order (docs/beyond-memory.md). Main function: sweepBuckets.

import { BudgetExceeded } from '../../base/errors.ts'
import { IntColumn } from '../../base/grow.ts'
import { checkReads } from '../../check/reads/read-consistency.ts'
import type { Scratch } from '../../files/scratch.ts'
import { INITIAL, NONE, READ, WRITE } from '../../history/history.ts'
import { type Bucket, loadBucket } from '../../spill/bucket.ts'
import { ReaderRecords } from '../../spill/by-position.ts'
import { type CommitOrder, sortByPosition } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import type { SpilledLevel } from './levels.ts'

/** An unsound read. */
export interface Offence {
  readonly kind: number // index into OFFENCES of check/reads
  readonly txn: number
  readonly op: number // its place in the transaction
  readonly writer: number // transaction that wrote what it saw, or NONE
}

export interface Sweep {
  readonly offences: readonly Offence[]
  /** Whether a read comes before what it read. */
  readonly isLate: boolean
  /** Null if no read is stale or late: then the order is right as it is. */
  readonly records: ReaderRecords | null
}

/** How many unsound reads of a kind are kept as examples. */
const EXAMPLES = 8
/** Skipped writers that are written down for one read at most. */
const MAX_SKIPPED = 1 << 16

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
    first.visit(loadBucket(spilled, bucket))
    if (first.isLate || first.hasStale) break
  }
  if (!first.isLate && !first.hasStale) {
    return { offences: first.offences, isLate: false, records: null }
  }
  const records = new ReaderRecords(spilled, tools.scratch)
  const second = new BucketSweep(spilled, order, level, records)
  for (let bucket = 0; bucket < spilled.sizes.buckets; bucket++) {
    tools.onBucket(bucket)
    second.visit(loadBucket(spilled, bucket))
  }
  records.finish()
  return { offences: second.offences, isLate: second.isLate, records }
}

class BucketSweep {
  isLate = false
  hasStale = false
  readonly offences: Offence[] = []
  private readonly kept = new Map<number, number>() // kind of offence -> how many are kept
  private readonly skipped = new IntColumn(16)
  private readonly lastOf: Int32Array // session -> entry in `skipped` of its last writer, or NONE
  private writer = new IntColumn() // version -> transaction of the bucket
  private before = new IntColumn() // version -> the version before it, or NONE

  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
    private readonly level: SpilledLevel,
    private readonly records: ReaderRecords | null,
  ) {
    this.lastOf = new Int32Array(spilled.sessions.size).fill(NONE)
  }

  visit(bucket: Bucket): void {
    const { history, txns, opIndex } = bucket
    const { opSource, offendingOp, offendingKind } = checkReads(history)
    for (let i = 0; i < offendingOp.length; i++) {
      this.keepOffence(bucket, offendingOp[i]!, offendingKind[i]!)
    }
    const { records } = this
    const { position } = this.order
    const { txnOpStart, opKind, opKey, txnCounts } = history
    const latest = new Int32Array(history.keyCount).fill(NONE) // key -> its latest version
    const { writer, before } = this
    writer.length = 0
    before.length = 0
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
        if (sourceAt > at || version === NONE || writer.data[version] === source) continue
        this.hasStale = true
        if (records === null) return
        this.collectSkipped(txns, version, source, at)
        records.addStale(at, opIndex[op]!, source === INITIAL ? NONE : sourceAt, this.skipped)
      }
      for (let op = from; op < to; op++) {
        if (opKind[op] !== WRITE) continue
        const version = latest[opKey[op]!]!
        if (version !== NONE && writer.data[version] === txn) continue
        latest[opKey[op]!] = writer.length
        writer.push(txn)
        before.push(version)
      }
    }
  }

  private positionOf(txns: Int32Array, txn: number): number {
    if (txn === INITIAL) return NONE
    const whole = txns[txn]!
    const { position } = this.order
    return position === null ? whole : position[whole]!
  }

  /**
   * Fills `skipped` with positions of writers of the key after what the read saw. At cc of each
   * session the first and the last: causality reaches all up to some place in a session.
   */
  private collectSkipped(txns: Int32Array, from: number, source: number, reader: number): void {
    const { skipped, writer, before, lastOf } = this
    const { txnSession } = this.spilled
    const bySession = this.level === 'cc'
    skipped.length = 0
    for (let v = from; v !== NONE && writer.data[v] !== source; v = before.data[v]!) {
      const at = this.positionOf(txns, writer.data[v]!)
      if (!bySession) {
        skipped.push(at)
        if (skipped.length > MAX_SKIPPED) throw tooOld(reader)
        continue
      }
      const session = txnSession.data[txns[writer.data[v]!]!]!
      if (lastOf[session] === NONE) {
        lastOf[session] = skipped.length
        skipped.push(at)
        skipped.push(session)
      }
      // Walking back, so what comes last is the first.
      const entry = lastOf[session]!
      skipped.data[entry + 1] = -1 - at
    }
    if (bySession) this.settleSessions(txns, from, source)
  }

  /** From pairs of last and first writer to positions, each once. */
  private settleSessions(txns: Int32Array, from: number, source: number): void {
    const { skipped, writer, before, lastOf } = this
    const { txnSession } = this.spilled
    for (let v = from; v !== NONE && writer.data[v] !== source; v = before.data[v]!) {
      lastOf[txnSession.data[txns[writer.data[v]!]!]!] = NONE
    }
    let count = 0
    for (let i = 0; i < skipped.length; i += 2) {
      const last = skipped.data[i]!
      const first = -1 - skipped.data[i + 1]!
      skipped.data[count++] = last
      // No entry is overwritten before it was read: each pair yields at most two.
      if (first !== last) skipped.data[count++] = first
    }
    skipped.length = count
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

function tooOld(reader: number): BudgetExceeded {
  return new BudgetExceeded(
    `transaction ${reader + 1} in the order read a version that more than ${MAX_SKIPPED} others replaced, which is too old to be judged beyond memory`,
  )
}
