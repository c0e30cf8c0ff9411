// The part of a history that strong levels are about, packed for speed: transactions renumbered so
// that each session is a run of consecutive numbers, every final write a numbered version, and for
// each version its readers. Built for a whole history or for some transactions; a read whose writer
// is left out is left out with it, which keeps a satisfied history satisfied (any order of the
// whole, cut down, is an order of the part). O(operations kept). Main class: ProblemBuilder.

import { Deadline } from '../../base/deadline.ts'
import { IntColumn } from '../../base/grow.ts'
import { lowerBound } from '../../base/search.ts'
import { buildCsr } from '../../graph/csr.ts'
import { APPEND, type History, INITIAL, NONE, WRITE } from '../../history/history.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'

/** Who wrote what, and who read it. */
export interface Versions {
  readonly txnCount: number
  readonly keyCount: number // keys that somebody writes
  readonly keyOf: Int32Array // local key -> key of the history
  readonly keyStart: Int32Array // local key -> its first version; one more entry at the end
  readonly versionTxn: Int32Array // version -> local txn, session by session within a key
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

export interface RegisterProblem extends Versions {
  readonly history: History
  readonly reads: ReadCheck
  readonly txnOf: Int32Array // local txn -> txn of the history
  readonly sessionCount: number // sessions with at least one transaction
  readonly sessionStart: Int32Array // session -> its first local txn; one more entry at the end
  readonly sessionOf: Int32Array // local txn -> session
}

/** Builds problems of one history; its arrays are as long as the history and used again. */
export class ProblemBuilder {
  private readonly local: Int32Array // txn -> local txn, NONE unless building
  private readonly localKey: Int32Array // key -> local key, NONE unless building
  private readonly keyStamp: Int32Array // key -> stamp of the last transaction that wrote it
  private stamp = 0

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
  ) {
    this.local = new Int32Array(history.txnCount).fill(NONE)
    this.localKey = new Int32Array(history.keyCount).fill(NONE)
    this.keyStamp = new Int32Array(history.keyCount)
  }

  /** @param txns transactions to keep, all that count unless given */
  build(
    txns: Iterable<number> | null = null,
    deadline: Deadline = Deadline.none(),
  ): RegisterProblem {
    try {
      return this.layOut(txns, deadline)
    } catch (error) {
      // Out of time in the middle: the next part must find the arrays as they should be.
      this.local.fill(NONE)
      this.localKey.fill(NONE)
      throw error
    }
  }

  private layOut(txns: Iterable<number> | null, deadline: Deadline): RegisterProblem {
    const { history, reads, local, localKey } = this
    const sessions = this.layOutSessions(txns)
    const { txnOf } = sessions
    for (let t = 0; t < txnOf.length; t++) local[txnOf[t]!] = t
    const versions = this.layOutVersions(txnOf, deadline)
    const runs = layOutRuns(versions.keyStart, versions.versionTxn, sessions.sessionOf)
    const readers = this.layOutReaders(txnOf, versions, deadline)
    const appends = findAppendOrder(history, reads, local, versions.keyOf)
    for (const txn of txnOf) local[txn] = NONE
    for (const key of versions.keyOf) localKey[key] = NONE
    return { history, reads, ...sessions, ...versions, ...runs, ...readers, ...appends }
  }

  private layOutSessions(txns: Iterable<number> | null) {
    const { sessionTxns, txnCounts, txnSession, txnIndex } = this.history
    const kept =
      txns === null
        ? sessionTxns.filter((txn) => txnCounts[txn] === 1)
        : Int32Array.from(txns)
            .filter((txn) => txnCounts[txn] === 1)
            .sort((a, b) => txnSession[a]! - txnSession[b]! || txnIndex[a]! - txnIndex[b]!)
    const sessionStart = new IntColumn(16)
    const sessionOf = new Int32Array(kept.length)
    for (let t = 0; t < kept.length; t++) {
      if (t === 0 || txnSession[kept[t]!] !== txnSession[kept[t - 1]!]) sessionStart.push(t)
      sessionOf[t] = sessionStart.length - 1
    }
    const sessionCount = sessionStart.length
    sessionStart.push(kept.length)
    return {
      txnCount: kept.length,
      txnOf: kept,
      sessionCount,
      sessionStart: sessionStart.view(),
      sessionOf,
    }
  }

  private layOutVersions(txnOf: Int32Array, deadline: Deadline) {
    const { localKey } = this
    const keyOf = new IntColumn(64)
    const size = new IntColumn(64) // local key -> versions
    this.eachVersion(txnOf, deadline, (_, key) => {
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
    const next = keyStart.slice()
    this.eachVersion(txnOf, deadline, (t, key) => {
      versionTxn[next[localKey[key]!]!++] = t
    })
    return { keyCount, keyOf: keyOf.view(), keyStart, versionTxn }
  }

  /** Visits each key that each transaction writes, once. */
  private eachVersion(
    txnOf: Int32Array,
    deadline: Deadline,
    visit: (t: number, key: number) => void,
  ): void {
    const { txnOpStart, opKind, opKey } = this.history
    const { keyStamp } = this
    for (let t = 0; t < txnOf.length; t++) {
      const end = txnOpStart[txnOf[t]! + 1]!
      const stamp = this.nextStamp()
      deadline.step(4)
      for (let op = txnOpStart[txnOf[t]!]!; op < end; op++) {
        const kind = opKind[op]!
        if (kind !== WRITE && kind !== APPEND) continue
        const key = opKey[op]!
        if (keyStamp[key] === stamp) continue
        keyStamp[key] = stamp
        visit(t, key)
      }
    }
  }

  private nextStamp(): number {
    if (this.stamp === 0x7fffffff) {
      this.keyStamp.fill(0)
      this.stamp = 0
    }
    return ++this.stamp
  }

  private layOutReaders(
    txnOf: Int32Array,
    { keyCount, keyStart, versionTxn }: Pick<Versions, 'keyCount' | 'keyStart' | 'versionTxn'>,
    deadline: Deadline,
  ) {
    const { txnOpStart, opKey } = this.history
    const { opSource } = this.reads
    const { local, localKey } = this
    const of = { version: new IntColumn(64), reader: new IntColumn(64) }
    const ofInitial = { key: new IntColumn(64), reader: new IntColumn(64) }
    const seen = new Int32Array(versionTxn.length).fill(NONE) // version -> its last reader
    const seenInitial = new Int32Array(keyCount).fill(NONE) // local key -> last reader
    for (let t = 0; t < txnOf.length; t++) {
      const end = txnOpStart[txnOf[t]! + 1]!
      deadline.step(8)
      for (let op = txnOpStart[txnOf[t]!]!; op < end; op++) {
        const source = opSource[op]!
        if (source === NONE) continue
        const key = localKey[opKey[op]!]!
        if (key === NONE) continue // nobody writes it
        if (source === INITIAL) {
          if (seenInitial[key] === t) continue
          seenInitial[key] = t
          ofInitial.key.push(key)
          ofInitial.reader.push(t)
        } else {
          if (local[source] === NONE) continue
          const version = lowerBound(versionTxn, local[source]!, keyStart[key]!, keyStart[key + 1]!)
          if (seen[version] === t) continue
          seen[version] = t
          of.version.push(version)
          of.reader.push(t)
        }
      }
    }
    deadline.check()
    const readers = buildCsr(versionTxn.length, of.version.view(), of.reader.view())
    const initial = buildCsr(keyCount, ofInitial.key.view(), ofInitial.reader.view())
    return {
      readerStart: readers.start,
      reader: readers.target,
      initialStart: initial.start,
      initialReader: initial.target,
    }
  }
}

function layOutRuns(keyStart: Int32Array, versionTxn: Int32Array, sessionOf: Int32Array) {
  const keyCount = keyStart.length - 1
  const runStart = new Int32Array(keyCount + 1)
  const runFirst = new IntColumn(64)
  for (let key = 0; key < keyCount; key++) {
    runStart[key] = runFirst.length
    let session: number = NONE
    for (let v = keyStart[key]!; v < keyStart[key + 1]!; v++) {
      const its = sessionOf[versionTxn[v]!]!
      if (its !== session) runFirst.push(v)
      session = its
    }
  }
  runStart[keyCount] = runFirst.length
  runFirst.push(versionTxn.length)
  return { runStart, runFirst: runFirst.view() }
}

/** Pairs of transactions that the observed lists put next to each other. */
function findAppendOrder(
  history: History,
  reads: ReadCheck,
  local: Int32Array,
  written: Int32Array,
) {
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
  for (const key of reads.versions === null ? [] : written) {
    const { orderStart, order, tailStart, tail } = reads.versions!
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
