// The reads that missed newer versions: those whose writers had finished before the reader started,
// and took effect after what it saw for sure (moments.ts). Of each the version that had been there
// for the longest time, and how many there were.
//
// Key by key. Writers of a key are sorted by the beginning of their moments, so that those which
// the clock puts after a version are the last ones; of these one number, the earliest finish, says
// whether a read is stale at all. The others whose moments overlap are asked about one by one. How
// many a stale read missed is counted by sweeping over finishes with a tree of counts. O(n log n)
// and what the questions cost. Main class: MissedVersions.

import type { Deadline } from '../../base/deadline.ts'
import { firstWhere } from '../../base/search.ts'
import { COMMITTED, type History, INITIAL, NONE } from '../../history/history.ts'
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

export class MissedVersions {
  private readonly writers: KeyWriters
  private readonly finish: Float64Array // txn -> finish, never if it is not known to have committed
  private readonly readStart: Int32Array // key -> first slot in `reads`; one more at the end
  private readonly readsOf: Int32Array // slot -> sound read of another's version
  private readonly rank: Int32Array // txn -> its place among the writers of the key at hand

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly moments: Moments,
    private readonly deadline: Deadline,
  ) {
    const { txnCount, txnStatus, txnCounts, txnFinishTime, opCount, opKey, keyCount } = history
    this.writers = new KeyWriters(history)
    this.finish = new Float64Array(txnCount).fill(Number.POSITIVE_INFINITY)
    for (let txn = 0; txn < txnCount; txn++) {
      // There may be no times at all where nobody counts: what writes initial values needs none.
      if (!txnCounts[txn] || txnStatus[txn] !== COMMITTED) continue
      this.finish[txn] = txnFinishTime![txn]!
    }
    this.rank = new Int32Array(txnCount)
    const isRead = (op: number) => reads.opSource[op] !== NONE
    this.readStart = new Int32Array(keyCount + 1)
    for (let op = 0; op < opCount; op++) if (isRead(op)) this.readStart[opKey[op]! + 1]!++
    for (let key = 0; key < keyCount; key++) this.readStart[key + 1]! += this.readStart[key]!
    this.readsOf = new Int32Array(this.readStart[keyCount]!)
    const next = this.readStart.slice()
    for (let op = 0; op < opCount; op++) if (isRead(op)) this.readsOf[next[opKey[op]!]!++] = op
  }

  /** Every stale read, key by key. */
  find(): StaleRead[] {
    const stale: StaleRead[] = []
    for (let key = 0; key < this.history.keyCount; key++) {
      const reads = this.readsOf.subarray(this.readStart[key], this.readStart[key + 1])
      if (reads.length > 0) this.findIn(this.writersOf(key), reads, stale)
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
    const { opens } = this.moments
    const { start, txn } = this.writers
    return txn.slice(start[key], start[key + 1]).sort((a, b) => opens[a]! - opens[b]!)
  }

  private isNewer(txn: number, than: number): boolean {
    if (than === INITIAL) return true
    return this.moments.isOver(than, txn) || this.moments.comesBefore(than, txn)
  }

  private findIn(writers: Int32Array, reads: Int32Array, stale: StaleRead[]): void {
    const { opTxn, txnStartTime } = this.history
    const { finish, rank } = this
    const count = writers.length
    const earliest = new Float64Array(count + 1) // rank -> the earliest finish from there on
    earliest[count] = Number.POSITIVE_INFINITY
    for (let i = count - 1; i >= 0; i--) {
      rank[writers[i]!] = i
      earliest[i] = Math.min(earliest[i + 1]!, finish[writers[i]!]!)
    }
    // The last start among the readers of each version; the initial one stands at the end.
    const place = (source: number) => (source === INITIAL ? count : rank[source]!)
    const lastStart = new Float64Array(count + 1).fill(Number.NEGATIVE_INFINITY)
    for (const read of reads) {
      const at = place(this.reads.opSource[read]!)
      lastStart[at] = Math.max(lastStart[at]!, txnStartTime![opTxn[read]!]!)
    }
    const after = new Int32Array(count + 1) // version -> first rank that the clock puts after it
    const beside: number[][] = [] // version -> newer ones among those that overlap with it
    const since = new Float64Array(count + 1) // version -> the earliest finish of a newer one
    for (let at = 0; at <= count; at++) {
      if (lastStart[at] === Number.NEGATIVE_INFINITY) continue
      after[at] = at === count ? 0 : this.firstAfter(writers, writers[at]!)
      const newer = at === count ? [] : this.findBeside(writers, at, after[at]!, lastStart[at]!)
      beside[at] = newer
      since[at] = newer.reduce((least, txn) => Math.min(least, finish[txn]!), earliest[after[at]!]!)
    }
    const found = Array.from(reads).filter(
      (read) => since[place(this.reads.opSource[read]!)]! < txnStartTime![opTxn[read]!]!,
    )
    if (found.length === 0) return
    const counts = this.countAfter(
      writers,
      found,
      (read) => after[place(this.reads.opSource[read]!)]!,
    )
    found.forEach((read, i) => {
      const at = place(this.reads.opSource[read]!)
      const start = txnStartTime![opTxn[read]!]!
      const more = beside[at]!.filter((txn) => finish[txn]! < start)
      const oldest = this.oldestOf(writers.subarray(after[at]!), more, since[at]!)
      stale.push({ read, oldest, missed: counts[i]! + more.length })
    })
  }

  /** The first rank whose moment begins when that of a writer is over. */
  private firstAfter(writers: Int32Array, writer: number): number {
    const { opens, closes } = this.moments
    return firstWhere(0, writers.length, (rank) => opens[writers[rank]!]! > closes[writer]!)
  }

  /** Newer ones that the clock does not put after a version, and that some reader of it missed. */
  private findBeside(writers: Int32Array, at: number, end: number, start: number): number[] {
    const { opens, closes } = this.moments
    const version = writers[at]!
    const newer: number[] = []
    // What comes after a version begins no earlier, and is over no earlier.
    let first = at
    while (first > 0 && opens[writers[first - 1]!] === opens[version]) first--
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
    reads: readonly number[],
    fromRank: (read: number) => number,
  ): Int32Array {
    const { opTxn, txnStartTime } = this.history
    const { finish, rank } = this
    const start = (read: number) => txnStartTime![opTxn[read]!]!
    const byFinish = writers.slice().sort((a, b) => finish[a]! - finish[b]!)
    const tree = new Int32Array(writers.length + 1) // counts of ranks, as in a Fenwick tree
    const upTo = (end: number) => {
      let sum = 0
      for (let i = end; i > 0; i -= i & -i) sum += tree[i]!
      return sum
    }
    const counts = new Int32Array(reads.length)
    let done = 0
    const order = reads.map((_, i) => i).sort((a, b) => start(reads[a]!) - start(reads[b]!))
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
