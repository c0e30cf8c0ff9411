// What the session guarantees make visible to a read r of t3, besides whom t3 read from before r
// (docs/levels.md):
//   ryw  what comes before t3 in its session
//   mr   whom a transaction before t3 in its session read from
//   mw   what comes, in its session, before one whom t3 read from before r
//   wfr  whom a t4 read from, if t4 happens before, or is, one whom t3 read from before r
// Session order may go beyond sessions (history/session-reach.ts). Of those who read from one
// transaction only the first of each session is looked at: the others come after it. O(1), or
// readers of t2 by session, a question; at wfr as many questions about causality. Main class:
// Guarantees.

import { type History, NONE } from '../../history/history.ts'
import type { SessionReach } from '../../history/session-reach.ts'
import type { SessionGuarantee } from '../../levels/levels.ts'
import type { Causality } from '../order/causality.ts'
import type { KeyWriters } from '../order/key-writers.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

export interface GuaranteeSource {
  readonly history: History
  readonly reads: ReadCheck
  sessions(): SessionReach
  /** Keys from here on stand for session order (history/after-as-reads.ts). */
  readonly realKeyCount: number
  writers(): KeyWriters
  causality(): Causality
}

/** Why a transaction had to be visible to a read. */
export interface Sighting {
  /** Who read from it, mr and wfr; NONE else. */
  readonly first: number
  /** The read of the reader's own that led there, mw and wfr; NONE else. */
  readonly last: number
}

export class Guarantees {
  private readonly history: History
  private lazyReaders: FirstReaders | null = null

  constructor(private readonly source: GuaranteeSource) {
    this.history = source.history
  }

  /** Why the guarantee makes t2 visible to the read; null if it does not. */
  find(level: SessionGuarantee, t2: number, read: number): Sighting | null {
    const reader = this.history.opTxn[read]!
    switch (level) {
      case 'ryw':
        return this.isBefore(t2, reader) ? { first: NONE, last: NONE } : null
      case 'mr': {
        const first = this.findReader(t2, reader)
        return first === NONE ? null : { first, last: NONE }
      }
      case 'mw': {
        const last = this.findEarlier(read, (t4) => this.isBefore(t2, t4))
        return last === NONE ? null : { first: NONE, last }
      }
      case 'wfr':
        return this.findCause(t2, read)
    }
  }

  /**
   * Calls `visit` for every t2 other than the read's source that the guarantee makes visible and
   * that passes the filter; where it goes by sessions, for the last one of each.
   */
  forEach(
    level: SessionGuarantee,
    read: number,
    filter: (t2: number, source: number) => boolean,
    visit: (t2: number) => void,
  ): void {
    const { opTxn, opKey, txnSession } = this.history
    const writers = this.source.writers()
    const key = opKey[read]!
    const source = this.source.reads.opSource[read]!
    const isWorthy = (t2: number) => t2 !== source && t2 !== opTxn[read] && filter(t2, source)
    const found: number[] = []
    const end = writers.start[key + 1]!
    for (let slot = writers.start[key]!; slot < end; ) {
      const session = txnSession[writers.txn[slot]!]!
      if (level === 'ryw' || level === 'mw') {
        const count = this.countSeen(level, read, session)
        const t2 = writers.lastBefore(key, session, count, source)
        if (t2 !== NONE && isWorthy(t2)) found.push(t2)
        slot = writers.lowerBound(key, session + 1, 0)
      } else {
        const t2 = writers.txn[slot++]!
        if (isWorthy(t2) && this.find(level, t2, read) !== null) found.push(t2)
      }
    }
    // A visitor may ask further questions, which would disturb the search.
    for (const t2 of found) visit(t2)
  }

  /** How many transactions of a session the guarantee makes visible, if it is about sessions. */
  private countSeen(level: 'ryw' | 'mw', read: number, session: number): number {
    const sessions = this.source.sessions()
    if (level === 'ryw') return sessions.countBefore(this.history.opTxn[read]!, session)
    let count = 0
    this.findEarlier(read, (t4) => {
      count = Math.max(count, sessions.countBefore(t4, session))
      return false
    })
    return count
  }

  private isBefore(earlier: number, later: number): boolean {
    return this.source.sessions().isBefore(earlier, later)
  }

  /** A read of the same transaction before this one, from a transaction that fits. */
  private findEarlier(read: number, fits: (t4: number) => boolean): number {
    const { opTxn, txnOpStart } = this.history
    const { opSource } = this.source.reads
    for (let op = txnOpStart[opTxn[read]!]!; op < read; op++) {
      if (opSource[op]! >= 0 && fits(opSource[op]!)) return op
    }
    return NONE
  }

  /** A read from t2 by one that comes before the reader in its session. */
  private findReader(t2: number, reader: number): number {
    const { opTxn, txnSession } = this.history
    const readers = this.readers()
    if (!this.source.sessions().isWide) {
      const op = readers.inSession(t2, txnSession[reader]!)
      return op !== NONE && this.isBefore(opTxn[op]!, reader) ? op : NONE
    }
    return readers.of(t2).find((op) => this.isBefore(opTxn[op]!, reader)) ?? NONE
  }

  private findCause(t2: number, read: number): Sighting | null {
    const { opTxn } = this.history
    const causality = this.source.causality()
    for (const first of this.readers().of(t2)) {
      const t4 = opTxn[first]!
      const last = this.findEarlier(read, (seen) => seen === t4 || causality.before(t4, seen))
      if (last !== NONE) return { first, last }
    }
    return null
  }

  private readers(): FirstReaders {
    const { history, reads, realKeyCount } = this.source
    this.lazyReaders ??= new FirstReaders(history, reads, realKeyCount)
    return this.lazyReaders
  }
}

/** For each transaction, the first read from it of each session. */
class FirstReaders {
  private readonly start: Int32Array // txn -> its first entry; one more at the end
  private readonly read: Int32Array // entry -> read, by session

  constructor(
    private readonly history: History,
    { opSource }: ReadCheck,
    realKeyCount: number,
  ) {
    const { txnCount, opKey, sessionTxns, txnOpStart, txnSession } = history
    this.start = new Int32Array(txnCount + 1)
    const noted = new Int32Array(txnCount) // txn -> session that was last seen to read from it
    const forEachFirst = (visit: (source: number, read: number) => void) => {
      noted.fill(NONE)
      for (const txn of sessionTxns) {
        for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
          const source = opSource[op]!
          if (source < 0 || opKey[op]! >= realKeyCount) continue
          if (noted[source] === txnSession[txn]) continue
          noted[source] = txnSession[txn]!
          visit(source, op)
        }
      }
    }
    forEachFirst((source) => {
      this.start[source + 1]!++
    })
    for (let txn = 0; txn < txnCount; txn++) this.start[txn + 1]! += this.start[txn]!
    const next = this.start.slice()
    this.read = new Int32Array(this.start[txnCount]!)
    forEachFirst((source, read) => {
      this.read[next[source]!++] = read
    })
  }

  of(txn: number): Int32Array {
    return this.read.subarray(this.start[txn], this.start[txn + 1])
  }

  /** The first read from the transaction by one of the session, or NONE. */
  inSession(txn: number, session: number): number {
    const { opTxn, txnSession } = this.history
    let low = this.start[txn]!
    let high = this.start[txn + 1]!
    while (low < high) {
      const middle = (low + high) >>> 1
      if (txnSession[opTxn[this.read[middle]!]!]! < session) low = middle + 1
      else high = middle
    }
    const found = low < this.start[txn + 1]! ? this.read[low]! : NONE
    return found !== NONE && txnSession[opTxn[found]!] === session ? found : NONE
  }
}
