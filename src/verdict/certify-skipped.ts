// What reads of an older version must not have skipped, as far as the reader's own reads and its
// session tell: rc and ra. A version is skipped if the order puts it between the one that was read
// and the reader.
//
// Through reads: for each reader and each transaction that it read from, either all writes of that
// transaction or all older reads of the reader are gone through, whichever are fewer. A pair costs
// at most √n if the reader has at most √n operations; there are at most √n other readers, and each
// of them goes through n writes at most: O(n^1.5) (AWDIT, Algorithms 1 and 2). Through sessions:
// one pass over each session, which keeps who wrote a key last. O(n). Main functions:
// findSkippedByReads, findSkippedBySession.

import type { Deadline } from '../base/deadline.ts'
import { IntColumn } from '../base/grow.ts'
import { PairIndex } from '../graph/pair-index.ts'
import { APPEND, type History, NONE, WRITE } from '../history/history.ts'

/** An order that was replayed, and what reads saw in it; all reads have been found sound. */
export interface Replayed {
  readonly history: History
  readonly order: Int32Array
  readonly position: Int32Array // txn -> position in the order, NONE if it does not count
  readonly sources: Int32Array // read -> transaction it saw, maybe its own; negative for none
  readonly older: Int32Array // reads of versions that were not the latest, by reader's position
  readonly deadline: Deadline
}

/** A read that skipped a version which the level makes visible, and who wrote that version. */
export interface Skip {
  readonly read: number
  readonly skipped: number
}

const FEW_WRITES = 16 // not worth an index

/**
 * A version of a transaction that the reader also read from.
 * @param onlyEarlier whether only reads before the older one count, as at rc
 */
export function findSkippedByReads(replayed: Replayed, onlyEarlier: boolean): Skip | null {
  const { history, older } = replayed
  const pairs = new ReaderWriterPairs(replayed, onlyEarlier)
  for (let from = 0, to = 0; from < older.length; from = to) {
    const reader = history.opTxn[older[from]!]!
    while (to < older.length && history.opTxn[older[to]!] === reader) to++
    const skip = pairs.judge(reader, from, to)
    if (skip !== null) return skip
  }
  return null
}

class ReaderWriterPairs {
  private readonly readBy: Int32Array // txn -> last reader that was found to read from it
  private readonly notedFor: Int32Array // key -> reader whose older reads of it are noted
  private readonly oldest: Int32Array // key -> position of the oldest of their writers
  private readonly firstReads = new IntColumn(64) // first read from each writer
  private writers: PairIndex | null = null // (txn, key it writes)

  constructor(
    private readonly replayed: Replayed,
    private readonly onlyEarlier: boolean,
  ) {
    const { txnCount, keyCount } = replayed.history
    this.readBy = new Int32Array(txnCount).fill(NONE)
    this.notedFor = new Int32Array(keyCount).fill(NONE)
    this.oldest = new Int32Array(keyCount)
  }

  /** @param from older reads of this reader: `from` up to, not including, `to` */
  judge(reader: number, from: number, to: number): Skip | null {
    const { older, sources, position, deadline } = this.replayed
    this.findFirstReads(reader)
    const first = this.firstReads.view()
    let noted = to // from here on, older reads are noted
    let lowest = Number.POSITIVE_INFINITY // position of the oldest writer of those
    for (let i = first.length - 1; i >= 0; i--) {
      while (noted > from && !(this.onlyEarlier && older[noted - 1]! <= first[i]!)) {
        lowest = Math.min(lowest, this.note(reader, older[--noted]!))
      }
      const writer = sources[first[i]!]!
      if (position[writer]! <= lowest) continue
      deadline.step(2)
      const skip = this.judgePair(reader, writer, noted, to)
      if (skip !== null) return skip
    }
    return null
  }

  private findFirstReads(reader: number): void {
    const { history, sources } = this.replayed
    const { readBy, firstReads } = this
    firstReads.length = 0
    for (let op = history.txnOpStart[reader]!; op < history.txnOpStart[reader + 1]!; op++) {
      const writer = sources[op]!
      if (writer < 0 || writer === reader || readBy[writer] === reader) continue
      readBy[writer] = reader
      firstReads.push(op)
    }
  }

  private note(reader: number, read: number): number {
    const key = this.replayed.history.opKey[read]!
    const at = this.positionRead(read)
    if (this.notedFor[key] !== reader || at < this.oldest[key]!) this.oldest[key] = at
    this.notedFor[key] = reader
    return at
  }

  /** Where the writer of what was read stands; -1 for the initial state. */
  private positionRead(read: number): number {
    const source = this.replayed.sources[read]!
    return source < 0 ? -1 : this.replayed.position[source]!
  }

  private judgePair(reader: number, writer: number, noted: number, to: number): Skip | null {
    const { history, older, position, deadline } = this.replayed
    const { txnOpStart, opKind, opKey } = history
    const { notedFor, oldest } = this
    const at = position[writer]!
    const end = txnOpStart[writer + 1]!
    const size = end - txnOpStart[writer]!
    if (size > FEW_WRITES && size > 4 * (to - noted)) {
      deadline.step(to - noted)
      for (let i = noted; i < to; i++) {
        const read = older[i]!
        if (this.positionRead(read) < at && this.writes(writer, opKey[read]!)) {
          return { read, skipped: writer }
        }
      }
      return null
    }
    deadline.step(size >> 2)
    for (let op = txnOpStart[writer]!; op < end; op++) {
      const key = opKey[op]!
      if (notedFor[key] !== reader || oldest[key]! >= at) continue
      if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
      const isOlder = (read: number) => opKey[read] === key && this.positionRead(read) < at
      return { read: older.subarray(noted, to).find(isOlder)!, skipped: writer }
    }
    return null
  }

  private writes(txn: number, key: number): boolean {
    this.writers ??= indexWriters(this.replayed.history)
    return this.writers.find(txn, key) >= 0
  }
}

function indexWriters({ opCount, opKind, opKey, opTxn, txnCounts }: History): PairIndex {
  const writers = new PairIndex()
  for (let op = 0; op < opCount; op++) {
    if (opKind[op] !== WRITE && opKind[op] !== APPEND) continue
    if (txnCounts[opTxn[op]!]) writers.add(opTxn[op]!, opKey[op]!)
  }
  return writers
}

/** A version of a transaction that is before the reader in its session. */
export function findSkippedBySession(replayed: Replayed): Skip | null {
  const { history, position, sources, older, deadline } = replayed
  if (older.length === 0) return null
  const { sessionTxns, txnSession, txnCounts, txnOpStart, opKind, opKey } = history
  const isOlder = new Uint8Array(history.opCount)
  for (const read of older) isOlder[read] = 1
  const matters = findMattering(history, older)
  const last = new Int32Array(history.keyCount).fill(NONE) // key -> who wrote it last
  for (let slot = 0; slot < sessionTxns.length; slot++) {
    const txn = sessionTxns[slot]!
    if (!txnCounts[txn] || matters?.[txn] === 0) continue
    const session = txnSession[txn]!
    const end = txnOpStart[txn + 1]!
    deadline.step((end - txnOpStart[txn]!) >> 2)
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (!isOlder[op]) continue
      const before = last[opKey[op]!]!
      if (before === NONE || txnSession[before] !== session) continue
      const source = sources[op]!
      if (source < 0 || position[before]! > position[source]!) return { read: op, skipped: before }
    }
    // Afterwards, because a list read may follow an append of its own transaction.
    for (let op = txnOpStart[txn]!; op < end; op++) {
      if (opKind[op] === WRITE || opKind[op] === APPEND) last[opKey[op]!] = txn
    }
  }
  return null
}

/** With more older reads than one operation in so many, most transactions matter. */
const OPS_PER_OLDER_READ = 256

/**
 * txn -> 1 if it reads an older version, or writes a key of which another does; null for all. Goes
 * through operations as they lie, which is faster than session by session.
 */
function findMattering(history: History, older: Int32Array): Uint8Array | null {
  const { opCount, opKind, opKey, opTxn } = history
  if (older.length * OPS_PER_OLDER_READ > opCount) return null
  const matters = new Uint8Array(history.txnCount)
  const isAsked = new Uint8Array(history.keyCount)
  for (const read of older) {
    matters[opTxn[read]!] = 1
    isAsked[opKey[read]!] = 1
  }
  for (let op = 0; op < opCount; op++) {
    if (isAsked[opKey[op]!] && (opKind[op] === WRITE || opKind[op] === APPEND)) {
      matters[opTxn[op]!] = 1
    }
  }
  return matters
}
