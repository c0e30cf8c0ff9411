// Which transactions a weak level requires to be visible to a read. For a read r of x by t3 these
// are the t2 that write x and satisfy the level's premise (docs/levels.md, the table):
//   rc  t3 read from t2 before r           (AWDIT, Algorithm 1)
//   ra  t2 is so- or wr-before t3          (AWDIT, Algorithm 2)
//   cc  t2 happens before t3               (AWDIT, Algorithm 3)
// and the session guarantees as rc, with what each adds (guarantees.ts). Of one session only the
// last such t2 is named where the others, which come before it, are known to be visible with it:
// what holds for it holds for them. Main class: Premises.

import type { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { APPEND, type History, NONE, WRITE } from '../../history/history.ts'
import { isSessionGuarantee, type SessionGuarantee } from '../../levels/levels.ts'
import type { BaseOrder, StaleReads } from '../order/stale-reads.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { type GuaranteeSource, Guarantees } from './guarantees.ts'

export type WeakLevel = 'rc' | SessionGuarantee | 'ra' | 'cc'

/** Whether, of what the reader itself read, only what it read before counts. */
export function countsOnlyEarlier(level: WeakLevel): boolean {
  return level !== 'ra' && level !== 'cc'
}

/** Decides, before any further test, whether a candidate is worth naming. */
export type Filter = (t2: number, source: number) => boolean
type IsNear = (txn: number) => boolean
type Visit = (t2: number) => void

export class Premises {
  private readonly history: History
  private readonly reads: ReadCheck
  readonly guarantees: Guarantees
  private readonly readBy: Int32Array // txn -> the reader it was last noted for
  private readonly firstRead: Int32Array // txn -> that reader's first read of it
  private noted: number = NONE // the reader whose sources are noted
  private judged: StaleReads | null = null // what `required` is about, and for which level
  private judgedLevel: WeakLevel = 'rc'
  private required = new Uint8Array(0) // entry of `newer` -> 1 if it had to be visible

  /** @param context what the premises are read off */
  constructor(private readonly context: GuaranteeSource & { readonly deadline: Deadline }) {
    this.history = context.history
    this.reads = context.reads
    this.guarantees = new Guarantees(context)
    this.readBy = new Int32Array(context.history.txnCount).fill(NONE)
    this.firstRead = new Int32Array(context.history.txnCount)
  }

  /**
   * Calls `visit` for every required t2 that the order puts after the source of the i-th stale
   * read; what shares a component with the source does not count.
   */
  forEachNewer(
    level: WeakLevel,
    i: number,
    { stale, position, component }: BaseOrder,
    visit: (t2: number) => void,
  ): void {
    const read = stale.read[i]!
    const source = this.reads.opSource[read]!
    const isApart = (t2: number) =>
      component === null || source < 0 || component[t2] !== component[source]
    if (stale.isOpen[i]) {
      const newer: Filter = (t2) => source < 0 || (position[t2]! > position[source]! && isApart(t2))
      // What stands before the source has no newer causes, but links of a session have no position.
      const isNear = (txn: number) =>
        source < 0 || position[txn] === NONE || position[txn]! > position[source]! || !isApart(txn)
      return this.forEach(level, read, newer, visit, isNear)
    }
    const required = this.requiredOf(level, stale)
    const end = stale.newerStart[i + 1]!
    for (let entry = stale.newerStart[i]!; entry < end; entry++) {
      const t2 = stale.newer[entry]!
      if (required[entry] && isApart(t2)) visit(t2)
    }
  }

  /** entry of `newer` -> 1 if the level requires it to be visible to its stale read. */
  private requiredOf(level: WeakLevel, stale: StaleReads): Uint8Array {
    if (this.judged === stale && this.judgedLevel === level) return this.required
    const required = new Uint8Array(stale.newer.length)
    const asked = new IntColumn(64) // entries that only causality can tell
    const later = new IntColumn(64) // their readers
    for (let i = 0; i < stale.read.length; i++) {
      if (stale.isOpen[i]) continue
      const read = stale.read[i]!
      const reader = this.history.opTxn[read]!
      if (this.noted !== reader) this.noteSources(reader)
      this.context.deadline.step(4 + 2 * (stale.newerStart[i + 1]! - stale.newerStart[i]!))
      for (let entry = stale.newerStart[i]!; entry < stale.newerStart[i + 1]!; entry++) {
        if (this.isNearby(level, stale.newer[entry]!, reader, read)) required[entry] = 1
        else if (level === 'cc') {
          asked.push(entry)
          later.push(reader)
        }
      }
    }
    if (asked.length > 0) {
      const earlier = asked.view().map((entry) => stale.newer[entry]!)
      const answers = this.context.causality().beforeAll(earlier, later.view())
      for (let q = 0; q < answers.length; q++) required[asked.data[q]!] = answers[q]!
    }
    this.judged = stale
    this.judgedLevel = level
    this.required = required
    return required
  }

  /** Whether the level requires t2, if it writes the key, to be visible to the read. */
  holds(level: WeakLevel, t2: number, read: number): boolean {
    const { opTxn, opKey, txnOpStart, opKind } = this.history
    const reader = opTxn[read]!
    if (t2 === reader) return false
    let writes = false
    for (let op = txnOpStart[t2]!; op < txnOpStart[t2 + 1]! && !writes; op++) {
      writes = opKey[op] === opKey[read] && (opKind[op] === WRITE || opKind[op] === APPEND)
    }
    if (!writes) return false
    if (this.noted !== reader) this.noteSources(reader)
    if (this.isNearby(level, t2, reader, read)) return true
    return level === 'cc' && this.context.causality().before(t2, reader)
  }

  /** Whether it is required by what the reader itself read or by its session. */
  private isNearby(level: WeakLevel, t2: number, reader: number, read: number): boolean {
    const isRead = this.readBy[t2] === reader
    if (isRead && (!countsOnlyEarlier(level) || this.firstRead[t2]! < read)) return true
    if (level === 'rc') return false
    if (isSessionGuarantee(level)) return this.guarantees.find(level, t2, read) !== null
    const { txnSession, txnIndex } = this.history
    return txnSession[t2] === txnSession[reader] && txnIndex[t2]! < txnIndex[reader]!
  }

  private noteSources(reader: number): void {
    const { txnOpStart } = this.history
    this.noted = reader
    for (let op = txnOpStart[reader + 1]! - 1; op >= txnOpStart[reader]!; op--) {
      const source = this.reads.opSource[op]!
      if (source < 0) continue
      this.readBy[source] = reader
      this.firstRead[source] = op
    }
  }

  /**
   * Calls `visit` for every required t2 other than the read's source that passes the filter.
   * @param isNear false for transactions that have no such t2 among their causes, nor are one
   */
  forEach(
    level: WeakLevel,
    read: number,
    filter: Filter,
    visit: Visit,
    isNear: IsNear = always,
  ): void {
    this.throughReads(level, read, filter, visit)
    if (level === 'ra') this.throughSession(read, filter, visit)
    else if (level === 'cc') this.throughCauses(read, filter, isNear, visit)
    else if (level !== 'rc') this.guarantees.forEach(level, read, filter, visit)
  }

  private throughReads(level: WeakLevel, read: number, filter: Filter, visit: Visit): void {
    const { opTxn, opKey, txnOpStart } = this.history
    const { opSource } = this.reads
    const reader = opTxn[read]!
    const source = opSource[read]!
    const key = opKey[read]!
    const end = countsOnlyEarlier(level) ? read : txnOpStart[reader + 1]!
    for (let op = txnOpStart[reader]!; op < end; op++) {
      const t2 = opSource[op]!
      if (t2 < 0 || t2 === source || !filter(t2, source)) continue
      if (this.context.writers().writes(t2, key)) visit(t2)
    }
  }

  private throughSession(read: number, filter: Filter, visit: Visit): void {
    const { opTxn, opKey, txnSession, txnIndex } = this.history
    const reader = opTxn[read]!
    const source = this.reads.opSource[read]!
    const writers = this.context.writers()
    const t2 = writers.lastBefore(opKey[read]!, txnSession[reader]!, txnIndex[reader]!, source)
    if (t2 !== NONE && filter(t2, source)) visit(t2)
  }

  private throughCauses(read: number, filter: Filter, isNear: IsNear, visit: Visit): void {
    const { opTxn, opKey, txnSession, txnIndex } = this.history
    const writers = this.context.writers()
    if (!this.context.causality().hasClocks) return this.throughSearch(read, filter, isNear, visit)
    const clocks = this.context.causality().clocks()
    const reader = opTxn[read]!
    const source = this.reads.opSource[read]!
    const key = opKey[read]!
    const own = txnSession[reader]!
    const end = writers.start[key + 1]!
    let slot = writers.start[key]!
    while (slot < end) {
      const session = txnSession[writers.txn[slot]!]!
      const seen = session === own ? txnIndex[reader]! : clocks.seen(reader, session)
      const t2 = seen > 0 ? writers.lastBefore(key, session, seen, source) : NONE
      if (t2 !== NONE && t2 !== reader && filter(t2, source)) visit(t2)
      slot = writers.lowerBound(key, session + 1, 0)
    }
  }

  /** As `throughCauses` by a search, where there are no clocks. */
  private throughSearch(read: number, filter: Filter, isNear: IsNear, visit: Visit): void {
    const { opTxn, opKey } = this.history
    const reader = opTxn[read]!
    const source = this.reads.opSource[read]!
    const found: number[] = []
    this.context.causality().forEachCause(reader, isNear, (t2) => {
      if (t2 === source || t2 === reader || !filter(t2, source)) return
      if (this.context.writers().writes(t2, opKey[read]!)) found.push(t2)
    })
    // A visitor may ask further questions, which would disturb the search.
    for (const t2 of found) visit(t2)
  }
}

const always = () => true
