// Replays an order of a history on disk, a bucket at a time: every read of a transaction that
// counts must have its own latest write, or the last write of a transaction before it. It compares
// values, and knows nothing of who was found to have read from whom. Reads that did not see the
// latest version are written down with those they skipped: certify-on-disk.ts judges them. Main
// class: BucketReplay.

import { IntColumn } from '../base/grow.ts'
import { NONE, WRITE } from '../history/history.ts'
import type { LevelId } from '../levels/levels.ts'
import type { BucketOps } from './bucket-ops.ts'
import type { ReaderRecords } from './by-position.ts'
import type { CommitOrder } from './commit-order.ts'
import type { SpilledHistory } from './spilled-history.ts'

export class BucketReplay {
  readonly problems: string[] = []
  hasSkipped = false
  private readonly skipped = new IntColumn(16)
  private readonly oncePerSession: boolean // of a session only the first that was skipped matters
  private readonly withReplaced: boolean // whose version a write replaces counts as a source
  // Versions are the last writes of transactions to a key, numbered as they come.
  private readonly writer = new IntColumn() // version -> position
  private readonly written = new IntColumn() // version -> value
  private readonly before = new IntColumn() // version -> the key's version before it, or NONE

  constructor(
    private readonly spilled: SpilledHistory,
    private readonly order: CommitOrder,
    private readonly records: ReaderRecords | null,
    level: LevelId,
  ) {
    this.oncePerSession = level === 'cc'
    this.withReplaced = level === 'si'
  }

  replay({ count, keyCount, initial, txn, head, key, value }: BucketOps): void {
    const { writer, written, before } = this
    const { txnCounts } = this.spilled
    const { position } = this.order
    for (const column of [writer, written, before]) column.length = 0
    const latest = new Int32Array(keyCount).fill(NONE) // key -> its latest version
    for (let op = 0; op < count; op++) {
      const by = txn.data[op]!
      if (!txnCounts[by]) continue
      const at = position === null ? by : position[by]!
      const version = latest[key.data[op]!]!
      const isOwn = version !== NONE && writer.data[version] === at
      if (head.data[op]! % 2 === WRITE) {
        if (isOwn) {
          written.data[version] = value.data[op]!
          continue
        }
        if (this.withReplaced && version !== NONE) {
          this.records?.addSource(at, head.data[op]! >> 1, writer.data[version]!)
        }
        latest[key.data[op]!] = writer.length
        writer.push(at)
        written.push(value.data[op]!)
        before.push(version)
      } else if (isOwn) {
        if (written.data[version] !== value.data[op]) this.fail(at, 'did not read its own write')
      } else {
        this.takeRead(at, head.data[op]! >> 1, version, value.data[op]!, initial)
      }
    }
  }

  /** @param from the latest version of the key */
  private takeRead(reader: number, op: number, from: number, value: number, initial: number): void {
    const { records, writer, written, before } = this
    let seen = from
    while (seen !== NONE && written.data[seen] !== value) seen = before.data[seen]!
    if (seen === NONE && value !== initial) {
      this.fail(reader, 'read what nobody had written before it')
      return
    }
    const source = seen === NONE ? NONE : writer.data[seen]!
    if (source !== NONE) records?.addSource(reader, op, source)
    if (seen === from) return
    this.hasSkipped = true
    if (records === null) return
    this.collectSkipped(from, seen)
    records.addStale(reader, op, source, this.skipped)
  }

  /** Positions of those who wrote the key after what was seen. */
  private collectSkipped(from: number, seen: number): void {
    const { skipped, writer, before } = this
    const { txnAt } = this.order
    skipped.length = 0
    for (let later = from; later !== seen; later = before.data[later]!) {
      skipped.push(writer.data[later]!)
    }
    if (!this.oncePerSession) return
    // From the first on, which comes last.
    const met = new Set<number>()
    const all = skipped.view().slice().reverse()
    skipped.length = 0
    for (const at of all) {
      const session = this.spilled.txnSession.data[txnAt === null ? at : txnAt[at]!]!
      if (met.has(session)) continue
      met.add(session)
      skipped.push(at)
    }
  }

  private fail(at: number, what: string): void {
    if (this.problems.length < 8) this.problems.push(`the transaction at ${at} ${what}`)
  }
}
