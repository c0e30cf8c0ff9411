// Collects SQL statements while a history is built: a statement is begun, then told row by row what
// it saw and what it wrote, in that order. Statements of different transactions may come in any
// order. Whoever fills this checks types and columns; what is checked here is what would make the
// history ambiguous: a statement that speaks of a row twice, an id of a write used twice.

import { InputError, type Place } from '../base/errors.ts'
import { ByteColumn, IntColumn } from '../base/grow.ts'
import { obtain, TupleMap } from '../base/maps.ts'
import { lowerBound } from '../base/search.ts'
import { renderSqlValue, type SqlRow, type SqlValue } from '../sql/value.ts'
import type { HistoryBuilder } from './builder.ts'
import { clauseOfKeys } from './clause-of-keys.ts'
import { ABORTED, NONE, READ, WRITE } from './history.ts'
import { showValue } from './initial.ts'
import { SELECT, type SqlEvents, type SqlPredicate, type SqlTable } from './sql-events.ts'
import type { Value } from './values.ts'

/** `orders(17)`, `stock(1,'a')`: what a row is called. */
export function rowName(table: Pick<SqlTable, 'name'>, keyValues: SqlRow): string {
  return `${table.name}(${renderList(keyValues)})`
}

function renderList(values: readonly SqlValue[]): string {
  let list = ''
  for (let i = 0; i < values.length; i++) {
    list += i === 0 ? renderSqlValue(values[i]!) : `,${renderSqlValue(values[i]!)}`
  }
  return list
}

export class SqlStatements {
  readonly tables: SqlTable[] = []
  private readonly predicates: SqlPredicate[] = []
  private readonly predicateIds = new TupleMap<unknown[], number>() // by table, text, params
  private readonly keyIds = new Map<string, number>() // name of a row -> key
  private readonly valueIds = new Map<Value, number>() // id of a write -> value id
  private readonly keyTable: number[] = [] // key -> table
  private readonly keyValues: SqlRow[] = [] // key -> values of its primary key
  private readonly initialRow: (SqlRow | null)[] = [] // key -> row
  private readonly opRow: (SqlRow | null)[] = [] // arrival -> row
  private readonly returned: ByteColumn // arrival -> 1 if returned or touched
  private readonly opEvent: IntColumn // arrival -> event, as begun
  private readonly eventTxn: IntColumn
  private readonly eventKind: ByteColumn
  private readonly eventTable: IntColumn
  private readonly eventPredicate: IntColumn
  private readonly eventWrite: IntColumn // event -> value id of its write
  private readonly eventArrival: IntColumn // event -> operations that had arrived before
  private readonly eventPlace: (Place | null)[] = []
  private readonly writePlace = new Map<number, Place | null>() // value id of a write -> its place
  private readonly rolledBack = new Set<number>() // transactions
  private readonly touched = new Map<number, number>() // key -> arrival, of the current statement
  private written = new Set<number>() // keys that it wrote

  /** @param opCapacity of how many operations it will be told, if that is known */
  constructor(
    private readonly builder: HistoryBuilder,
    opCapacity = 16,
    eventCapacity = 16,
  ) {
    builder.statements = this
    this.returned = new ByteColumn(opCapacity)
    this.opEvent = new IntColumn(opCapacity)
    this.eventTxn = new IntColumn(eventCapacity)
    this.eventKind = new ByteColumn(eventCapacity)
    this.eventTable = new IntColumn(eventCapacity)
    this.eventPredicate = new IntColumn(eventCapacity)
    this.eventWrite = new IntColumn(eventCapacity)
    this.eventArrival = new IntColumn(eventCapacity)
  }

  /** Operations so far, those on registers too. */
  get opCount(): number {
    return this.builder.opCount
  }

  addTable(table: SqlTable): number {
    return this.tables.push(table) - 1
  }

  findTable(name: string): number {
    return this.tables.findIndex((table) => table.name === name)
  }

  /** A row that is there before anything is written. */
  addInitialRow(table: number, row: SqlRow, place: Place | null = null): void {
    const key = this.key(table, this.keyOf(table, row))
    if (this.initialRow[key]) {
      const message = `the initial row ${this.builder.keys.get(key)} is given twice`
      throw new InputError('duplicate-row', message, place, 'rows of a table differ in their keys')
    }
    this.initialRow[key] = row
  }

  /** The primary key of a row. */
  keyOf(table: number, row: SqlRow): SqlRow {
    return this.tables[table]!.keyColumns.map((column) => row[column]!)
  }

  /** The predicate of that text and those parameters, made on first use. */
  predicate(
    table: number,
    text: string,
    params: readonly SqlValue[] = [],
    place: Place | null = null,
  ): number {
    const make = () => this.predicates.push({ table, text, params, place }) - 1
    return obtain(this.predicateIds, [table, text, renderList(params)], make)
  }

  /** The predicate of a REFUSED that met these rows: it speaks of no others. */
  predicateOfKeys(table: number, keys: readonly SqlRow[]): number {
    return this.predicate(table, clauseOfKeys(this.tables[table]!, keys))
  }

  /** Begins a statement; `readRow` and `writeRow` speak of it until the next one begins. */
  begin(
    txn: number,
    kind: number,
    table: number,
    predicate: number = NONE,
    place: Place | null = null,
  ): number {
    const event = this.eventTxn.length
    this.eventTxn.push(txn)
    this.eventKind.push(kind)
    this.eventTable.push(table)
    this.eventPredicate.push(predicate)
    this.eventWrite.push(NONE)
    this.eventArrival.push(this.builder.opCount)
    this.eventPlace.push(place)
    // Clearing makes a new table each time.
    if (this.touched.size > 0) this.touched.clear()
    if (this.written.size > 0) this.written.clear()
    return event
  }

  /** The transaction's own program rolled it back. */
  rollBack(txn: number): void {
    this.rolledBack.add(txn)
    this.builder.setStatus(txn, ABORTED)
  }

  /** Says that an id of a write belongs to the statement just begun; returns its value id. */
  nameWrite(id: Value, place: Place | null = null): number {
    const value = this.valueId(id)
    this.nameWriteValue(value, place)
    return value
  }

  /** The same by the number of the value. */
  nameWriteValue(value: number, place: Place | null = null): void {
    const first = this.writePlace.get(value)
    if (first !== undefined) {
      const where = first ? ` (first at line ${first.line})` : ''
      const shown = showValue(this.builder.values.get(value))
      const message = `the write id ${shown} is used twice${where}`
      throw new InputError('duplicate-write', message, place, 'every statement needs its own id')
    }
    this.writePlace.set(value, place)
    this.eventWrite.data[this.eventWrite.length - 1] = value
  }

  /**
   * The statement saw the version of a row that the write `from` made; null: the initial one.
   * @param returned false if the row was passed over, and only the version is known
   */
  readRow(keyValues: SqlRow, from: Value, returned = true, place: Place | null = null): void {
    const table = this.eventTable.data[this.eventTxn.length - 1]!
    this.readKey(this.key(table, keyValues), this.valueId(from), returned, place)
  }

  /** The same by numbers: of the row's key, and of the version's value. */
  readKey(key: number, from: number, returned = true, place: Place | null = null): void {
    const event = this.eventTxn.length - 1
    const first = this.touched.get(key)
    if (first !== undefined) {
      // A broken database may return several rows of a key. A statement that writes would leave it
      // open what became of which.
      const isReturned = returned && this.returned.data[first] === 1
      if (this.eventKind.data[event] !== SELECT || !isReturned) throw this.twice(key, place)
      return this.builder.addRow(first, from)
    }
    this.touched.set(key, this.builder.opCount)
    this.addOp(event, READ, key, from, null, returned)
  }

  /** The statement wrote a row, or deleted it (null), under its own id `as`. */
  writeRow(keyValues: SqlRow, as: Value, row: SqlRow | null, place: Place | null = null): void {
    const table = this.eventTable.data[this.eventTxn.length - 1]!
    this.writeKey(this.key(table, keyValues), this.valueId(as), row, place)
  }

  /** The same by numbers. */
  writeKey(key: number, as: number, row: SqlRow | null, place: Place | null = null): void {
    const event = this.eventTxn.length - 1
    if (this.written.has(key)) throw this.twice(key, place)
    this.written.add(key)
    this.eventWrite.data[event] = as
    this.addOp(event, WRITE, key, as, row, false)
  }

  private addOp(
    event: number,
    kind: number,
    key: number,
    value: number,
    row: SqlRow | null,
    returned: boolean,
  ): void {
    const { builder } = this
    this.fillRegisters(builder.opCount)
    this.opRow[builder.opCount] = row
    this.returned.push(returned ? 1 : 0)
    this.opEvent.push(event)
    builder.addOp(this.eventTxn.data[event]!, kind, key, value)
  }

  valueId(id: Value): number {
    return obtain(this.valueIds, id, () => this.builder.valueId(id))
  }

  /** Operations that arrived without a statement are on registers. */
  private fillRegisters(arrivals: number): void {
    while (this.opEvent.length < arrivals) {
      this.opEvent.push(NONE)
      this.returned.push(1)
    }
  }

  /** The key of a row, made on first use. */
  key(table: number, keyValues: SqlRow): number {
    const name = rowName(this.tables[table]!, keyValues)
    const known = this.keyIds.get(name)
    if (known !== undefined) return known
    const key = this.builder.keys.of(name)
    this.keyIds.set(name, key)
    this.fillKeys(key + 1)
    this.keyTable[key] = table
    this.keyValues[key] = keyValues
    return key
  }

  private twice(key: number, place: Place | null): InputError {
    const message = `the statement names the row ${this.builder.keys.get(key)} twice`
    const hint = 'only a select may return several rows of one key'
    return new InputError('duplicate-row', message, place, hint)
  }

  /** The first operation to arrive on a register that is named as a row is; NONE if there is none. */
  findClash(): number {
    const { opKey } = this.builder
    for (let arrival = 0; arrival < opKey.length; arrival++) {
      const isRegister = arrival >= this.opEvent.length || this.opEvent.data[arrival] === NONE
      if (isRegister && (this.keyTable[opKey.data[arrival]!] ?? NONE) !== NONE) return arrival
    }
    return NONE
  }

  /**
   * Statements on these tables speak of the rows that they name only: what else they passed over
   * may have been a version that the history does not know.
   */
  ignorePassedOver(tables: readonly string[]): void {
    if (tables.length === 0) return
    const keys = new Map<number, SqlRow[]>() // event -> rows that it returned
    this.eventPredicate.view().forEach((predicate, event) => {
      const table = this.tables[this.eventTable.data[event]!]!
      if (predicate !== NONE && tables.includes(table.name)) keys.set(event, [])
    })
    this.opEvent.view().forEach((event, arrival) => {
      const isReturned =
        this.builder.opKind.data[arrival] !== WRITE && this.returned.data[arrival] === 1
      if (isReturned) keys.get(event)?.push(this.keyValues[this.builder.opKey.data[arrival]!]!)
    })
    for (const [event, returned] of keys) {
      const table = this.eventTable.data[event]!
      const text = clauseOfKeys(this.tables[table]!, returned)
      const { place } = this.predicates[this.eventPredicate.data[event]!]!
      this.eventPredicate.data[event] = this.predicate(table, text, [], place)
    }
  }

  /** What holds value ids, beside the operations. */
  valueColumns(): Int32Array[] {
    return [this.eventWrite.view()]
  }

  /** @param arrivals op -> arrival, null if they are the same */
  finish(txnOpStart: Int32Array, arrivals: Int32Array | null): SqlEvents {
    const { opCount } = this
    this.fillRegisters(opCount)
    while (this.opRow.length < opCount) this.opRow.push(null)
    this.fillKeys(this.builder.keys.size)
    const txnEventStart = this.countEvents(txnOpStart.length)
    const order = this.orderEvents(txnEventStart)
    const eventTxn = gather(this.eventTxn.view(), order)
    const txnRolledBack = new Uint8Array(txnOpStart.length - 1)
    for (const txn of this.rolledBack) txnRolledBack[txn] = 1
    const { opRow } = this
    return {
      tables: this.tables,
      keyTable: Int32Array.from(this.keyTable),
      keyValues: this.keyValues,
      initialRow: this.initialRow,
      opRow: arrivals ? Array.from(arrivals, (arrival) => opRow[arrival]!) : opRow,
      opReturned: gather(this.returned.view(), arrivals),
      opEvent: renumbered(gather(this.opEvent.view(), arrivals), order),
      eventCount: eventTxn.length,
      eventTxn,
      eventKind: gather(this.eventKind.view(), order),
      eventTable: gather(this.eventTable.view(), order),
      eventPredicate: gather(this.eventPredicate.view(), order),
      eventWrite: gather(this.eventWrite.view(), order),
      eventOpStart: gather(this.eventArrival.view(), order).map((arrival, event) =>
        firstOpSince(arrival, txnOpStart, eventTxn[event]!, arrivals),
      ),
      txnEventStart,
      txnRolledBack,
      predicates: this.predicates,
      eventPlace: placesOf(this.eventPlace, order),
    }
  }

  /** Keys that no statement speaks of are registers. */
  private fillKeys(keyCount: number): void {
    while (this.keyTable.length < keyCount) {
      this.keyTable.push(NONE)
      this.keyValues.push([])
      this.initialRow.push(null)
    }
  }

  /** txn -> its first event; one more at the end. */
  private countEvents(length: number): Int32Array {
    const start = new Int32Array(length)
    for (const txn of this.eventTxn.view()) start[txn + 1]!++
    for (let txn = 1; txn < length; txn++) start[txn]! += start[txn - 1]!
    return start
  }

  /** Event -> event as begun, transaction by transaction; null if they are the same. */
  private orderEvents(txnEventStart: Int32Array): Int32Array | null {
    const txns = this.eventTxn.view()
    if (txns.every((txn, event) => event === 0 || txns[event - 1]! <= txn)) return null
    const next = txnEventStart.slice()
    const order = new Int32Array(txns.length)
    txns.forEach((txn, event) => {
      order[next[txn]!++] = event
    })
    return order
  }
}

/** The entries in that order; null: as they are. */
function gather<C extends Int32Array | Uint8Array>(column: C, order: Int32Array | null): C {
  if (order === null) return column
  const out = column.slice(0, order.length) as C
  for (let i = 0; i < order.length; i++) out[i] = column[order[i]!]!
  return out
}

/** Events as begun -> events; NONE stays. */
function renumbered(events: Int32Array, order: Int32Array | null): Int32Array {
  if (order === null) return events
  const rank = new Int32Array(order.length) // event as begun -> event
  order.forEach((event, i) => {
    rank[event] = i
  })
  return events.map((event) => (event === NONE ? NONE : rank[event]!))
}

/** Apart from the rest, of which a history would else keep everything. */
function placesOf(places: readonly (Place | null)[], order: Int32Array | null) {
  return (event: number) => places[order ? order[event]! : event] ?? null
}

/** The first operation of the transaction that arrived at `arrival` or later. */
function firstOpSince(
  arrival: number,
  txnOpStart: Int32Array,
  txn: number,
  arrivals: Int32Array | null,
): number {
  const [from, to] = [txnOpStart[txn]!, txnOpStart[txn + 1]!]
  if (arrivals === null) return Math.min(Math.max(arrival, from), to)
  return lowerBound(arrivals, arrival, from, to)
}
