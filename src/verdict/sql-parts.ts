// Parts of histories with SQL statements. Items that can be left out are rows of the database,
// whole statements, and what statements did to single rows. A read stays only with the write it
// saw, an update with the read it rests on, and both with their statement and their row.
//
// A statement also speaks of the rows that it did not return: of each it passed some version over.
// Whatever might explain that must not go unnoticed: where a version that fails the clause is left
// out, or what the statement returned of the row, its clause is narrowed so that it does not speak
// of that row any more (history/narrow.ts), unless no version that is left satisfies it anyway. So
// an order and a choice of versions that explain the whole explain the part, and a part that
// violates a level shows that the whole does. Main class: SqlParts.

import { addTo } from '../base/maps.ts'
import { HistoryBuilder } from '../history/builder.ts'
import {
  ABORTED,
  type History,
  INITIAL,
  NONE,
  READ_ROWS,
  rowsOf,
  WRITE,
} from '../history/history.ts'
import { narrowClause } from '../history/narrow.ts'
import { DELETE, INSERT, REFUSED, type SqlEvents, UPDATE } from '../history/sql-events.ts'
import { SqlStatements } from '../history/sql-statements.ts'
import { forEachStep } from '../history/sql-steps.ts'
import { copyOp, copyTxn, isPair, needsOf } from '../history/sub-history.ts'
import type { Value } from '../history/values.ts'
import { findOps, groupBy, opRange, type Part, type Parts } from './part.ts'
import { SqlRows } from './sql-rows.ts'
import { type Anomaly, findEdges } from './verdict.ts'

/** Items are numbered through: operations, then statements, then keys. */
export class SqlParts implements Parts {
  readonly itemCount: number
  private readonly firstEvent: number
  private readonly firstKey: number
  private readonly partner: Int32Array // op of an UPDATE or DELETE -> its other half, else NONE
  private readonly rows: SqlRows

  constructor(
    private readonly history: History,
    private readonly sql: SqlEvents,
  ) {
    this.firstEvent = history.opCount
    this.firstKey = this.firstEvent + sql.eventCount
    this.itemCount = this.firstKey + history.keyCount
    this.partner = findPartners(history, sql)
    this.rows = new SqlRows(history)
  }

  needs(item: number): number[] {
    if (item >= this.firstEvent) return []
    const needs = needsOf(this.history, item)
    const event = this.sql.opEvent[item]!
    if (event === NONE) return needs
    needs.push(this.firstEvent + event, this.firstKey + this.history.opKey[item]!)
    if (this.partner[item] !== NONE) needs.push(this.partner[item]!)
    return needs
  }

  get whole(): Part {
    const items = Int32Array.from({ length: this.itemCount }, (_, item) => item)
    const events = items.subarray(this.firstEvent, this.firstKey)
    return this.view(this.history, items, items.subarray(0, this.firstEvent), events)
  }

  build(items: Int32Array): Part {
    const { firstEvent, firstKey } = this
    const kept = new Uint8Array(this.itemCount)
    for (const item of items) kept[item] = 1
    const { history, told } = new PartBuilder(this.history, this.sql, kept, this).build()
    const ops = items.filter((item) => item < firstEvent)
    const events = items.filter((item) => item < firstKey && told.has(item - firstEvent))
    return this.view(history, items, ops, events)
  }

  /**
   * @param ops op of the part -> item
   * @param events statement of the part -> item
   */
  private view(history: History, items: Int32Array, ops: Int32Array, events: Int32Array): Part {
    const { keyTable, txnEventStart } = history.sql!
    const kept = new Set(items)
    const byName = new Map<Value, number>()
    for (const item of items) {
      if (item >= this.firstKey) byName.set(this.history.keyName(item - this.firstKey), item)
    }
    const keyItem = (key: number) => byName.get(history.keyName(key)) ?? NONE
    return {
      history,
      named: (anomaly) => {
        const named = new Set(findOps(anomaly).map((op) => ops[op]!))
        for (const [event, key] of findPassed(anomaly)) {
          named.add(events[event]!).add(keyItem(key))
          for (const write of this.explaining(events[event]!, keyItem(key))) named.add(write)
        }
        return [...named].filter((item) => kept.has(item))
      },
      // Its statements speak of every row.
      ofTxn: (txn) => [
        ...ops.subarray(...opRange(history, txn)),
        ...events.subarray(txnEventStart[txn]!, txnEventStart[txn + 1]!),
        ...Array.from(keyTable, (table, key) => (table === NONE ? NONE : keyItem(key))).filter(
          (item) => item !== NONE,
        ),
      ],
    }
  }

  /** Rows first: most are of no concern, and statements need not be narrowed for them. */
  groups(items: Int32Array): number[][][] {
    const { firstEvent, firstKey, history, sql } = this
    const { eventTxn, keyTable } = sql
    const keys = items.filter((item) => item >= firstKey && keyTable[item - firstKey] !== NONE)
    const inside = items.filter((item) => item < firstKey)
    const txnOf = (item: number) =>
      item < firstEvent ? history.opTxn[item]! : eventTxn[item - firstEvent]!
    const one = (item: number) => [item]
    return [
      Array.from(keys, one),
      groupBy(inside, txnOf),
      Array.from(inside.filter((item) => item >= firstEvent)).map(one),
      Array.from(inside.filter((item) => item < firstEvent)).map(one),
    ]
  }

  /** Writes of a row that would explain why a statement passed it over, as items. */
  private explaining(eventItem: number, keyItem: number): number[] {
    const [event, key] = [eventItem - this.firstEvent, keyItem - this.firstKey]
    const writes: number[] = []
    for (let op = 0; op < this.history.opCount; op++) {
      if (this.history.opKey[op] === key && this.explains(op, event)) writes.push(op)
    }
    return writes
  }

  /** Whether a write of a row may be why a statement did not return it. */
  explains(write: number, event: number): boolean {
    const { opKind, opTxn, opKey, txnStatus } = this.history
    if (opKind[write] !== WRITE) return false
    if (opTxn[write] === this.sql.eventTxn[event]) return true
    if (txnStatus[opTxn[write]!] === ABORTED) return false
    return !this.rows.satisfies(event, opKey[write]!, write)
  }

  satisfies(event: number, key: number, write: number): boolean {
    return this.rows.satisfies(event, key, write)
  }

  isKept(kept: Uint8Array, event: number): boolean {
    return kept[this.firstEvent + event] === 1
  }

  isKeptKey(kept: Uint8Array, key: number): boolean {
    return kept[this.firstKey + key] === 1
  }
}

/** One build of a part. */
class PartBuilder {
  private readonly builder: HistoryBuilder
  private readonly statements: SqlStatements
  private readonly tableOf = new Map<number, number>() // table -> its copy
  private readonly thinned = new Map<number, number[]>() // kept row -> writes that are left out
  private readonly versions = new Map<number, number[]>() // row -> writes that are kept
  private readonly told = new Set<number>() // statements that are in the part

  constructor(
    private readonly history: History,
    private readonly sql: SqlEvents,
    private readonly kept: Uint8Array,
    private readonly parts: SqlParts,
  ) {
    this.builder = new HistoryBuilder(history.initial)
    this.builder.timeUnit = history.timeUnit
    this.statements = new SqlStatements(this.builder)
    const { opKind, opKey, opCount } = history
    for (let op = 0; op < opCount; op++) {
      if (opKind[op] !== WRITE || !parts.isKeptKey(kept, opKey[op]!)) continue
      const writes = kept[op] ? this.versions : this.thinned
      addTo(writes, opKey[op]!, op)
    }
  }

  build(): { history: History; told: ReadonlySet<number> } {
    const { history, sql, kept } = this
    for (let key = 0; key < history.keyCount; key++) {
      const row = sql.initialRow[key] ?? null
      if (row === null || !this.parts.isKeptKey(kept, key)) continue
      this.statements.addInitialRow(this.table(sql.keyTable[key]!), row)
    }
    for (let txn = 0; txn < history.txnCount; txn++) this.addTxn(txn)
    return { history: this.builder.finish(), told: this.told }
  }

  private table(id: number): number {
    const known = this.tableOf.get(id)
    if (known !== undefined) return known
    const copy = this.statements.addTable(this.sql.tables[id]!)
    this.tableOf.set(id, copy)
    return copy
  }

  private addTxn(txn: number): void {
    const { history, sql, kept } = this
    const steps: [op: number, event: number][] = []
    forEachStep(history, sql, txn, (op, event) => {
      const isThere = event === NONE ? kept[op] === 1 : this.speaks(event)
      if (isThere) steps.push([op, event])
    })
    if (steps.length === 0) return
    const copy = copyTxn(history, txn, this.builder)
    if (sql.txnRolledBack[txn]) this.statements.rollBack(copy)
    for (const [op, event] of steps) {
      if (event !== NONE) this.addStatement(copy, event)
      else copyOp(history, op, copy, this.builder)
    }
  }

  /** An INSERT of which nothing is left, or of what refused it, says nothing. */
  private speaks(event: number): boolean {
    if (!this.parts.isKept(this.kept, event)) return false
    const kind = this.sql.eventKind[event]
    if (kind !== INSERT && kind !== REFUSED) return true
    return this.opsOf(event).some((op) => this.kept[op])
  }

  private opsOf(event: number): number[] {
    const ops: number[] = []
    const { eventOpStart, opEvent } = this.sql
    for (let op = eventOpStart[event]!; opEvent[op] === event; op++) ops.push(op)
    return ops
  }

  private addStatement(txn: number, event: number): void {
    const { history, sql, statements } = this
    const { values } = history
    this.told.add(event)
    const kind = sql.eventKind[event]!
    const table = this.table(sql.eventTable[event]!)
    statements.begin(txn, kind, table, kind === INSERT ? NONE : this.predicate(event))
    const write = sql.eventWrite[event]!
    if (write !== NONE) statements.nameWrite(values.get(write))
    for (const op of this.opsOf(event)) {
      if (!this.kept[op]) continue
      const key = sql.keyValues[history.opKey[op]!]!
      if (history.opKind[op] === WRITE) {
        statements.writeRow(key, values.get(write), sql.opRow[op] ?? null)
      } else if (history.opKind[op] === READ_ROWS) {
        for (const from of rowsOf(history, op) as Value[]) statements.readRow(key, from)
      } else {
        statements.readRow(key, history.valueOf(op), sql.opReturned[op] === 1)
      }
    }
  }

  /** The clause, without the rows of which it must not speak any more. */
  private predicate(event: number): number {
    const { sql, statements } = this
    if (sql.eventKind[event] === REFUSED) {
      const met = this.opsOf(event).filter((op) => this.kept[op])
      const keys = met.map((op) => sql.keyValues[this.history.opKey[op]!]!)
      return statements.predicateOfKeys(this.table(sql.eventTable[event]!), keys)
    }
    const { text, params, place, table: id } = sql.predicates[sql.eventPredicate[event]!]!
    const table = this.table(id)
    const excluded = this.excluded(event)
    if (excluded.length === 0) return statements.predicate(table, text, params, place)
    const keys = excluded.map((key) => sql.keyValues[key]!)
    return statements.predicate(table, narrowClause(sql.tables[id]!, text, params, keys))
  }

  private excluded(event: number): number[] {
    const { history, sql, kept, parts } = this
    const silent = new Set<number>() // rows that it spoke of
    const told = new Set<number>()
    for (const op of this.opsOf(event)) {
      const key = history.opKey[op]!
      if (kept[op]) told.add(key)
      else if (parts.isKeptKey(kept, key)) silent.add(key)
    }
    for (const [key, writes] of this.thinned) {
      if (sql.keyTable[key] !== sql.eventTable[event] || silent.has(key) || told.has(key)) continue
      if (writes.some((write) => parts.explains(write, event))) silent.add(key)
    }
    const rows = [...silent].filter((key) => !told.has(key) && this.shows(event, key))
    return rows.sort((a, b) => a - b)
  }

  /** Whether the part has a version of the row that satisfies the clause; else it says nothing. */
  private shows(event: number, key: number): boolean {
    const isShown = (write: number) => this.parts.satisfies(event, key, write)
    return isShown(INITIAL) || (this.versions.get(key) ?? []).some(isShown)
  }
}

/** What an UPDATE or DELETE read and wrote of a row goes together. */
function findPartners(history: History, sql: SqlEvents): Int32Array {
  const partner = new Int32Array(history.opCount).fill(NONE)
  const readOf = new Map<number, number>() // key -> read of the statement
  let current: number = NONE
  for (let op = 0; op < history.opCount; op++) {
    const event = sql.opEvent[op]!
    if (event !== current) readOf.clear()
    current = event
    if (event === NONE || isPair(history, op)) continue
    if (sql.eventKind[event] !== UPDATE && sql.eventKind[event] !== DELETE) continue
    const key = history.opKey[op]!
    if (history.opKind[op] !== WRITE) readOf.set(key, op)
    else if (readOf.has(key)) {
      partner[op] = readOf.get(key)!
      partner[readOf.get(key)!] = op
    }
  }
  return partner
}

/** Statements and the rows that the evidence says they passed over. */
function findPassed({ absence, edges, cases }: Anomaly): [event: number, key: number][] {
  const passed: [number, number][] = absence ? [[absence.event, absence.key]] : []
  for (const { event, key } of findEdges(edges, cases)) {
    if (event !== undefined) passed.push([event, key])
  }
  return passed
}
