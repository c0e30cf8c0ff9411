// Which transactions a weak level requires to be visible to a read. For a read r of x by t3 these
// are the t2 that write x and satisfy the level's premise (definitions, table of levels):
//   rc  t3 read from t2 before r           (AWDIT, Algorithm 1)
//   ra  t2 is so- or wr-before t3          (AWDIT, Algorithm 2)
//   cc  t2 happens before t3               (AWDIT, Algorithm 3)
// Of one session only the last such t2 is named: the others are before it in session order, so what
// holds for it holds for them. Main class: Premises.

import { type History, NONE } from '../../history/history.ts'
import type { CausalClocks } from '../order/causal-clocks.ts'
import type { KeyWriters } from '../order/key-writers.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

export type WeakLevel = 'rc' | 'ra' | 'cc'

/** Decides, before any further test, whether a candidate is worth naming. */
export type Filter = (t2: number, source: number) => boolean

export class Premises {
  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly writers: () => KeyWriters,
    private readonly clocks: () => CausalClocks,
  ) {}

  /** Calls `visit` for every required t2 other than the read's source that passes the filter. */
  forEach(level: WeakLevel, read: number, filter: Filter, visit: (t2: number) => void): void {
    this.throughReads(level, read, filter, visit)
    if (level === 'ra') this.throughSession(read, filter, visit)
    else if (level === 'cc') this.throughCauses(read, filter, visit)
  }

  private throughReads(
    level: WeakLevel,
    read: number,
    filter: Filter,
    visit: (t2: number) => void,
  ): void {
    const { opTxn, opKey, txnOpStart } = this.history
    const { opSource } = this.reads
    const reader = opTxn[read]!
    const source = opSource[read]!
    const key = opKey[read]!
    const end = level === 'rc' ? read : txnOpStart[reader + 1]!
    for (let op = txnOpStart[reader]!; op < end; op++) {
      const t2 = opSource[op]!
      if (t2 < 0 || t2 === source || !filter(t2, source)) continue
      if (this.writers().writes(t2, key)) visit(t2)
    }
  }

  private throughSession(read: number, filter: Filter, visit: (t2: number) => void): void {
    const { opTxn, opKey, txnSession, txnIndex } = this.history
    const reader = opTxn[read]!
    const source = this.reads.opSource[read]!
    const t2 = this.lastOf(opKey[read]!, txnSession[reader]!, txnIndex[reader]!, source)
    if (t2 !== NONE && filter(t2, source)) visit(t2)
  }

  /**
   * The last of the session's first `count` transactions, but for `source`, that writes the key.
   */
  private lastOf(key: number, session: number, count: number, source: number): number {
    const writers = this.writers()
    const last = writers.lastBefore(key, session, count)
    if (last === NONE || last !== source) return last
    return writers.lastBefore(key, session, this.history.txnIndex[source]!)
  }

  private throughCauses(read: number, filter: Filter, visit: (t2: number) => void): void {
    const { opTxn, opKey, txnSession, txnIndex } = this.history
    const writers = this.writers()
    const clocks = this.clocks()
    const reader = opTxn[read]!
    const source = this.reads.opSource[read]!
    const key = opKey[read]!
    const own = txnSession[reader]!
    const end = writers.start[key + 1]!
    let slot = writers.start[key]!
    while (slot < end) {
      const session = txnSession[writers.txn[slot]!]!
      const seen = session === own ? txnIndex[reader]! : clocks.seen(reader, session)
      const t2 = seen > 0 ? this.lastOf(key, session, seen, source) : NONE
      if (t2 !== NONE && t2 !== reader && filter(t2, source)) visit(t2)
      slot = writers.lowerBound(key, session + 1, 0)
    }
  }
}
