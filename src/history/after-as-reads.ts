// Session order beyond sessions (after.ts), for deciders that need not know of it. What a
// transaction comes after is turned into reads: the earlier transaction writes, behind its own
// operations, a key that nobody else uses, and the later one reads it, behind its own. At every
// level such a read says exactly what session order says: it puts the writer before the reader, and
// makes it visible where session order does (wr and so stand side by side in every premise but that
// of rc, which asks for an earlier read, and this one comes last). It says nothing else, since the
// key has one writer; it has no value, NONE, and is not counted where reads are. Only at ra, where
// what is visible is not passed on, session order is transitive and wr is not: so each reader also
// reads from the last writer of each of its keys in every session that it comes after (earlier
// writers of a session precede the last one anyway).
//
// Cost: linear, and sessions times those that name others, and reads times sessions. Main
// functions: afterAsReads, afterAmong.

import { IntColumn } from '../base/grow.ts'
import { addTo } from '../base/maps.ts'
import { lowerBound } from '../base/search.ts'
import { namedBy } from './after.ts'
import { APPEND, type History, NONE, READ, WRITE } from './history.ts'
import { SessionReach } from './session-reach.ts'
import { renumberVersions } from './versions.ts'

/** Pairs of transactions of different sessions: `earlier` precedes `later`. */
interface Pairs {
  readonly earlier: IntColumn
  readonly later: IntColumn
}

/**
 * What session order beyond sessions comes down to among some transactions: the rest of it follows
 * from their sessions and these.
 * @param isKept txn -> 1 if it is one of them
 */
function findPairs(history: History, isKept: Uint8Array): { pairs: Pairs; reach: SessionReach } {
  const { sessionCount, sessionTxns, sessionTxnStart } = history
  const reach = new SessionReach(history)
  const pairs = { earlier: new IntColumn(16), later: new IntColumn(16) }
  const lastKept = new Int32Array(sessionTxns.length + 1) // slot -> last before it that is kept
  for (let own = 0; own < sessionCount; own++) {
    let last: number = NONE
    for (let slot = sessionTxnStart[own]!; slot < sessionTxnStart[own + 1]!; slot++) {
      if (isKept[sessionTxns[slot]!]) last = sessionTxns[slot]!
      lastKept[slot + 1] = last
    }
  }
  for (let own = 0; own < sessionCount; own++) {
    let known: Int32Array | null = null // of the last one that is kept
    for (let slot = sessionTxnStart[own]!; slot < sessionTxnStart[own + 1]!; slot++) {
      const txn = sessionTxns[slot]!
      const row = reach.row(txn)
      if (!isKept[txn] || row === known || row === null) continue
      for (let s = 0; s < sessionCount; s++) {
        if (s === own || row[s]! <= (known?.[s] ?? 0)) continue
        const earlier = lastKept[sessionTxnStart[s]! + row[s]!]!
        if (earlier === NONE) continue
        pairs.earlier.push(earlier)
        pairs.later.push(txn)
      }
      known = row
    }
  }
  return { pairs, reach }
}

/**
 * txn -> those that it comes after beyond its session, among some transactions: as the history has
 * it for all (null), else so that what the others pass on is not lost.
 */
export function afterAmong(history: History, txns: Iterable<number> | null): Map<number, number[]> {
  const found = new Map<number, number[]>()
  if (history.after === null) return found
  const add = (later: number, earlier: number) => {
    addTo(found, later, earlier)
  }
  if (txns === null) {
    for (let txn = 0; txn < history.txnCount; txn++) {
      for (const earlier of namedBy(history, txn)) add(txn, earlier)
    }
    return found
  }
  const isKept = new Uint8Array(history.txnCount)
  for (const txn of txns) isKept[txn] = 1
  const { later, earlier } = findPairs(history, isKept).pairs
  for (let i = 0; i < later.length; i++) add(later.data[i]!, earlier.data[i]!)
  return found
}

/**
 * For ra: each reader, and who last wrote one of its keys in each session that it comes after,
 * unless that precedes what it read anyway.
 */
function addWriters(history: History, reach: SessionReach, pairs: Pairs): void {
  const { txnCounts, txnSession, txnOpStart, opKind, opKey, readTxn, sessionTxns } = history
  const { sessionTxnStart, txnIndex, sessionCount } = history
  const writers = new WriterSlots(history)
  const found = new Set<number>()
  for (const txn of sessionTxns) {
    const row = reach.row(txn)
    if (!txnCounts[txn] || row === null) continue
    found.clear()
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (isWrite(opKind[op]!)) continue
      const source = readTxn[op]!
      const before = source < 0 ? null : reach.row(source)
      for (let session = 0; session < sessionCount; session++) {
        if (session === txnSession[txn]) continue
        // What it read, and all before that in its session, precedes it anyway.
        let from = before === null ? 0 : before[session]!
        if (source >= 0 && session === txnSession[source]) from = txnIndex[source]! + 1
        if (from >= row[session]!) continue
        const start = sessionTxnStart[session]!
        const slot = writers.lastIn(opKey[op]!, start + from, start + row[session]!)
        if (slot !== NONE) found.add(sessionTxns[slot]!)
      }
    }
    for (const earlier of found) {
      pairs.earlier.push(earlier)
      pairs.later.push(txn)
    }
  }
}

/** Who writes each key, by their slots in `sessionTxns`. */
class WriterSlots {
  private readonly start: Int32Array // key -> its first entry; one more at the end
  private readonly slot: Int32Array // entry -> slot of a transaction that writes it, ascending

  constructor({ keyCount, sessionTxns, txnCounts, txnOpStart, opKind, opKey }: History) {
    this.start = new Int32Array(keyCount + 1)
    const forEachWrite = (visit: (key: number, slot: number) => void) => {
      for (let slot = 0; slot < sessionTxns.length; slot++) {
        const txn = sessionTxns[slot]!
        if (!txnCounts[txn]) continue
        for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
          if (isWrite(opKind[op]!)) visit(opKey[op]!, slot)
        }
      }
    }
    forEachWrite((key) => {
      this.start[key + 1]!++
    })
    for (let key = 0; key < keyCount; key++) this.start[key + 1]! += this.start[key]!
    const next = this.start.slice()
    this.slot = new Int32Array(this.start[keyCount]!)
    forEachWrite((key, slot) => {
      this.slot[next[key]!++] = slot
    })
  }

  /** The last slot of a writer of the key from `from` on, before `to`; NONE if there is none. */
  lastIn(key: number, from: number, to: number): number {
    const { slot } = this
    const start = this.start[key]!
    const end = lowerBound(slot, to, start, this.start[key + 1]!)
    return end > start && slot[end - 1]! >= from ? slot[end - 1]! : NONE
  }
}

const isWrite = (kind: number) => kind === WRITE || kind === APPEND

export interface AfterAsReads {
  readonly history: History
  readonly opOf: Int32Array // its op -> op of the history it was made of, NONE if it is new
}

/**
 * The history with session order beyond sessions turned into reads, as the header says.
 * @param outright whether what is visible is said outright, which only ra needs
 */
export function afterAsReads(history: History, outright: boolean): AfterAsReads {
  const { pairs, reach } = findPairs(history, history.txnCounts)
  if (outright) addWriters(history, reach, pairs)
  const { txnCount, opCount, txnOpStart } = history
  const [earlier, later] = [pairs.earlier.view(), pairs.later.view()]
  const keyOf = new Int32Array(txnCount).fill(NONE) // txn -> the key of its own
  let { keyCount } = history
  for (const txn of earlier) if (keyOf[txn] === NONE) keyOf[txn] = keyCount++
  const start = new Int32Array(txnCount + 1)
  for (const txn of later) start[txn + 1]!++
  for (let txn = 0; txn < txnCount; txn++) {
    const writes = keyOf[txn] === NONE ? 0 : 1
    start[txn + 1]! += start[txn]! + txnOpStart[txn + 1]! - txnOpStart[txn]! + writes
  }
  const count = start[txnCount]!
  const opOf = new Int32Array(count).fill(NONE)
  const copyOf = new Int32Array(opCount) // op of the history -> its copy
  const next = start.slice()
  for (let op = 0; op < opCount; op++) {
    copyOf[op] = next[history.opTxn[op]!]!++
    opOf[copyOf[op]!] = op
  }
  const writeOf = new Int32Array(txnCount).fill(NONE) // txn -> the write of its own key
  for (let txn = 0; txn < txnCount; txn++) if (keyOf[txn] !== NONE) writeOf[txn] = next[txn]!++
  const columns = copyColumns(history, count, copyOf)
  for (let txn = 0; txn < txnCount; txn++) columns.opTxn.fill(txn, start[txn], start[txn + 1])
  for (let txn = 0; txn < txnCount; txn++) {
    const write = writeOf[txn]!
    if (write === NONE) continue
    columns.opKind[write] = WRITE
    columns.opKey[write] = keyOf[txn]!
  }
  for (let i = 0; i < later.length; i++) {
    const read = next[later[i]!]!++
    columns.opKey[read] = keyOf[earlier[i]!]!
    columns.readFrom[read] = writeOf[earlier[i]!]!
    columns.readTxn[read] = earlier[i]!
  }
  const versions = history.versions && renumberVersions(history.versions, copyOf, opOf, keyCount)
  const told = { ...history, ...columns, versions, txnOpStart: start, opCount: count, keyCount }
  const asTold = history.asTold ?? history
  return { history: { ...told, asTold, after: null, light: null }, opOf }
}

/** The columns of operations with room for new ones, which are reads of nothing yet. */
function copyColumns(history: History, count: number, copyOf: Int32Array) {
  const remap = (op: number) => (op < 0 ? op : copyOf[op]!)
  const empty = () => new Int32Array(count).fill(NONE)
  const columns = {
    opTxn: new Int32Array(count),
    opKind: new Uint8Array(count).fill(READ),
    opKey: empty(),
    opValue: empty(),
    readFrom: empty(),
    readTxn: empty(),
    listFrom: history.listFrom.map(remap),
  }
  for (let op = 0; op < history.opCount; op++) {
    const copy = copyOf[op]!
    columns.opKind[copy] = history.opKind[op]!
    columns.opKey[copy] = history.opKey[op]!
    columns.opValue[copy] = history.opValue[op]!
    columns.readFrom[copy] = remap(history.readFrom[op]!)
    columns.readTxn[copy] = history.readTxn[op]!
  }
  return columns
}
