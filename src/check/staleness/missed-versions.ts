// The reads that missed newer versions: those whose writers had finished before the reader started,
// and took effect after what it saw for sure (moments.ts). Of each the version that had been there
// for the longest time, and how many there were.
//
// Most reads saw what was the latest for sure when they started, and are left out in one pass
// through time. The others go key by key. Writers of a key are sorted by the beginning of their
// moments, so that those which the clock puts after a version are the last ones; of these one
// number, the earliest finish, says whether a read is stale at all. The others whose moments
// overlap are asked about one by one. How many a stale read missed is counted by sweeping over
// finishes with a tree of counts. What is known of the versions of one key stands in columns that
// the next key uses again. O(n log n) and what the questions cost. Main class: MissedVersions.

import type { Deadline } from '../../base/deadline.ts'
import { placesByValue } from '../../base/places.ts'
import { lowerBound } from '../../base/search.ts'
import { COMMITTED, type History, INITIAL, NONE, writeMask } from '../../history/history.ts'
import { KeyWriters } from '../order/key-writers.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import type { Moments } from './moments.ts'

export interface StaleRead {
  readonly read: number
  /** Whose version it missed that had been there for the longest time. */
  readonly oldest: number
  /** How many newer versions had been there. */
  readonly missed: number
}

const NOBODY: readonly number[] = []

export class MissedVersions {
  private readonly writers: KeyWriters // of each key by the beginning of their moments
  private readonly finish: Float64Array // txn -> finish, never if it is not known to have committed
  private readonly readStart: Int32Array // key -> first slot in `reads`; one more at the end
  private readonly readsOf: Int32Array // slot -> sound read that may have missed something
  private readonly sourceOf: Int32Array // slot -> who wrote what it saw, or INITIAL
  private readonly startOf: Float64Array // slot -> start of its transaction
  private readonly rank: Int32Array // txn -> its place among the writers of the key at hand
  // Of the key at hand, by rank; the initial version stands at the end.
  private readonly opens: Float64Array // when the moment begins
  private readonly earliest: Float64Array // the earliest finish from there on
  private readonly lastStart: Float64Array // version -> the last start among its readers
  private readonly after: Int32Array // version -> first rank that the clock puts after it
  private readonly since: Float64Array // version -> the earliest finish of a newer one

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly moments: Moments,
    private readonly deadline: Deadline,
  ) {
    const { txnCount, txnStatus, txnCounts, opCount, opKey, opTxn, keyCount } = history
    const { txnStartTime, txnFinishTime } = history
    this.writers = new KeyWriters(history, placesByValue(moments.opens))
    this.finish = new Float64Array(txnCount).fill(Number.POSITIVE_INFINITY)
    for (let txn = 0; txn < txnCount; txn++) {
      // There may be no times at all where nobody counts: what writes initial values needs none.
      if (!txnCounts[txn] || txnStatus[txn] !== COMMITTED) continue
      this.finish[txn] = txnFinishTime![txn]!
    }
    this.rank = new Int32Array(txnCount)
    const isOpen = this.findOpen()
    this.readStart = new Int32Array(keyCount + 1)
    for (let op = 0; op < opCount; op++) if (isOpen[op]) this.readStart[opKey[op]! + 1]!++
    for (let key = 0; key < keyCount; key++) this.readStart[key + 1]! += this.readStart[key]!
    this.readsOf = new Int32Array(this.readStart[keyCount]!)
    this.sourceOf = new Int32Array(this.readsOf.length)
    this.startOf = new Float64Array(this.readsOf.length)
    const next = this.readStart.slice()
    for (let op = 0; op < opCount; op++) {
      if (!isOpen[op]) continue
      const slot = next[opKey[op]!]!++
      this.readsOf[slot] = op
      this.sourceOf[slot] = reads.opSource[op]!
      this.startOf[slot] = txnStartTime![opTxn[op]!]!
    }
    const { start } = this.writers
    let most = 0
    for (let key = 0; key < keyCount; key++) most = Math.max(most, start[key + 1]! - start[key]!)
    this.opens = new Float64Array(most)
    this.earliest = new Float64Array(most + 1)
    this.lastStart = new Float64Array(most + 1)
    this.after = new Int32Array(most + 1)
    this.since = new Float64Array(most + 1)
  }

  /**
   * read -> 1 if it may have missed something: but for those who saw who finished last when they
   * started, if that one started when all others that write the key and had finished were over.
   * Whoever is newer than a version cannot have finished before that was begun.
   */
  private findOpen(): Uint8Array {
    const { keyCount, opCount, opKind, opKey, txnOpStart, txnStartTime, txnCount } = this.history
    const { opSource } = this.reads
    const { finish } = this
    const isOpen = new Uint8Array(opCount)
    if (txnStartTime === null) return isOpen // nobody counts
    const last = new Int32Array(keyCount).fill(INITIAL) // key -> whose version is safe to see
    const lastFinish = new Float64Array(keyCount).fill(Number.NEGATIVE_INFINITY)
    const byFinish = placesByValue(finish)
    let over = 0
    for (const reader of placesByValue(txnStartTime)) {
      this.deadline.step(1)
      for (; over < txnCount && finish[byFinish[over]!]! < txnStartTime[reader]!; over++) {
        const txn = byFinish[over]!
        for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
          const key = opKey[op]!
          if (writeMask(opKind[op]!) === 0 || last[key] === txn) continue
          last[key] = lastFinish[key]! < txnStartTime[txn]! ? txn : NONE
          lastFinish[key] = finish[txn]!
        }
      }
      for (let op = txnOpStart[reader]!; op < txnOpStart[reader + 1]!; op++) {
        if (opSource[op] !== NONE && opSource[op] !== last[opKey[op]!]) isOpen[op] = 1
      }
    }
    return isOpen
  }

  /** Every stale read, key by key. */
  find(): StaleRead[] {
    const stale: StaleRead[] = []
    for (let key = 0; key < this.history.keyCount; key++) {
      const [from, to] = [this.readStart[key]!, this.readStart[key + 1]!]
      if (from < to) this.findIn(this.writersOf(key), from, to, stale)
    }
    return stale
  }

  /** Whose versions a read missed, the longest there first. */
  missedBy(read: number): number[] {
    const { opTxn, opKey, txnStartTime } = this.history
    const source = this.reads.opSource[read]!
    const start = txnStartTime![opTxn[read]!]!
    const { finish } = this
    return Array.from(this.writersOf(opKey[read]!))
      .filter((txn) => txn !== source && finish[txn]! < start && this.isNewer(txn, source))
      .sort((a, b) => finish[a]! - finish[b]! || a - b)
  }

  /** Writers of a key by the beginning of their moments. */
  private writersOf(key: number): Int32Array {
    const { start, txn } = this.writers
    return txn.subarray(start[key], start[key + 1])
  }

  private isNewer(txn: number, than: number): boolean {
    if (than === INITIAL) return true
    return this.moments.isOver(than, txn) || this.moments.comesBefore(than, txn)
  }

  /** Of the reads in some slots, which are all of a key. */
  private findIn(writers: Int32Array, from: number, to: number, stale: StaleRead[]): void {
    const { opSource } = this.reads
    const { finish, rank, opens, earliest, lastStart, after, since, readsOf, sourceOf, startOf } =
      this
    const count = writers.length
    earliest[count] = Number.POSITIVE_INFINITY
    for (let i = count - 1; i >= 0; i--) {
      const txn = writers[i]!
      rank[txn] = i
      opens[i] = this.moments.opens[txn]!
      earliest[i] = Math.min(earliest[i + 1]!, finish[txn]!)
    }
    lastStart.fill(Number.NEGATIVE_INFINITY, 0, count + 1)
    for (let slot = from; slot < to; slot++) {
      const source = sourceOf[slot]!
      const at = source === INITIAL ? count : rank[source]!
      if (startOf[slot]! > lastStart[at]!) lastStart[at] = startOf[slot]!
    }
    const beside = new Map<number, readonly number[]>() // version -> newer ones that overlap
    let isStale = false
    for (let at = 0; at <= count; at++) {
      if (lastStart[at] === Number.NEGATIVE_INFINITY) continue
      after[at] = at === count ? 0 : this.firstAfter(writers[at]!, at, count)
      since[at] = earliest[after[at]!]!
      const newer = at === count ? NOBODY : this.findBeside(writers, at)
      if (newer.length > 0) beside.set(at, newer)
      for (const txn of newer) since[at] = Math.min(since[at]!, finish[txn]!)
      isStale ||= since[at]! < lastStart[at]!
    }
    if (!isStale) return
    const place = (read: number) => {
      const source = opSource[read]!
      return source === INITIAL ? count : rank[source]!
    }
    const startTime = (read: number) => this.history.txnStartTime![this.history.opTxn[read]!]!
    const found = readsOf.subarray(from, to).filter((read) => since[place(read)]! < startTime(read))
    const counts = this.countAfter(writers, found, (read) => after[place(read)]!)
    for (let i = 0; i < found.length; i++) {
      const read = found[i]!
      const at = place(read)
      const start = startTime(read)
      const more = (beside.get(at) ?? NOBODY).filter((txn) => finish[txn]! < start)
      const oldest = this.oldestOf(writers.subarray(after[at]!), more, since[at]!)
      stale.push({ read, oldest, missed: counts[i]! + more.length })
    }
  }

  /** The first rank whose moment begins when that of a writer is over, which cannot be before its own. */
  private firstAfter(writer: number, rank: number, count: number): number {
    const { opens } = this
    const close = this.moments.closes[writer]!
    // Few overlap: those are gone through, and only where there are many it is worth to leap.
    const near = Math.min(count, rank + 8)
    let first = rank
    while (first < near && opens[first]! < close) first++
    if (first === near) first = lowerBound(opens, close, near, count)
    while (first < count && this.opens[first] === close) first++
    return first
  }

  /** Newer ones that the clock does not put after a version, and that some reader of it missed. */
  private findBeside(writers: Int32Array, at: number): readonly number[] {
    const { closes } = this.moments
    const { opens } = this
    const version = writers[at]!
    const [end, start] = [this.after[at]!, this.lastStart[at]!]
    const newer: number[] = []
    // What comes after a version begins no earlier, and is over no earlier.
    let first = at
    while (first > 0 && opens[first - 1] === opens[at]) first--
    for (let i = first; i < end; i++) {
      const txn = writers[i]!
      this.deadline.step(1)
      if (txn === version || this.finish[txn]! >= start || closes[txn]! < closes[version]!) continue
      if (this.moments.comesBefore(version, txn)) newer.push(txn)
    }
    return newer
  }

  /** For each read, how many writers from a rank on had finished when its transaction started. */
  private countAfter(
    writers: Int32Array,
    reads: Int32Array,
    fromRank: (read: number) => number,
  ): Int32Array {
    const { opTxn, txnStartTime } = this.history
    const { finish, rank } = this
    const start = (read: number) => txnStartTime![opTxn[read]!]!
    const finishes = Float64Array.from(writers, (txn) => finish[txn]!)
    const byFinish = placesByValue(finishes).map((place) => writers[place]!)
    const tree = new Int32Array(writers.length + 1) // counts of ranks, as in a Fenwick tree
    const upTo = (end: number) => {
      let sum = 0
      for (let i = end; i > 0; i -= i & -i) sum += tree[i]!
      return sum
    }
    const counts = new Int32Array(reads.length)
    let done = 0
    const order = placesByValue(Float64Array.from(reads, start))
    for (const i of order) {
      this.deadline.step(1)
      while (done < byFinish.length && finish[byFinish[done]!]! < start(reads[i]!)) {
        for (let at = rank[byFinish[done++]!]! + 1; at <= writers.length; at += at & -at)
          tree[at]!++
      }
      counts[i] = done - upTo(fromRank(reads[i]!))
    }
    return counts
  }

  /** Whose finish it is. */
  private oldestOf(later: Int32Array, beside: readonly number[], finish: number): number {
    const is = (txn: number) => this.finish[txn] === finish
    return beside.find(is) ?? later.find(is)!
  }
}
