// The part of a history that strong levels are about, packed for speed: transactions renumbered so
// that each session is a run of consecutive numbers, every final write a numbered version, and for
// each version its readers. Built for the whole history or for some of its transactions; a read
// whose writer is left out is left out with it, which keeps a satisfied history satisfied (any
// order of the whole, cut down, is an order of the part). O(operations). Main function:
// buildProblem.

import { IntColumn } from '../../base/grow.ts'
import { APPEND, type History, INITIAL, NONE, WRITE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

export interface Problem {
  readonly history: History
  readonly reads: ReadCheck
  readonly txnCount: number
  readonly txnOf: Int32Array // local txn -> txn of the history
  readonly sessionCount: number // sessions with at least one transaction
  readonly sessionStart: Int32Array // session -> its first local txn; one more entry at the end
  readonly sessionOf: Int32Array // local txn -> session

  readonly keyCount: number // keys that somebody writes
  readonly keyOf: Int32Array // local key -> key of the history
  readonly keyStart: Int32Array // local key -> its first version; one more entry at the end
  readonly versionTxn: Int32Array // version -> local txn, ascending within a key
  readonly versionKey: Int32Array // version -> local key
  /** A run holds the versions of one key by one session. */
  readonly runStart: Int32Array // local key -> its first run; one more entry at the end
  readonly runFirst: Int32Array // run -> its first version; one more entry at the end

  readonly readerStart: Int32Array // version -> its first reader; one more entry at the end
  readonly reader: Int32Array // local txns that read the version, each once
  readonly initialStart: Int32Array // local key -> first reader of its initial state; one more
  readonly initialReader: Int32Array // local txns that read the initial state, each once
  readonly appendFrom: Int32Array // known version order of lists: local txn ...
  readonly appendTo: Int32Array // ... and the one right after it
  readonly appendKey: Int32Array // ... in the list of this key of the history
}

/** @param txns transactions to keep, all that count unless given */
export function buildProblem(
  history: History,
  reads: ReadCheck,
  txns: Iterable<number> | null = null,
): Problem {
  const local = new Int32Array(history.txnCount).fill(NONE)
  const sessions = layOutSessions(history, txns, local)
  const versions = layOutVersions(history, sessions.txnOf)
  const readers = layOutReaders(history, reads, sessions.txnOf, local, versions)
  const appends = findAppendOrder(history, reads, local)
  const { localKey: _, ...kept } = versions
  return { history, reads, ...sessions, ...kept, ...readers, ...appends }
}

function layOutSessions(history: History, txns: Iterable<number> | null, local: Int32Array) {
  const { sessionTxns, sessionTxnStart, sessionCount, txnCounts } = history
  const wanted = txns === null ? txnCounts : new Uint8Array(history.txnCount)
  if (txns !== null) for (const txn of txns) wanted[txn] = 1
  const txnOf = new IntColumn(1024)
  const sessionStart = new IntColumn(16)
  for (let s = 0; s < sessionCount; s++) {
    const first = txnOf.length
    for (let slot = sessionTxnStart[s]!; slot < sessionTxnStart[s + 1]!; slot++) {
      const txn = sessionTxns[slot]!
      if (!wanted[txn] || !txnCounts[txn]) continue
      local[txn] = txnOf.length
      txnOf.push(txn)
    }
    if (txnOf.length > first) sessionStart.push(first)
  }
  const count = sessionStart.length
  sessionStart.push(txnOf.length)
  const starts = sessionStart.view()
  const sessionOf = new Int32Array(txnOf.length)
  for (let s = 0; s < count; s++) sessionOf.fill(s, starts[s], starts[s + 1])
  return {
    txnCount: txnOf.length,
    txnOf: txnOf.view(),
    sessionCount: count,
    sessionStart: starts,
    sessionOf,
  }
}

function layOutVersions(history: History, txnOf: Int32Array) {
  const { txnOpStart, opKind, opKey } = history
  const localKey = new Int32Array(history.keyCount).fill(NONE) // key -> local key
  const lastWriter = new Int32Array(history.keyCount).fill(NONE) // key -> last local txn seen
  const keyOf = new IntColumn(64)
  const size = new IntColumn(64) // local key -> versions
  const eachVersion = (visit: (t: number, key: number) => void) => {
    lastWriter.fill(NONE)
    for (let t = 0; t < txnOf.length; t++) {
      const txn = txnOf[t]!
      const end = txnOpStart[txn + 1]!
      for (let op = txnOpStart[txn]!; op < end; op++) {
        const key = opKey[op]!
        const kind = opKind[op]!
        if ((kind !== WRITE && kind !== APPEND) || lastWriter[key] === t) continue
        lastWriter[key] = t
        visit(t, key)
      }
    }
  }
  eachVersion((_, key) => {
    if (localKey[key] === NONE) {
      localKey[key] = keyOf.length
      keyOf.push(key)
      size.push(0)
    }
    size.data[localKey[key]!]!++
  })
  const keyCount = keyOf.length
  const keyStart = new Int32Array(keyCount + 1)
  for (let k = 0; k < keyCount; k++) keyStart[k + 1] = keyStart[k]! + size.data[k]!
  const versionTxn = new Int32Array(keyStart[keyCount]!)
  const versionKey = new Int32Array(keyStart[keyCount]!)
  const next = keyStart.slice()
  eachVersion((t, key) => {
    const version = next[localKey[key]!]!++
    versionTxn[version] = t
    versionKey[version] = localKey[key]!
  })
  return { localKey, keyCount, keyOf: keyOf.view(), keyStart, versionTxn, versionKey }
}

interface Versions {
  readonly localKey: Int32Array
  readonly keyCount: number
  readonly keyStart: Int32Array
  readonly versionTxn: Int32Array
}

function layOutReaders(
  history: History,
  reads: ReadCheck,
  txnOf: Int32Array,
  local: Int32Array,
  versions: Versions,
) {
  const { txnOpStart, opKey } = history
  const { opSource } = reads
  const { localKey, keyCount, keyStart, versionTxn } = versions
  const reader = new IntColumn(1024)
  const readVersion = new IntColumn(1024) // version read, or ~local key for the initial state
  const seen = new Int32Array(versionTxn.length).fill(NONE) // version -> its last reader
  const seenInitial = new Int32Array(keyCount).fill(NONE) // local key -> last reader
  for (let t = 0; t < txnOf.length; t++) {
    const txn = txnOf[t]!
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const source = opSource[op]!
      if (source === NONE) continue
      const key = localKey[opKey[op]!]!
      if (key === NONE) continue
      if (source === INITIAL) {
        if (seenInitial[key] === t) continue
        seenInitial[key] = t
        readVersion.push(~key)
      } else {
        if (local[source] === NONE) continue
        const version = findVersion(keyStart, versionTxn, key, local[source]!)
        if (seen[version] === t) continue
        seen[version] = t
        readVersion.push(version)
      }
      reader.push(t)
    }
  }
  const by = readVersion.view()
  return {
    ...groupReaders(by, reader.view(), versionTxn.length, false),
    ...groupInitial(by, reader.view(), keyCount),
    ...layOutRuns(keyStart, versionTxn, txnOf, history),
  }
}

function groupReaders(by: Int32Array, reader: Int32Array, count: number, initial: boolean) {
  const start = new Int32Array(count + 1)
  for (let i = 0; i < by.length; i++) {
    const at = initial ? ~by[i]! : by[i]!
    if (at >= 0) start[at + 1]!++
  }
  for (let v = 0; v < count; v++) start[v + 1]! += start[v]!
  const grouped = new Int32Array(start[count]!)
  const next = start.slice()
  for (let i = 0; i < by.length; i++) {
    const at = initial ? ~by[i]! : by[i]!
    if (at >= 0) grouped[next[at]!++] = reader[i]!
  }
  return { readerStart: start, reader: grouped }
}

function groupInitial(by: Int32Array, reader: Int32Array, keyCount: number) {
  const grouped = groupReaders(by, reader, keyCount, true)
  return { initialStart: grouped.readerStart, initialReader: grouped.reader }
}

function layOutRuns(
  keyStart: Int32Array,
  versionTxn: Int32Array,
  txnOf: Int32Array,
  history: History,
) {
  const keyCount = keyStart.length - 1
  const runStart = new Int32Array(keyCount + 1)
  const runFirst = new IntColumn(1024)
  for (let key = 0; key < keyCount; key++) {
    runStart[key] = runFirst.length
    let session: number = NONE
    for (let v = keyStart[key]!; v < keyStart[key + 1]!; v++) {
      const its = history.txnSession[txnOf[versionTxn[v]!]!]!
      if (its !== session) runFirst.push(v)
      session = its
    }
  }
  runStart[keyCount] = runFirst.length
  runFirst.push(versionTxn.length)
  return { runStart, runFirst: runFirst.view() }
}

/** The version that a local transaction wrote of a key; it must have written it. */
export function findVersion(
  keyStart: Int32Array,
  versionTxn: Int32Array,
  key: number,
  txn: number,
): number {
  let low = keyStart[key]!
  let high = keyStart[key + 1]! - 1
  while (low < high) {
    const mid = (low + high) >>> 1
    if (versionTxn[mid]! < txn) low = mid + 1
    else high = mid
  }
  return low
}

/** Pairs of transactions that the observed lists put next to each other. */
function findAppendOrder(history: History, reads: ReadCheck, local: Int32Array) {
  const from = new IntColumn(16)
  const to = new IntColumn(16)
  const keys = new IntColumn(16)
  const pair = (before: number, after: number, key: number) => {
    if (before === NONE || before === after) return
    from.push(before)
    to.push(after)
    keys.push(key)
  }
  const kept = (append: number) => local[history.opTxn[append]!]!
  for (let key = 0; reads.lists !== null && key < history.keyCount; key++) {
    const { orderStart, order, tailStart, tail } = reads.lists
    let last: number = NONE
    for (let i = orderStart[key]!; i < orderStart[key + 1]!; i++) {
      const txn = kept(order[i]!)
      if (txn === NONE) continue
      pair(last, txn, key)
      last = txn
    }
    for (let i = tailStart[key]!; i < tailStart[key + 1]!; i++) {
      const txn = kept(tail[i]!)
      if (txn !== NONE) pair(last, txn, key)
    }
  }
  return { appendFrom: from.view(), appendTo: to.view(), appendKey: keys.view() }
}
