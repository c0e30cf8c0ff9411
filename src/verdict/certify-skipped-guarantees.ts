// What older reads of a replay skipped, judged by the session guarantees: each version between the
// one that was read and the reader is asked for by the letter of docs/levels.md. What the reader's
// own earlier reads make visible is certify-skipped.ts' business. O(versions skipped), times what
// each question costs: a look at a session, at those who read from the writer, or, at wfr, whether
// those happen before what was read (certify-causality.ts). Main function: findSkippedByGuarantee.

import { firstWhere } from '../base/search.ts'
import { APPEND, NONE, WRITE } from '../history/history.ts'
import type { SessionReach } from '../history/session-reach.ts'
import type { SessionGuarantee } from '../levels/levels.ts'
import { Causes } from './certify-causality.ts'
import type { Replayed, Skip } from './certify-skipped.ts'

/**
 * @param sessions session order, which may go beyond the sessions of the replay
 * @param keyCount keys from here on stand for session order and are read by nobody
 */
export function findSkippedByGuarantee(
  replayed: Replayed,
  guarantee: SessionGuarantee,
  sessions: SessionReach,
  keyCount: number,
): Skip | null {
  if (replayed.older.length === 0) return null
  return new SkippedVersions(replayed, guarantee, sessions, keyCount).find()
}

class SkippedVersions {
  private readonly writers = new Map<number, number[]>() // key -> who writes it, in the order
  private readonly readers: Map<number, number[]> // txn -> first of each session that read from it
  private readonly causes: Causes

  constructor(
    private readonly replayed: Replayed,
    private readonly guarantee: SessionGuarantee,
    private readonly sessions: SessionReach,
    keyCount: number,
  ) {
    const { history, order, older } = replayed
    const { opKey, opKind, txnOpStart } = history
    for (const read of older) this.writers.set(opKey[read]!, [])
    for (const txn of order) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
        const known = this.writers.get(opKey[op]!)
        if (known && known.at(-1) !== txn) known.push(txn)
      }
    }
    const asksForReaders = guarantee === 'mr' || guarantee === 'wfr'
    this.readers = asksForReaders ? findReaders(replayed, keyCount, this.findSkipped()) : new Map()
    this.causes = new Causes(replayed)
  }

  find(): Skip | null {
    const { history, older, deadline } = this.replayed
    for (const read of older) {
      const reader = history.opTxn[read]!
      for (const writer of this.skippedBy(read, reader)) {
        deadline.step(2)
        if (this.isVisible(writer, reader, read)) return { read, skipped: writer }
      }
      const skip = this.causes.isFull() ? this.causes.answer() : null
      if (skip !== null) return skip
    }
    return this.causes.answer()
  }

  /** txn -> 1 if some read skipped what it wrote. */
  private findSkipped(): Uint8Array {
    const { history, older } = this.replayed
    const isSkipped = new Uint8Array(history.txnCount)
    for (const read of older) {
      for (const writer of this.skippedBy(read, history.opTxn[read]!)) isSkipped[writer] = 1
    }
    return isSkipped
  }

  /** Who wrote the key after what was read, and before the reader. */
  private *skippedBy(read: number, reader: number): Generator<number> {
    const { history, position, sources } = this.replayed
    const writers = this.writers.get(history.opKey[read]!)!
    const source = sources[read]!
    const after = source < 0 ? NONE : position[source]!
    const end = firstWhere(0, writers.length, (i) => position[writers[i]!]! >= position[reader]!)
    for (let i = end - 1; i >= 0 && position[writers[i]!]! > after; i--) yield writers[i]!
  }

  private isVisible(writer: number, reader: number, read: number): boolean {
    switch (this.guarantee) {
      case 'ryw':
        return this.sessions.isBefore(writer, reader)
      case 'mr':
        return this.readersOf(writer).some((other) => this.sessions.isBefore(other, reader))
      case 'mw':
        return this.readBefore(read).some((seen) => this.sessions.isBefore(writer, seen))
      case 'wfr':
        return this.followsReads(writer, read)
    }
  }

  /** What is left open is asked for in batches. */
  private followsReads(writer: number, read: number): boolean {
    const { position } = this.replayed
    const seen = this.readBefore(read)
    for (const other of this.readersOf(writer)) {
      if (seen.includes(other)) return true
      for (const later of seen) {
        if (position[other]! < position[later]!) this.causes.ask(other, later, read)
      }
    }
    return false
  }

  private readersOf(txn: number): readonly number[] {
    return this.readers.get(txn) ?? []
  }

  /** Whom the transaction of a read had read from before it. */
  private readBefore(read: number): number[] {
    const { history, sources } = this.replayed
    const reader = history.opTxn[read]!
    const found = new Set<number>()
    for (let op = history.txnOpStart[reader]!; op < read; op++) {
      if (sources[op]! >= 0 && sources[op] !== reader) found.add(sources[op]!)
    }
    return [...found]
  }
}

/** txn -> those who read from it, the first one of each session; for those that are asked about. */
function findReaders(
  { history, sources }: Replayed,
  keyCount: number,
  isAsked: Uint8Array,
): Map<number, number[]> {
  const { sessionTxns, txnCounts, txnOpStart, txnSession, opKey } = history
  const readers = new Map<number, number[]>()
  for (const txn of sessionTxns) {
    if (!txnCounts[txn]) continue
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const source = sources[op]!
      if (source < 0 || !isAsked[source] || source === txn || opKey[op]! >= keyCount) continue
      const known = readers.get(source)
      if (!known) readers.set(source, [txn])
      else if (txnSession[known.at(-1)!] !== txnSession[txn]) known.push(txn)
    }
  }
  return readers
}
