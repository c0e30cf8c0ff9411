// What the oracle for SQL histories needs to know of a history, rule by rule from the definitions:
// what every transaction writes, what every statement saw of every row of its table, whose version
// a row passed over may have been, and what violates every level. Plain loops; shares nothing with
// src/check. Main function: judgeSql.

import {
  ABORTED,
  COMMITTED,
  type History,
  INDETERMINATE,
  INITIAL,
  NONE,
  READ,
  READ_ROWS,
  rowsOf,
  WRITE,
} from '../../src/history/history.ts'
import { INSERT, REFUSED } from '../../src/history/sql-events.ts'
import { type Predicate, parsePredicate } from '../../src/sql/predicate.ts'
import type { SqlRow } from '../../src/sql/value.ts'

/** A row that a statement saw from another transaction; nodes: 0 is the initial one, txn + 1. */
export interface SeenRow {
  readonly reader: number // node
  readonly read: number // which read of all, in program order within the reader
  readonly event: number
  readonly key: number
  readonly from: number // node, NONE if the row was passed over and no version is named
  readonly zeros: number // passed over: mask of nodes whose version does not satisfy the predicate
}

export interface SqlOffence {
  readonly name: string
  readonly txn: number
  readonly event: number
  readonly key: number
}

export interface SqlSituation {
  readonly nodeCount: number
  readonly so: readonly number[] // node -> mask of its predecessors
  readonly writers: readonly number[] // key -> mask of nodes that write it, aborted ones left out
  readonly seen: readonly SeenRow[] // of all that are judged, or may be
  readonly certain: number // mask of nodes that count, those rolled back among them
  readonly optional: number // mask of those that may count or not
  readonly offences: readonly SqlOffence[] // of those, too
  /** Whether an audit that saw a node's version of a key misses what somebody did before it. */
  isLosing(row: SeenRow, node: number): boolean
}

/** @param judgesAborted whether the reads of those are judged that were rolled back on purpose */
export function judgeSql(history: History, judgesAborted = true): SqlSituation {
  const { txnCount, txnStatus, txnSession, txnIndex } = history
  const counts = findCounting(history, judgesAborted)
  const judge = new SqlJudge(history)
  const so = [0]
  let certain = 1
  let optional = 0
  for (let txn = 0; txn < txnCount; txn++) {
    let mask = 1
    for (let other = 0; other < txnCount; other++) {
      const same = txnSession[other] === txnSession[txn]
      if (same && txnIndex[other]! < txnIndex[txn]!) mask |= 2 << other
    }
    so.push(mask)
    if (counts.has(txn)) certain |= 2 << txn
    else if (txnStatus[txn] === INDETERMINATE) optional |= 2 << txn
    else continue
    judge.visit(txn)
  }
  const writers = Array.from({ length: history.keyCount }, (_, key) => judge.writersOf(key))
  const { seen, offences } = judge
  const isLosing = (row: SeenRow, node: number) => judge.isLosingFrom(row, node)
  return { nodeCount: txnCount + 1, so, writers, seen, certain, optional, offences, isLosing }
}

/** Who counts for certain: committed, rolled back if that is judged, or seen by one of those. */
function findCounting(history: History, judgesAborted: boolean): Set<number> {
  const { txnCount, txnStatus, txnIsInitial, txnOpStart, readTxn, sql } = history
  const counts = new Set<number>()
  for (let txn = 0; txn < txnCount; txn++) {
    const isJudged = judgesAborted && sql?.txnRolledBack[txn] === 1
    if (!txnIsInitial[txn] && (txnStatus[txn] === COMMITTED || isJudged)) counts.add(txn)
  }
  for (const reader of counts) {
    for (let op = txnOpStart[reader]!; op < txnOpStart[reader + 1]!; op++) {
      if (txnStatus[readTxn[op]!] === INDETERMINATE) counts.add(readTxn[op]!)
    }
  }
  return counts
}

class SqlJudge {
  readonly seen: SeenRow[] = []
  readonly offences: SqlOffence[] = []
  private readonly compiled: Predicate[] = []
  private readCount = 0

  constructor(private readonly history: History) {}

  visit(txn: number): void {
    const { txnOpStart, opKind, sql } = this.history
    let event = sql ? sql.txnEventStart[txn]! : 0
    const eventEnd = sql ? sql.txnEventStart[txn + 1]! : 0
    for (let op = txnOpStart[txn]!; op <= txnOpStart[txn + 1]!; op++) {
      while (event < eventEnd && sql!.eventOpStart[event]! <= op) this.visitEvent(txn, event++)
      if (op === txnOpStart[txn + 1]!) break
      if (opKind[op] === WRITE || (sql && sql.opEvent[op] !== NONE)) continue
      this.readCount++
      this.visitNamed(txn, NONE, op)
    }
  }

  private visitEvent(txn: number, event: number): void {
    const { opKind, opKey, txnOpStart, keyCount } = this.history
    const sql = this.history.sql!
    if (sql.eventKind[event] === INSERT) return
    this.readCount++
    for (let key = 0; key < keyCount; key++) {
      if (sql.keyTable[key] !== sql.eventTable[event]) continue
      let named = NONE
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const here = sql.opEvent[op] === event && opKind[op] !== WRITE && opKey[op] === key
        if (here) named = op
      }
      if (named !== NONE) this.visitNamed(txn, event, named)
      else if (sql.eventKind[event] !== REFUSED) this.visitPassed(txn, event, key)
    }
  }

  /** A row that was returned, or passed over with its version named; or a register. */
  private visitNamed(txn: number, event: number, op: number): void {
    const { opKey, readFrom, readTxn } = this.history
    const key = opKey[op]!
    const name = this.findOffence(txn, event, op)
    if (name !== null) {
      this.offences.push({ name, txn, event, key })
    } else if (readTxn[op] !== txn) {
      const from = readFrom[op] === INITIAL ? 0 : readTxn[op]! + 1
      this.seen.push({ reader: txn + 1, read: this.readCount, event, key, from, zeros: 0 })
    }
  }

  /** The first rule that a read breaks. */
  private findOffence(txn: number, event: number, op: number): string | null {
    const { opKey, readFrom, readTxn, txnStatus, sql } = this.history
    const key = opKey[op]!
    const write = readFrom[op]!
    const row = event === NONE ? null : this.rowOf(key, write)
    const returned = event === NONE || sql!.opReturned[op] === 1
    const own = this.lastWrite(txn, key, op)
    if (this.history.opKind[op] === READ_ROWS) {
      return rowsOf(this.history, op).length === 0 ? 'VanishedRow' : 'DuplicateRow'
    }
    if (write === NONE) return 'ThinAirRead'
    if (write === INITIAL && event !== NONE && returned && row === null) return 'ThinAirRead'
    const writer = readTxn[op]!
    if (write !== INITIAL && txnStatus[writer] === ABORTED && writer !== txn) return 'AbortedRead'
    if (writer === txn && write > op) return 'FutureRead'
    if (writer === txn && write !== own) return 'NotMyLastWrite'
    if (writer !== txn && own !== NONE) return 'NotMyOwnWrite'
    if (write !== INITIAL && writer !== txn && this.lastWrite(writer, key) !== write) {
      return 'IntermediateRead'
    }
    if (writer !== txn && this.isLosing(txn, key, write)) return 'LostCommit'
    if (event === NONE || this.satisfies(event, row) === returned) return null
    return writer === txn && !returned ? 'NotMyOwnWrite' : 'PredicateMismatch'
  }

  /** Whether an audit that shows this version misses what somebody did before it. */
  isLosing(audit: number, key: number, version: number): boolean {
    const { txnAudit, txnCount, txnStatus, txnSession, txnIndex } = this.history
    if (!txnAudit?.[audit]) return false
    for (let txn = 0; txn < txnCount; txn++) {
      const before = txnSession[txn] === txnSession[audit] && txnIndex[txn]! < txnIndex[audit]!
      const write = this.lastWrite(txn, key)
      if (!before || txnStatus[txn] !== COMMITTED || write === NONE) continue
      if (write !== version && this.isBuiltOn(write, version)) return true
    }
    return false
  }

  /** Whether whoever wrote a version saw the other one before, or one built on it, and so on. */
  private isBuiltOn(write: number, version: number): boolean {
    if (version === INITIAL) return true
    const below = new Set([write])
    for (const at of below) for (const seen of this.replaced(at)) below.add(seen)
    return below.has(version)
  }

  /** The versions of the row that the writer of another one saw before. */
  private replaced(write: number): number[] {
    const { txnOpStart, opTxn, opKey, opKind, readFrom, readTxn, txnStatus } = this.history
    const txn = opTxn[write]!
    const key = opKey[write]!
    const versions: number[] = []
    for (let op = write - 1; op >= txnOpStart[txn]!; op--) {
      if (opKind[op] !== READ || opKey[op] !== key || readFrom[op]! < 0) continue
      const from = readTxn[op]!
      if (from === txn || this.lastWrite(txn, key, op) !== NONE) continue
      const sound = txnStatus[from] !== ABORTED && this.lastWrite(from, key) === readFrom[op]
      if (sound) versions.push(readFrom[op]!)
    }
    return versions
  }

  /** A row of which the statement does not speak. */
  private visitPassed(txn: number, event: number, key: number): void {
    const { sql, txnCount, txnStatus } = this.history
    const own = this.lastWrite(txn, key, sql!.eventOpStart[event]!)
    if (own !== NONE) {
      if (this.satisfies(event, this.rowOf(key, own))) {
        this.offences.push({ name: 'NotMyOwnWrite', txn, event, key })
      }
      return
    }
    let zeros = this.satisfies(event, this.rowOf(key, INITIAL)) ? 0 : 1
    for (let other = 0; other < txnCount; other++) {
      const write = this.lastWrite(other, key)
      if (other === txn || txnStatus[other] === ABORTED || write === NONE) continue
      if (!this.satisfies(event, this.rowOf(key, write))) zeros |= 2 << other
    }
    this.seen.push({ reader: txn + 1, read: this.readCount, event, key, from: NONE, zeros })
  }

  isLosingFrom({ reader, key }: SeenRow, node: number): boolean {
    const version = node === 0 ? INITIAL : this.lastWrite(node - 1, key)
    return this.isLosing(reader - 1, key, version)
  }

  writersOf(key: number): number {
    const { txnCount, txnStatus } = this.history
    let mask = 1
    for (let txn = 0; txn < txnCount; txn++) {
      if (txnStatus[txn] !== ABORTED && this.lastWrite(txn, key) !== NONE) mask |= 2 << txn
    }
    return mask
  }

  /** The last write of the key by the transaction, before `end` if it is given. */
  private lastWrite(txn: number, key: number, end = this.history.opCount): number {
    const { txnOpStart, opKind, opKey } = this.history
    for (let op = Math.min(end, txnOpStart[txn + 1]!) - 1; op >= txnOpStart[txn]!; op--) {
      if (opKind[op] === WRITE && opKey[op] === key) return op
    }
    return NONE
  }

  private rowOf(key: number, write: number): SqlRow | null {
    const sql = this.history.sql!
    if (write === NONE) return null
    return (write === INITIAL ? sql.initialRow[key] : sql.opRow[write]) ?? null
  }

  private satisfies(event: number, row: SqlRow | null): boolean {
    const sql = this.history.sql!
    const id = sql.eventPredicate[event]!
    if (row === null) return false
    if (id === NONE) return true
    const { text, table, params } = sql.predicates[id]!
    this.compiled[id] ??= parsePredicate(text, sql.tables[table]!.columns, params)
    return this.compiled[id]!.evaluate(row) === true
  }
}
