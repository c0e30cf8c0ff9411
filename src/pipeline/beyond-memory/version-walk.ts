// All that was done to each key, along an order in which every read is sound and comes after what
// it read, as sweep.ts found: reads with the version that they saw and the one after it, and the
// first write of each transaction with the version before it. Main function: walkVersions.

import { NONE, WRITE } from '../../history/history.ts'
import { BucketOps } from '../../spill/bucket-ops.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { SpilledHistory } from '../../spill/spilled-history.ts'
import { Versions } from './skipped-writers.ts'

export interface VersionVisitor {
  /**
   * A read of what another transaction wrote, or of the initial state (`source` NONE).
   * @param next position of the first writer after that and before the reader, or NONE
   */
  read(at: number, key: number, source: number, next: number): void
  /** @param before position of the key's last writer before that, or NONE */
  write(at: number, key: number, before: number): void
}

/** Keys have numbers of their own, bucket after bucket. */
export function walkVersions(
  spilled: SpilledHistory,
  order: CommitOrder,
  visitor: VersionVisitor,
  onBucket: (bucket: number) => void,
): void {
  const ops = new BucketOps(spilled, order)
  let keysBefore = 0
  for (let bucket = 0; bucket < spilled.sizes.buckets; bucket++) {
    onBucket(bucket)
    ops.read(bucket)
    walkBucket(spilled, order, ops, keysBefore, visitor)
    keysBefore += ops.keyCount
  }
}

function walkBucket(
  { txnCounts }: SpilledHistory,
  { position }: CommitOrder,
  ops: BucketOps,
  keysBefore: number,
  visitor: VersionVisitor,
): void {
  const { count } = ops
  const txn = ops.txn.data
  const head = ops.head.data
  const keys = ops.key.data
  const values = ops.value.data
  const versions = new Versions()
  const written = new Int32Array(count) // version -> value
  const latest = new Int32Array(ops.keyCount).fill(NONE) // key -> its latest version
  for (let op = 0; op < count; op++) {
    const by = txn[op]!
    if (!txnCounts[by]) continue
    const at = position === null ? by : position[by]!
    const key = keys[op]!
    const last = latest[key]!
    const isOwn = last !== NONE && versions.writer.data[last] === at
    if (head[op]! % 2 === WRITE) {
      if (isOwn) {
        written[last] = values[op]! // others see the last write only
        continue
      }
      const version = versions.add(at, last)
      latest[key] = version
      written[version] = values[op]!
      visitor.write(at, keysBefore + key, last === NONE ? NONE : versions.writer.data[last]!)
    } else if (!isOwn) {
      let next: number = NONE
      let seen = last
      while (seen !== NONE && written[seen] !== values[op]) {
        next = versions.writer.data[seen]!
        seen = versions.before.data[seen]!
      }
      visitor.read(at, keysBefore + key, seen === NONE ? NONE : versions.writer.data[seen]!, next)
    }
  }
}
