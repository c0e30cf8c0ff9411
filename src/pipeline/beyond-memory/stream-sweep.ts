// One pass over a file as it stands, as the order to try: every read must have seen its own latest
// write or the last write of a transaction before it, and none may be forced to have seen another
// that it skipped. In memory are the last version of each key and some before it, one bit for each
// value that was written, and whom the last transactions read from. What is not so is NotStreamed:
// then the file is cut into buckets, which can tell anything. Main class: StreamSweep.

import { enlarged, IntColumn } from '../../base/grow.ts'
import { TOUCHED_OPS, touch } from '../../base/touch.ts'
import { ABORTED, COMMITTED, NONE, READ, WRITE } from '../../history/history.ts'
import { NotStreamed, type StreamPiece } from '../../spill/file-stream.ts'
import { NumberSet } from '../../spill/number-set.ts'
import type { SpillSizes } from '../../spill/spilled-history.ts'
import { SMALL } from '../../spill/symbol-code.ts'
import { isStrong, type SpilledLevel } from './levels.ts'
import { RecentSources } from './recent-sources.ts'
import { StaleReads } from './stale-reads.ts'

// Of each version.
const STRIDE = 4
const VALUE = 0
const WRITER = 1 // position, NONE before the first
const SESSION = 2 // of the writer
const BEFORE = 3 // the version before it in the log, NONE if there is none

/** How far back a stale read is followed. */
const MOST_SKIPPED = 1 << 12

export class StreamSweep {
  /** Transactions that violate the level by themselves; null as long as the order proves it. */
  violation: ReadonlySet<number> | null = null
  /** At si: the stale reads. */
  readonly stale: StaleReads
  private keys = new Int32Array(0) // key · STRIDE -> its last version
  /**
   * Likewise the one before it, which is not in the log: most reads that are stale where sessions
   * are side by side saw that one, and may come long after it was replaced. Null if it is.
   */
  private previous: Int32Array | null
  protected touched = 0
  private readonly log: Int32Array // version · STRIDE -> versions that were replaced
  private readonly logMask: number
  private logged = 0
  private readonly values: NumberSet // all that were written
  private isRising = true // every write so far was larger than the last one of its key
  private readonly sources: RecentSources
  private readonly lastOf = new IntColumn(16) // session -> its last transaction
  private readonly keyBytes: number

  // The transaction that is read.
  private at = NONE
  private session: number = NONE
  private status = COMMITTED
  private replaced: number = NONE // the last position that wrote a key before it that it writes too
  private readonly skipped = new IntColumn(16) // positions
  private readonly skippedSession = new IntColumn(16)
  private readonly skippedAfter = new IntColumn(16) // how many sources there were before the read
  private readonly skippedFor = new IntColumn(16) // position that was seen instead, or NONE

  constructor(
    private readonly level: SpilledLevel,
    sizes: SpillSizes,
    keepsPrevious = false,
  ) {
    const bytes = sizes.windowBytes
    this.previous = keepsPrevious ? new Int32Array(0) : null
    this.stale = new StaleReads(bytes / 4)
    let size = 16
    while (2 * size * STRIDE * 4 <= bytes / 4 && size < 1 << 20) size *= 2
    this.log = new Int32Array(size * STRIDE)
    this.logMask = size - 1
    this.values = new NumberSet(bytes / 2)
    this.sources = new RecentSources(bytes / 4)
    this.keyBytes = bytes
  }

  /** @param keysBytes what their names take */
  take(piece: StreamPiece, keyCount: number, keysBytes: number): void {
    this.growKeys(keyCount, keysBytes)
    const { builder, initial, first } = piece
    const { opCount } = builder
    const opTxn = builder.opTxn.data
    const opKind = builder.opKind.data
    const opKey = builder.opKey.data
    const opValue = builder.opValue.data
    const { keys, sources } = this
    for (let i = 0; i < opCount; i++) {
      if (i % TOUCHED_OPS === 0) {
        this.touched = touch(keys, STRIDE, opKey, i, Math.min(i + TOUCHED_OPS, opCount))
      }
      const txn = first + opTxn[i]!
      if (txn !== this.at) this.turnTo(txn, piece)
      const slot = opKey[i]! * STRIDE
      const value = opValue[i]!
      if (opKind[i] === WRITE) {
        this.write(slot, value, initial)
      } else if (opKind[i] !== READ) {
        throw new NotStreamed('lists')
      } else if (this.status === COMMITTED) {
        const writer = keys[slot + WRITER]!
        if (keys[slot + VALUE] === value && writer !== NONE) {
          if (writer !== txn) sources.add(writer)
        } else if (writer !== NONE || value !== initial) {
          this.takeOlder(slot, value, initial)
        }
      }
    }
    this.turnTo(first + piece.txnCount - 1, piece)
  }

  /** All was taken. */
  finish(): void {
    if (this.at !== NONE) this.end()
  }

  private growKeys(count: number, namesBytes: number): void {
    const known = this.keys.length
    if (count * STRIDE <= known) return
    const size = Math.ceil(count * 1.5) * STRIDE
    const tables = this.previous === null ? 1 : 2
    if (4 * tables * (size + known) + namesBytes > this.keyBytes) {
      throw new NotStreamed('too many keys')
    }
    this.keys = enlarged(this.keys, size, NONE)
    if (this.previous !== null) this.previous = enlarged(this.previous, size, NONE)
  }

  /** Ends those up to a transaction, and begins it. */
  private turnTo(txn: number, { first, txnSession, builder }: StreamPiece): void {
    if (txn < this.at) throw new NotStreamed('transactions that do not stand side by side')
    while (this.at < txn) {
      if (this.at !== NONE) this.end()
      this.at++
      this.session = txnSession[this.at - first]!
      this.status = builder.statusOf(this.at - first)
      if (this.status > ABORTED) throw new NotStreamed('indeterminate transactions')
      this.replaced = NONE
    }
  }

  private write(slot: number, value: number, initial: number): void {
    const { keys, at } = this
    if (value >= SMALL || value === initial) throw new NotStreamed('values that are not small')
    const writer = keys[slot + WRITER]!
    const isLarger = writer === NONE || value > keys[slot + VALUE]!
    if (this.values.add(value) !== true && !(this.isRising && isLarger)) {
      throw new NotStreamed('values that may be written twice')
    }
    if (!isLarger || this.status === ABORTED) this.isRising = false
    if (this.status === ABORTED) return
    if (writer !== at) {
      if (writer !== NONE) {
        if (writer > this.replaced) this.replaced = writer
        this.replace(slot)
      }
      keys[slot + WRITER] = at
      keys[slot + SESSION] = this.session
    }
    keys[slot + VALUE] = value // others see the last write only
  }

  /** The last version of a key goes to the log, or that which it replaced as the one before it. */
  private replace(slot: number): void {
    const { keys, previous } = this
    if (previous === null) {
      keys[slot + BEFORE] = this.put(keys, slot)
      return
    }
    const before = previous[slot + WRITER] === NONE ? NONE : this.put(previous, slot)
    for (let i = 0; i < STRIDE; i++) previous[slot + i] = keys[slot + i]!
    previous[slot + BEFORE] = before
  }

  /** Puts a version into the log. */
  private put(versions: Int32Array, slot: number): number {
    const { log } = this
    const version = this.logged++
    if (version > 0x7fff0000) throw new NotStreamed('too many writes')
    const to = (version & this.logMask) * STRIDE
    for (let i = 0; i < STRIDE; i++) log[to + i] = versions[slot + i]!
    return version
  }

  /** A read that did not see the last version. */
  private takeOlder(slot: number, value: number, initial: number): void {
    const { keys, previous, log, logMask, sources } = this
    if (keys[slot + WRITER] === this.at || keys[slot + WRITER] === NONE) {
      throw new NotStreamed('reads that are unsound, or come before what they read')
    }
    const after = sources.count
    this.skip(keys, slot, after)
    let left = MOST_SKIPPED
    let version = keys[slot + BEFORE]!
    if (previous !== null && previous[slot + WRITER] !== NONE) {
      if (previous[slot + VALUE] === value) {
        sources.add(previous[slot + WRITER]!)
        this.tellSeen(previous[slot + WRITER]!)
        return
      }
      this.skip(previous, slot, after)
      version = previous[slot + BEFORE]!
    }
    for (; version !== NONE; ) {
      if (this.logged - version > logMask || left-- === 0) throw new NotStreamed('old reads')
      const from = (version & logMask) * STRIDE
      if (log[from + VALUE] === value) {
        sources.add(log[from + WRITER]!)
        this.tellSeen(log[from + WRITER]!)
        return
      }
      this.skip(log, from, after)
      version = log[from + BEFORE]!
    }
    if (value !== initial) {
      throw new NotStreamed('reads that are unsound, or come before what they read')
    }
    this.tellSeen(NONE)
  }

  /** Of those skipped last: what was seen instead. */
  private tellSeen(source: number): void {
    while (this.skippedFor.length < this.skipped.length) this.skippedFor.push(source)
  }

  private skip(versions: Int32Array, at: number, after: number): void {
    this.skipped.push(versions[at + WRITER]!)
    this.skippedSession.push(versions[at + SESSION]!)
    this.skippedAfter.push(after)
  }

  private end(): void {
    const { sources, lastOf, session } = this
    sources.expectRoom()
    if (this.status === COMMITTED) {
      while (lastOf.length <= session) lastOf.push(NONE)
      const reads = sources.count
      const last = lastOf.data[session]!
      if (last !== NONE) sources.add(last)
      if (this.skipped.length > 0) this.judge(reads)
      lastOf.data[session] = this.at
    }
    sources.next()
  }

  /** @param reads where the transaction's sources end that it read from */
  private judge(reads: number): void {
    const { skipped, level, sources } = this
    // Once the level is violated, only what makes a file unsound matters.
    if (this.violation === null) {
      let isForced = level === 'ser'
      if (level === 'cc') isForced = sources.isReached(skipped)
      else if (level === 'si') isForced = this.isInSnapshot()
      else if (!isForced) isForced = skipped.view().some((_, i) => this.isRead(i, reads))
      if (isForced) this.violation = this.findViolation(reads)
      if (level === 'si') this.keepStale()
    }
    for (const column of [skipped, this.skippedSession, this.skippedAfter, this.skippedFor]) {
      column.length = 0
    }
  }

  /** One for the transaction: of what its reads skipped, the first matters. */
  private keepStale(): void {
    const { skipped, skippedFor, at } = this
    let first = 0
    for (let i = 1; i < skipped.length; i++) {
      if (skipped.data[i]! < skipped.data[first]!) first = i
    }
    this.stale.add(at, skippedFor.data[first]!, skipped.data[first]!)
  }

  /** At si: whether the snapshot has somebody who was skipped (docs/beyond-memory.md). */
  private isInSnapshot(): boolean {
    const { sources, skipped } = this
    let snapshot = this.replaced
    for (let i = sources.first; i < sources.count; i++) {
      snapshot = Math.max(snapshot, sources.get(i))
    }
    for (let i = 0; i < skipped.length; i++) if (skipped.data[i]! <= snapshot) return true
    return false
  }

  /** At rc and ra: whether it read from one whom it skipped, or that one is of its session. */
  private isRead(i: number, reads: number): boolean {
    const { sources, skipped, level } = this
    const isOwn = this.skippedSession.data[i] === this.session
    if (level === 'ra' && isOwn) return true
    const end = level === 'rc' ? this.skippedAfter.data[i]! : reads
    for (let s = sources.first; s < end; s++) {
      if (sources.get(s) === skipped.data[i]) return true
    }
    return false
  }

  /**
   * Whoever was skipped and had to be seen comes before what was seen instead: a cycle, if that one
   * leads to it by session order and reads-from, or is the initial state. If no such cycle shows,
   * another order may do.
   */
  private findViolation(reads: number): ReadonlySet<number> {
    const { skipped, level, sources, at } = this
    if (isStrong(level)) throw new NotStreamed('an order that is not right')
    for (let i = 0; i < skipped.length; i++) {
      const writer = skipped.data[i]!
      const reason = level === 'cc' ? sources.findPath(writer, at) : [writer, at]
      if (reason === null || (level !== 'cc' && !this.isRead(i, reads))) continue
      const seen = this.skippedFor.data[i]!
      const path = seen === NONE ? [] : sources.findPath(seen, writer)
      if (path !== null) return new Set([...path, ...reason])
    }
    throw new NotStreamed('an order that is not right')
  }
}
