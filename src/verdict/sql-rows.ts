// Rows of a SQL history as the certifier sees them, straight from docs/sql-history.md: which row a
// version holds, whether it satisfies a statement's predicate, what a statement did not return, and
// who may have written the version it passed over. Shares no code with check/; what a clause means
// both take from src/sql, which is compared with PostgreSQL itself (test/live/predicates.test.ts).

import { Deadline } from '../base/deadline.ts'
import { badPredicate } from '../history/bad-predicate.ts'
import {
  ABORTED,
  type History,
  hasLists,
  INDETERMINATE,
  INITIAL,
  NONE,
  READ_LIST,
  READ_ROWS,
  WRITE,
} from '../history/history.ts'
import { looksThrough, type SqlEvents } from '../history/sql-events.ts'
import { statementsOf } from '../history/sql-steps.ts'
import { type Predicate, parsePredicate } from '../sql/predicate.ts'
import type { SqlRow } from '../sql/value.ts'
import { Audits } from './certify-audits.ts'
import { isWrite, nameListRead, nameRead, nameRows } from './certify-reads.ts'
import { INITIAL_TXN } from './verdict.ts'

/** Parsing a clause takes as long as so many steps. */
const PARSING = 1024

export class SqlRows {
  readonly sql: SqlEvents
  private readonly compiled: (Predicate | null)[]
  private readonly showing: (readonly number[] | null)[] // predicate -> keys it could return
  private readonly keyWrites: number[][] // key -> each transaction's last write of it
  private lazyPossible: Uint8Array | null = null

  constructor(
    readonly history: History,
    readonly deadline: Deadline = Deadline.none(),
  ) {
    this.sql = statementsOf(history)
    this.compiled = this.sql.predicates.map(() => null)
    this.showing = this.sql.predicates.map(() => null)
    this.keyWrites = Array.from({ length: history.keyCount }, () => [])
    for (let op = 0; op < history.opCount; op++) {
      if (!isWrite(history, op) || this.isAborted(history.opTxn[op]!)) continue
      const writes = this.keyWrites[history.opKey[op]!]!
      const isRepeated = writes.length > 0 && history.opTxn[writes.at(-1)!] === history.opTxn[op]
      if (isRepeated) writes.pop()
      writes.push(op)
    }
  }

  /** Nobody else sees what it wrote, whether or not its own reads are judged. */
  private isAborted(txn: number): boolean {
    return this.history.txnStatus[txn] === ABORTED
  }

  /** The row that a write left, null if it deleted it or there was none at first. */
  row(key: number, write: number): SqlRow | null {
    return (write === INITIAL ? this.sql.initialRow[key] : this.sql.opRow[write]) ?? null
  }

  /** True if the statement would have returned that version. */
  satisfies(event: number, key: number, write: number): boolean {
    const row = this.row(key, write)
    this.deadline.step(8)
    if (row === null) return false
    const id = this.sql.eventPredicate[event]!
    const predicate = this.sql.predicates[id]!
    try {
      const { columns, name } = this.sql.tables[predicate.table]!
      if (!this.compiled[id]) this.deadline.step(PARSING)
      this.compiled[id] ??= parsePredicate(predicate.text, columns, predicate.params, name)
      return this.compiled[id].matches(row)
    } catch (error) {
      throw badPredicate(predicate, error)
    }
  }

  /** Rows that somebody who may count left with what the statement looks for. */
  rowsSought(event: number): readonly number[] {
    const id = this.sql.eventPredicate[event]!
    const known = this.showing[id]
    if (known) return known
    const table = this.sql.predicates[id]!.table
    const keys: number[] = []
    for (let key = 0; key < this.history.keyCount; key++) {
      if (this.sql.keyTable[key] !== table) continue
      const shows = (write: number) => this.satisfies(event, key, write)
      if (shows(INITIAL) || this.versions(key).some(shows)) keys.push(key)
    }
    this.showing[id] = keys
    return keys
  }

  /** The read operation by which a statement speaks of a row, NONE if it does not. */
  readOf(event: number, key: number): number {
    const { opEvent, eventOpStart } = this.sql
    for (let op = eventOpStart[event]!; opEvent[op] === event; op++) {
      if (this.history.opKey[op] === key && this.history.opKind[op] !== WRITE) return op
    }
    return NONE
  }

  /** The reader's own latest write of the row before the statement, NONE if there is none. */
  ownVersion(event: number, key: number): number {
    const { txnOpStart, opKey, opKind } = this.history
    const from = txnOpStart[this.sql.eventTxn[event]!]!
    for (let op = this.sql.eventOpStart[event]! - 1; op >= from; op--) {
      if (opKey[op] === key && opKind[op] === WRITE) return op
    }
    return NONE
  }

  /** What a transaction leaves of a key: its last write, INITIAL, or NONE. */
  lastWrite(txn: number, key: number): number {
    if (txn === INITIAL_TXN) return INITIAL
    if (this.isAborted(txn)) return NONE
    const { txnOpStart, opKey } = this.history
    for (let op = txnOpStart[txn + 1]! - 1; op >= txnOpStart[txn]!; op--) {
      if (opKey[op] === key && isWrite(this.history, op)) return op
    }
    return NONE
  }

  /** Transactions that write the key and count, or may count; the initial one first. */
  writers(key: number): number[] {
    return [INITIAL_TXN, ...this.versions(key).map((write) => this.history.opTxn[write]!)]
  }

  /** The versions of a key that those left who count, or may; but for the initial one. */
  private versions(key: number): number[] {
    this.deadline.step(4 * this.keyWrites[key]!.length)
    return this.keyWrites[key]!.filter((write) => this.mayCount(this.history.opTxn[write]!))
  }

  /** Who may have written the version of a row that the statement passed over. */
  candidates(event: number, key: number): number[] {
    const reader = this.sql.eventTxn[event]!
    return this.writers(key).filter(
      (txn) => txn !== reader && !this.satisfies(event, key, this.lastWrite(txn, key)),
    )
  }

  /** What is wrong with a read of a row by itself, null if nothing is. */
  offenceOf(read: number): string | null {
    const { history, sql } = this
    const event = sql.opEvent[read]!
    const write = history.readFrom[read]!
    const key = history.opKey[read]!
    const returned = sql.opReturned[read] === 1
    const isSql = event !== NONE
    if (history.opKind[read] === READ_ROWS) return nameRows(history, read)
    if (isSql && returned && write === INITIAL && this.row(key, write) === null) {
      return 'ThinAirRead'
    }
    const isList = history.opKind[read] === READ_LIST
    const name = isList ? nameListRead(history, read) : nameRead(history, read)
    const isOwn = !isList && write >= 0 && history.opTxn[write] === history.opTxn[read]
    if (name === null && !isOwn && Audits.of(history).isLosing(read)) return 'LostCommit'
    if (name !== null || !isSql) return name
    if (this.satisfies(event, key, write) === returned) return null
    return isOwn && !returned ? 'NotMyOwnWrite' : 'PredicateMismatch'
  }

  /** What is wrong with a row that the statement passed over, null if nothing is. */
  absenceOffence(event: number, key: number): string | null {
    const own = this.ownVersion(event, key)
    if (own !== NONE) return this.satisfies(event, key, own) ? 'NotMyOwnWrite' : null
    if (this.candidates(event, key).length === 0) return 'VanishedRow'
    return this.findLost(event, key).length > 0 ? 'LostCommit' : null
  }

  /** Writes that an audit misses by passing the row over: it can have seen one version only. */
  findLost(event: number, key: number): number[] {
    const audit = this.sql.eventTxn[event]!
    if (!this.history.txnAudit?.[audit]) return []
    const candidates = this.candidates(event, key)
    if (candidates.length !== 1) return []
    return Audits.of(this.history).findLost(audit, key, this.lastWrite(candidates[0]!, key))
  }

  /** Rows that the statement looked for and did not speak of. */
  passedOver(event: number): number[] {
    const sought = this.rowsSought(event)
    const own = this.ownSought(event)
    const isPassed = (key: number) => this.readOf(event, key) === NONE
    if (own.length === 0) return sought.filter(isPassed)
    return [...new Set([...sought, ...own])].filter(isPassed)
  }

  /** Rows that the reader itself had left so, though perhaps for itself alone. */
  private ownSought(event: number): number[] {
    const { opKey, opKind, txnOpStart } = this.history
    const { eventTxn, eventOpStart, eventTable, keyTable } = this.sql
    const keys = new Set<number>()
    for (let op = txnOpStart[eventTxn[event]!]!; op < eventOpStart[event]!; op++) {
      if (opKind[op] === WRITE && keyTable[opKey[op]!] === eventTable[event]) keys.add(opKey[op]!)
    }
    return [...keys].filter((key) => this.satisfies(event, key, this.ownVersion(event, key)))
  }

  /** What speaks against saying that the statement of `reader` passed the row over. */
  absenceProblem(reader: number, event: number, key: number): string | null {
    const { eventTxn, eventTable, keyTable } = this.sql
    if (eventTxn[event] !== reader || !looksThrough(this.sql, event))
      return `${reader} has no such statement`
    if (keyTable[key] !== eventTable[event]) return `row ${key} is of another table`
    if (this.readOf(event, key) !== NONE) return `statement ${event} did not pass row ${key} over`
    return null
  }

  /** All rows of its table that the statement did not speak of. */
  unmentioned(event: number): number[] {
    const { keyTable, eventTable } = this.sql
    const keys: number[] = []
    this.deadline.step(4 * this.history.keyCount)
    for (let key = 0; key < this.history.keyCount; key++) {
      const isThere = keyTable[key] === eventTable[event]
      if (isThere && this.readOf(event, key) === NONE) keys.push(key)
    }
    return keys
  }

  /**
   * Whether the transaction took effect, or may have: indeterminate ones that nobody saw may,
   * unless their own reads are impossible.
   */
  mayCount(txn: number): boolean {
    this.lazyPossible ??= this.findPossible()
    return this.lazyPossible[txn] === 1
  }

  private findPossible(): Uint8Array {
    const { txnCounts, txnStatus, txnCount } = this.history
    const possible = txnCounts.slice()
    this.lazyPossible = possible
    const open: number[] = []
    // Without those whose appends nobody saw, lists read the same: there they take no part.
    const end = hasLists(this.history) ? 0 : txnCount
    for (let txn = 0; txn < end; txn++) {
      if (txnCounts[txn] || txnStatus[txn] !== INDETERMINATE) continue
      possible[txn] = 1
      open.push(txn)
    }
    // What one of them cannot have done may take away another's explanation.
    for (let changed = true; changed; ) {
      changed = false
      for (const txn of open) {
        if (!possible[txn] || !this.offends(txn)) continue
        possible[txn] = 0
        changed = true
      }
    }
    return possible
  }

  private offends(txn: number): boolean {
    const { txnOpStart, opKind, readTxn } = this.history
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (opKind[op] === WRITE) continue
      if (this.offenceOf(op) !== null) return true
      if (readTxn[op]! >= 0 && readTxn[op] !== txn && !this.lazyPossible![readTxn[op]!]) return true
    }
    const { txnEventStart } = this.sql
    for (let event = txnEventStart[txn]!; event < txnEventStart[txn + 1]!; event++) {
      if (!looksThrough(this.sql, event)) continue
      if (this.passedOver(event).some((key) => this.absenceOffence(event, key) !== null))
        return true
    }
    return false
  }
}
