// What reads of an older version must not have skipped at cc: versions of whatever happens before
// the reader. Of each session only the first writer that a reader's older reads skipped has to be
// asked about: if that one does not happen before the reader, neither do those after it. So there
// are at most k questions for each transaction (certify-causality.ts answers them), and at most k
// looks at writers for each read. O(n · k). Main function: findSkippedByCauses.

import { IntColumn } from '../base/grow.ts'
import { firstWhere } from '../base/search.ts'
import { APPEND, NONE, WRITE } from '../history/history.ts'
import { Causes } from './certify-causality.ts'
import type { Replayed, Skip } from './certify-skipped.ts'

export function findSkippedByCauses(replayed: Replayed): Skip | null {
  return new FirstSkipped(replayed).find()
}

/** Goes through the older reads, reader by reader, and asks about what they skipped. */
class FirstSkipped {
  private readonly byOrder: KeyWriters
  private bySession: KeyWriters | null = null
  private readonly causes: Causes
  private readonly notedFor: Int32Array // session -> reader whose skipped versions are noted
  private readonly first: Int32Array // session -> first of its transactions that was skipped
  private readonly because: Int32Array // session -> read that skipped it
  private readonly noted = new IntColumn(64) // sessions noted for the present reader

  constructor(private readonly replayed: Replayed) {
    const { history, order } = replayed
    this.byOrder = this.groupWriters(order)
    this.causes = new Causes(replayed)
    this.notedFor = new Int32Array(history.sessionCount).fill(NONE)
    this.first = new Int32Array(history.sessionCount)
    this.because = new Int32Array(history.sessionCount)
  }

  find(): Skip | null {
    const { history, older } = this.replayed
    for (let i = 0; i < older.length; ) {
      const reader = history.opTxn[older[i]!]!
      this.noted.length = 0
      for (; i < older.length && history.opTxn[older[i]!] === reader; i++) {
        this.noteSkipped(reader, older[i]!)
      }
      const skip = this.ask(reader)
      if (skip !== null) return skip
    }
    return this.causes.answer()
  }

  private ask(reader: number): Skip | null {
    const { first, because, noted } = this
    const { txnSession } = this.replayed.history
    for (let i = 0; i < noted.length; i++) {
      const session = noted.data[i]!
      const skip = { read: because[session]!, skipped: first[session]! }
      if (session === txnSession[reader]) return skip
      this.causes.ask(skip.skipped, reader, skip.read)
    }
    return this.causes.isFull() ? this.causes.answer() : null
  }

  private noteSkipped(reader: number, read: number): void {
    const { history, position, sources, deadline } = this.replayed
    const { txn } = this.byOrder
    const key = history.opKey[read]!
    const source = sources[read]!
    const after = source < 0 ? 0 : position[source]! + 1
    const from = this.findSlot(this.byOrder, key, after)
    const to = this.findSlot(this.byOrder, key, position[reader]!)
    // Beyond so many versions, one look at each session is cheaper than at each version.
    if (to - from > 8 * history.sessionCount) return this.noteBySession(reader, read, after)
    deadline.step(2 + (to - from))
    for (let slot = from; slot < to; slot++) this.note(reader, read, txn[slot]!)
  }

  private noteBySession(reader: number, read: number, after: number): void {
    const { history, position, deadline } = this.replayed
    this.bySession ??= this.groupWriters(history.sessionTxns)
    const { start, txn } = this.bySession
    const key = history.opKey[read]!
    for (let slot = start[key]!; slot < start[key + 1]!; ) {
      const session = history.txnSession[txn[slot]!]!
      const isAbove = (at: number) => history.txnSession[txn[at]!]! > session
      const end = firstWhere(slot, start[key + 1]!, isAbove)
      const at = firstWhere(slot, end, (other) => position[txn[other]!]! >= after)
      if (at < end && position[txn[at]!]! < position[reader]!) this.note(reader, read, txn[at]!)
      deadline.step(8)
      slot = end
    }
  }

  private note(reader: number, read: number, writer: number): void {
    const { history, position } = this.replayed
    const session = history.txnSession[writer]!
    if (this.notedFor[session] !== reader) {
      this.notedFor[session] = reader
      this.noted.push(session)
    } else if (position[writer]! >= position[this.first[session]!]!) return
    this.first[session] = writer
    this.because[session] = read
  }

  /** First slot of the key whose transaction stands at this position of the order, or later. */
  private findSlot({ start, txn }: KeyWriters, key: number, at: number): number {
    const { position } = this.replayed
    return firstWhere(start[key]!, start[key + 1]!, (slot) => position[txn[slot]!]! >= at)
  }

  /** Who writes the keys of older reads, each key's writers in the order given. */
  private groupWriters(txns: Int32Array): KeyWriters {
    const { history, older } = this.replayed
    const { keyCount, opCount, opKind, opKey, opTxn, txnCount, txnCounts } = history
    const isAsked = new Int32Array((keyCount + 31) >>> 5) // a bit a key
    for (const read of older) isAsked[opKey[read]! >>> 5]! |= 1 << (opKey[read]! & 31)
    const writes = new IntColumn(64)
    const next = new Int32Array(txnCount) // txn -> how many of these, then where the first goes
    const start = new Int32Array(keyCount + 1)
    for (let op = 0; op < opCount; op++) {
      const key = opKey[op]!
      if (((isAsked[key >>> 5]! >>> (key & 31)) & 1) === 0) continue
      if ((opKind[op] !== WRITE && opKind[op] !== APPEND) || !txnCounts[opTxn[op]!]) continue
      writes.push(op)
      next[opTxn[op]!]!++
      start[key + 1]!++
    }
    let count = 0
    for (let i = 0; i < txns.length; i++) {
      const of = next[txns[i]!]!
      next[txns[i]!] = count
      count += of
    }
    const sorted = new Int32Array(writes.length)
    for (let i = 0; i < writes.length; i++) {
      const write = writes.data[i]!
      sorted[next[opTxn[write]!]!++] = write
    }
    for (let key = 0; key < keyCount; key++) start[key + 1]! += start[key]!
    const free = start.slice(0, keyCount)
    const txn = new Int32Array(writes.length)
    for (const write of sorted) txn[free[opKey[write]!]!++] = opTxn[write]!
    return { start, txn }
  }
}

/** key -> its writers, from start[key] on; who writes a key twice may stand there twice. */
interface KeyWriters {
  readonly start: Int32Array
  readonly txn: Int32Array
}
