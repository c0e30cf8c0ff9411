// A bucket in which all is as usual, in one pass along the order: every read saw the last write of
// a transaction before it, its own latest write, or the initial state, and no value was written
// twice. Where anything is not so, nothing is written down, and sweep.ts looks at the bucket as a
// history. Main class: PlainSweep.

import { IntColumn } from '../../base/grow.ts'
import { NONE, WRITE } from '../../history/history.ts'
import { BucketOps } from '../../spill/bucket-ops.ts'
import type { ReaderSink } from '../../spill/by-position.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import type { SpilledLevel } from './levels.ts'
import { MAX_SKIPPED, SkippedWriters, Versions } from './skipped-writers.ts'

const INITIAL_STATE = -1 // as NONE: no version
const OWN = -2 // not a version of another transaction
const UNSOUND = -3

export class PlainSweep {
  hasStale = false
  private readonly ops: BucketOps
  private readonly versions = new Versions()
  private readonly written = new IntColumn() // version -> value
  private readonly skipped: SkippedWriters
  private readonly reads = new IntColumn() // read -> op
  private readonly seen = new IntColumn() // read -> version that it saw, or INITIAL_STATE
  private readonly newest = new IntColumn() // read -> latest version of its key, or NONE

  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
    level: SpilledLevel,
    private readonly records: ReaderSink | null,
  ) {
    this.ops = new BucketOps(spilled, order)
    this.skipped = new SkippedWriters(spilled, order, level)
  }

  /** Whether all is as usual. */
  visit(bucket: number): boolean {
    this.ops.read(bucket)
    if (isWrittenTwice(this.ops) || !this.match()) return false
    this.spilled.bucketKeys[bucket] = this.ops.keyCount
    this.writeDown()
    return true
  }

  /** Finds what reads of transactions that count saw; false where one is unsound, or late. */
  private match(): boolean {
    const { versions, written, reads, seen, newest } = this
    const { count, keyCount, initial } = this.ops
    const txn = this.ops.txn.data
    const head = this.ops.head.data
    const key = this.ops.key.data
    const value = this.ops.value.data
    const { txnCounts } = this.spilled
    const { position } = this.order
    versions.clear()
    for (const column of [written, reads, seen, newest]) column.length = 0
    const latest = new Int32Array(keyCount).fill(NONE) // key -> its latest version
    for (let op = 0; op < count; op++) {
      const by = txn[op]!
      const isWrite = head[op]! % 2 === WRITE
      if (isWrite && value[op] === initial) return false
      if (!txnCounts[by]) continue
      const at = position === null ? by : position[by]!
      const version = latest[key[op]!]!
      const isOwn = version !== NONE && versions.writer.data[version] === at
      if (!isWrite) {
        const saw = this.find(value[op]!, version, isOwn, initial)
        if (saw === UNSOUND) return false
        if (saw === OWN) continue
        reads.push(op)
        seen.push(saw)
        newest.push(version)
      } else if (isOwn) {
        written.data[version] = value[op]! // others see the last write only
      } else {
        latest[key[op]!] = versions.add(at, version)
        written.push(value[op]!)
      }
    }
    return true
  }

  private find(value: number, latest: number, isOwn: boolean, initial: number): number {
    const written = this.written.data
    const before = this.versions.before.data
    if (isOwn) return written[latest] === value ? OWN : UNSOUND
    let left = MAX_SKIPPED
    let version = latest
    while (version !== NONE && written[version] !== value) {
      if (left-- === 0) return UNSOUND // or too old, which is the other's matter
      version = before[version]!
    }
    if (version !== NONE) return version
    return value === initial ? INITIAL_STATE : UNSOUND
  }

  private writeDown(): void {
    const { reads, seen, newest, ops, records, versions, skipped } = this
    const { position } = this.order
    for (let read = 0; read < reads.length; read++) {
      const op = reads.data[read]!
      const version = seen.data[read]!
      if (records === null) {
        if (version === newest.data[read]) continue
        this.hasStale = true
        return
      }
      const by = ops.txn.data[op]!
      const at = position === null ? by : position[by]!
      const index = ops.head.data[op]! >> 1
      const source = version === INITIAL_STATE ? NONE : versions.writer.data[version]!
      if (source !== NONE) records.addSource(at, index, source)
      if (version === newest.data[read]) continue
      this.hasStale = true
      skipped.collect(versions, newest.data[read]!, source, at)
      records.addStale(at, index, source, skipped.positions)
    }
  }
}

/** Whether two writes of a key have one value, whoever made them. */
function isWrittenTwice({ count, head: heads, key: keys, value: values }: BucketOps): boolean {
  const head = heads.data
  const key = keys.data
  const value = values.data
  let writes = 0
  for (let op = 0; op < count; op++) writes += head[op]! % 2 === WRITE ? 1 : 0
  let size = 64
  while (size < 2 * writes) size *= 2
  const slots = new Int32Array(size) // 1 + op
  const mask = size - 1
  for (let op = 0; op < count; op++) {
    if (head[op]! % 2 !== WRITE) continue
    const hash = Math.imul(Math.imul(key[op]!, 0x9e3779b1) ^ value[op]!, 0x85ebca6b)
    let slot = (hash ^ (hash >>> 15)) & mask
    for (let other = slots[slot]!; other !== 0; other = slots[slot]!) {
      if (value[other - 1] === value[op] && key[other - 1] === key[op]) return true
      slot = (slot + 1) & mask
    }
    slots[slot] = op + 1
  }
  return false
}
