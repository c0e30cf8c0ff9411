// Verifies that transactions keep the level of each, by replaying a commit order and a witness:
// every read is of a sound version, every row that a statement passed over has a version it may
// have seen, and no read misses a version that its own transaction's level makes visible to it,
// unless that one commits before what was read (Bouajjani, Enea, Román-Calvo: Definitions 5 to 7).
// A list must have been appended to in the order of commits, as every read of it shows.
// A row of which no version satisfies the predicate needs no witness: the latest visible one always
// serves, and makes nothing else visible. But where others are at cc, readers at pc, si and ser
// must name all that they saw: it is a cause of what follows. Cost: reads × writers of a key; a bit
// per pair of transactions where some reader is at cc. Main function: certifyWitness.

import { addTo, obtain } from '../base/maps.ts'
import {
  ABORTED,
  COMMITTED,
  type History,
  INDETERMINATE,
  NONE,
  READ_LIST,
} from '../history/history.ts'
import { looksThrough } from '../history/sql-events.ts'
import { findAppended, isWrite, splitList } from './certify-reads.ts'
import type { LevelOf } from './certify-shape.ts'
import type { SqlRows } from './sql-rows.ts'
import { type Choice, INITIAL_TXN } from './verdict.ts'

const MAX_PROBLEMS = 5

interface Read {
  readonly txn: number
  readonly at: number // place in program order
  readonly key: number
  readonly from: number // transaction it read from, never its own
}

/** Where an operation stands in program order; all of a statement at one place. */
export function placeOf(rows: SqlRows, op: number): number {
  const { opEvent, eventCount } = rows.sql
  return opEvent[op] === NONE ? (op + 1) * (eventCount + 1) - 1 : placeOfEvent(rows, opEvent[op]!)
}

/** Statements without operations stand before the operation that came next. */
export function placeOfEvent({ sql }: SqlRows, event: number): number {
  return sql.eventOpStart[event]! * (sql.eventCount + 1) + event
}

export function certifyWitness(
  rows: SqlRows,
  levelOf: LevelOf,
  order: Int32Array,
  choices: readonly Choice[],
): string[] {
  const replay = new WitnessReplay(rows, levelOf, order)
  if (replay.checkOrder()) {
    replay.collect(choices)
    replay.checkAxioms()
  }
  return replay.problems.slice(0, MAX_PROBLEMS)
}

class WitnessReplay {
  readonly problems: string[] = []
  private readonly history: History
  private readonly position: Int32Array // txn -> place in the order, NONE if it is not in it
  private readonly reads: Read[] = []
  private readonly readsOf = new Map<number, Read[]>() // txn -> its reads, in program order
  private readonly snapshot = new Map<number, number>() // txn at pc, si -> last position it sees
  private anyCausal: boolean | null = null // whether some transaction is at cc
  private appended: ReadonlyMap<number, readonly number[]> | null = null // see findAppended
  private causes: Uint32Array[] | null = null // position -> bits of the positions it depends on

  constructor(
    private readonly rows: SqlRows,
    private readonly levelOf: LevelOf,
    private readonly order: Int32Array,
  ) {
    this.history = rows.history
    this.position = new Int32Array(this.history.txnCount).fill(NONE)
  }

  /** Everybody who counts is in it once, others only if they may have taken effect. */
  checkOrder(): boolean {
    const { txnCount, txnCounts, txnStatus, sessionTxns, txnSession } = this.history
    this.order.forEach((txn, i) => {
      if (!(txn >= 0 && txn < txnCount) || this.position[txn] !== NONE) this.fail('a bad order')
      else if (!txnCounts[txn] && txnStatus[txn] === COMMITTED) this.fail(`${txn} does not count`)
      else if (!this.rows.mayCount(txn)) this.fail(`${txn} took no effect`)
      else this.position[txn] = i
    })
    for (let txn = 0; txn < txnCount; txn++) {
      if (txnCounts[txn] && this.position[txn] === NONE) this.fail(`${txn} is not in the order`)
    }
    let before = NONE
    for (const txn of sessionTxns) {
      if (this.position[txn] === NONE) continue
      const same = before !== NONE && txnSession[before] === txnSession[txn]
      if (same && this.position[before]! > this.position[txn]!) {
        this.fail(`${before} and ${txn} contradict session order`)
      }
      before = txn
    }
    if (this.order.some((txn) => this.levelOf(txn) === 'sser')) this.checkTimes()
    return this.problems.length === 0
  }

  /** Nobody may come after one that started only when it had finished. */
  private checkTimes(): void {
    const { txnStartTime, txnFinishTime, txnStatus, txnCounts } = this.history
    let latestStart = Number.NEGATIVE_INFINITY
    for (const txn of this.order) {
      const start = txnStartTime?.[txn] ?? Number.NaN
      // One of which nobody knows how it ended may take effect at any later moment.
      const isOpen = txnStatus[txn] === INDETERMINATE
      const finish = isOpen ? Number.NaN : (txnFinishTime?.[txn] ?? Number.NaN)
      const lacksFinish = txnStatus[txn] === COMMITTED && Number.isNaN(finish)
      if (lacksFinish || (txnCounts[txn] && Number.isNaN(start))) this.fail(`${txn} has no times`)
      if (finish < latestStart) this.fail(`${txn} comes after one that started later`)
      if (start > latestStart) latestStart = start
    }
  }

  /** Every read of a row: what was returned, and what was passed over by the choices. */
  collect(choices: readonly Choice[]): void {
    const { txnOpStart } = this.history
    const { sql } = this.rows
    const chosen = new Map<number, Map<number, number>>() // event -> key -> the txn chosen
    for (const { event, key, txn } of choices) obtain(chosen, event, () => new Map()).set(key, txn)
    for (const txn of this.order) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        if (!isWrite(this.history, op)) this.collectRead(txn, op)
      }
      for (let event = sql.txnEventStart[txn]!; event < sql.txnEventStart[txn + 1]!; event++) {
        if (!looksThrough(sql, event)) continue
        const keys = this.mustNameAll(txn)
          ? this.rows.unmentioned(event)
          : this.rows.passedOver(event)
        const ofEvent = chosen.get(event)
        for (const key of keys) this.collectAbsence(event, key, ofEvent?.get(key))
      }
      if (this.problems.length >= MAX_PROBLEMS) return
    }
    for (const reads of this.readsOf.values()) reads.sort((a, b) => a.at - b.at)
  }

  private collectRead(txn: number, op: number): void {
    const offence = this.rows.offenceOf(op)
    if (offence !== null) return this.fail(`read ${op} is ${offence}`)
    const from = this.sourceOf(op)
    if (from !== txn)
      this.add({ txn, at: placeOf(this.rows, op), key: this.history.opKey[op]!, from })
  }

  /** Whom a sound read is from; for a list it must show what the order has appended until then. */
  private sourceOf(read: number): number {
    const { readTxn, opKind, opTxn, opKey } = this.history
    if (opKind[read] !== READ_LIST) return readTxn[read]! < 0 ? INITIAL_TXN : readTxn[read]!
    const { foreign } = splitList(this.history, read)
    this.appended ??= findAppended(this.history, this.order)
    const all = this.appended.get(opKey[read]!) ?? []
    this.rows.deadline.step(foreign.length)
    if (foreign.some((append, i) => append !== all[i])) {
      this.fail(`read ${read} of a list shows another order than that of commits`)
    }
    return foreign.length === 0 ? INITIAL_TXN : opTxn[foreign.at(-1)!]!
  }

  private collectAbsence(event: number, key: number, from: number | undefined): void {
    const { rows } = this
    const { eventTxn } = rows.sql
    const txn = eventTxn[event]!
    const own = rows.ownVersion(event, key)
    if (own !== NONE) {
      if (rows.satisfies(event, key, own)) this.fail(`statement ${event} missed its own row ${key}`)
      return
    }
    if (rows.findLost(event, key).length > 0) {
      return this.fail(`statement ${event} shows that a commit to row ${key} is lost`)
    }
    const present = (writer: number) =>
      writer === INITIAL_TXN || (writer !== txn && this.position[writer] !== NONE)
    const shows = (writer: number) => rows.satisfies(event, key, rows.lastWrite(writer, key))
    if (from === undefined) {
      const others = rows.writers(key).filter(present)
      const doubt = others.some(shows) || (this.mustNameAll(txn) && others.length > 1)
      if (doubt) this.fail(`nobody is named for row ${key}, which statement ${event} passed over`)
      return
    }
    const last = rows.lastWrite(from, key)
    if (!present(from) || last === NONE || shows(from)) {
      return this.fail(`statement ${event} cannot have passed over row ${key} as ${from} left it`)
    }
    this.add({ txn, at: placeOfEvent(rows, event), key, from })
  }

  /** Whether what the transaction saw beyond what it follows may be a cause for others. */
  private mustNameAll(txn: number): boolean {
    const level = this.levelOf(txn)
    if (!['pc', 'si', 'ser', 'sser'].includes(level)) return false
    this.anyCausal ??= this.order.some((other) => this.levelOf(other) === 'cc')
    return this.anyCausal
  }

  private add(read: Read): void {
    if (read.from !== INITIAL_TXN) {
      const position = this.position[read.from]!
      if (position === NONE) return this.fail(`${read.txn} reads from ${read.from}, which is out`)
      if (position >= this.position[read.txn]!) {
        return this.fail(`${read.txn} reads from ${read.from}, which commits later`)
      }
    }
    this.reads.push(read)
    addTo(this.readsOf, read.txn, read)
  }

  checkAxioms(): void {
    for (const read of this.reads) {
      if (this.problems.length >= MAX_PROBLEMS) return
      const seen = read.from === INITIAL_TXN ? NONE : this.position[read.from]!
      for (const writer of this.rows.writers(read.key)) {
        if (writer === INITIAL_TXN || writer === read.from || writer === read.txn) continue
        if (this.position[writer] === NONE || this.position[writer]! < seen) continue
        if (this.sees(read, writer)) {
          const level = this.levelOf(read.txn)
          this.fail(`${read.txn} (${level}) sees ${writer} but read key ${read.key} before it`)
        }
      }
    }
  }

  /** Whether the level of the reader makes the writer visible to the read. */
  private sees(read: Read, writer: number): boolean {
    const { txnSession, txnIndex } = this.history
    const level = this.levelOf(read.txn)
    const position = this.position[writer]!
    if (position >= this.position[read.txn]!) return false
    if (level === 'ser' || level === 'sser') return true
    if (level === 'pc' || level === 'si') return position <= this.snapshotOf(read.txn)
    if (level === 'cc') return this.isCause(writer, read.txn)
    const isBefore =
      txnSession[writer] === txnSession[read.txn] && txnIndex[writer]! < txnIndex[read.txn]!
    const isSql = this.history.sql !== null
    if (isBefore && (level === 'ra' || isSql)) return true
    const others = this.readsOf.get(read.txn)!.filter((other) => other.from === writer)
    if (level === 'ra') return others.length > 0
    // Read committed: what it read before; in SQL also what the same statement read.
    return others.some((other) => other.at < read.at || (isSql && other.at === read.at))
  }

  /** The last position that a transaction at pc or si sees, NONE if it sees the initial state. */
  private snapshotOf(txn: number): number {
    const known = this.snapshot.get(txn)
    if (known !== undefined) return known
    let last = NONE
    for (const { from } of this.readsOf.get(txn) ?? []) {
      if (from !== INITIAL_TXN) last = Math.max(last, this.position[from]!)
    }
    const { txnSession, txnIndex, sessionTxnStart, sessionTxns } = this.history
    const start = sessionTxnStart[txnSession[txn]!]!
    for (let i = start; i < start + txnIndex[txn]!; i++) {
      last = Math.max(last, this.position[sessionTxns[i]!]!)
    }
    if (this.levelOf(txn) === 'si') last = Math.max(last, this.lastConflict(txn))
    this.snapshot.set(txn, last)
    return last
  }

  /** The last one that commits before it and writes a key that it writes. */
  private lastConflict(txn: number): number {
    const { txnOpStart, txnStatus, opKey } = this.history
    let last = NONE
    if (txnStatus[txn] === ABORTED) return last // it conflicts with nobody
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      if (!isWrite(this.history, op)) continue
      for (const writer of this.rows.writers(opKey[op]!)) {
        if (writer === INITIAL_TXN) continue
        const position = this.position[writer]!
        if (position < this.position[txn]! && position > last) last = position
      }
    }
    return last
  }

  private isCause(writer: number, reader: number): boolean {
    this.causes ??= this.findCauses()
    const at = this.position[writer]!
    return ((this.causes[this.position[reader]!]![at >> 5]! >> (at & 31)) & 1) === 1
  }

  private findCauses(): Uint32Array[] {
    const { txnSession } = this.history
    const words = (this.order.length + 31) >> 5
    const causes: Uint32Array[] = []
    const lastOf = new Map<number, number>() // session -> position of its latest transaction
    this.order.forEach((txn, i) => {
      this.rows.deadline.step(words)
      const bits = new Uint32Array(words)
      const take = (position: number) => {
        this.rows.deadline.step(words)
        causes[position]!.forEach((word, w) => {
          bits[w]! |= word
        })
        bits[position >> 5]! |= 1 << (position & 31)
      }
      const before = lastOf.get(txnSession[txn]!)
      if (before !== undefined) take(before)
      for (const { from } of this.readsOf.get(txn) ?? []) {
        if (from !== INITIAL_TXN) take(this.position[from]!)
      }
      lastOf.set(txnSession[txn]!, i)
      causes.push(bits)
    })
    return causes
  }

  private fail(problem: string): void {
    this.problems.push(problem)
  }
}
