// Builds the dense history: parsers and generators append transactions and operations in whatever
// order they meet them; `finish` groups operations by transaction, lays out sessions, resolves who
// read from whom, and settles which indeterminate transactions count.

import { InputError } from '../base/errors.ts'
import { ByteColumn, IntColumn } from '../base/grow.ts'
import { AfterColumns } from './after.ts'
import { checkTimes } from './check-times.ts'
import { settleCounts } from './counts.ts'
import { expandSpans, inPlace, spansWithStatements, throughSpans } from './expand-spans.ts'
import {
  type Annotation,
  APPEND,
  type History,
  NONE,
  type Omissions,
  type Places,
  type PossibleWriters,
  READ,
  READ_LIST,
  READ_ROWS,
  STATUS_NAMES,
  type StatusName,
  type TimeUnit,
  type Versions,
  WRITE,
} from './history.ts'
import { groupOps, layOutSessions } from './layout.ts'
import { FOUND, LightColumns, UNTOLD } from './light.ts'
import { TakenNames } from './names.ts'
import { resolveReads } from './resolve.ts'
import { RowColumns } from './rows.ts'
import {
  ARRIVED_ADD,
  ARRIVED_INCREMENT,
  ARRIVED_OTHER,
  ARRIVED_RANGE,
  ARRIVED_SET,
  SpanColumns,
} from './spans.ts'
import type { SqlEvents } from './sql-events.ts'
import { type Symbol64, SymbolTable } from './symbols.ts'
import { TimeColumns } from './times.ts'
import { type Value, ValueTable } from './values.ts'
import { type GivenVersion, VersionColumns } from './versions.ts'
import { warnOfChoices } from './writers.ts'

/** In the place of what a lightweight operation saw: it failed, and did not tell. */
export const NOT_TOLD = -2

/** SQL statements of a history in the making (sql-statements.ts). */
interface StatementColumns {
  /** The first operation on a register that is named as a row is; NONE if there is none. */
  findClash(): number
  /** Lets statements on these tables speak of the rows only that they name. */
  ignorePassedOver(tables: readonly string[]): void
  /** What holds value ids, beside the operations. */
  valueColumns(): Int32Array[]
  /** @param arrivals op -> arrival, null if they are the same */
  finish(txnOpStart: Int32Array, arrivals: Int32Array | null): SqlEvents
}

/** What is told of operations, in the order in which they arrive. */
export interface OpColumns {
  readonly opTxn: IntColumn // arrival -> txn
  readonly opKind: ByteColumn // arrival -> kind
  readonly opKey: IntColumn // arrival -> key
  readonly opValue: IntColumn // arrival -> value id, or list
}

export class HistoryBuilder implements OpColumns {
  readonly values = new ValueTable()
  readonly warnings: string[] = []
  readonly annotations: Annotation[] = []
  /** Set if not everything was recorded. */
  partial: Omissions | null = null
  timeUnit: TimeUnit | null = null

  readonly opTxn: IntColumn
  readonly opKind: ByteColumn
  readonly opKey: IntColumn
  readonly opValue: IntColumn
  private readonly opColumns: readonly (IntColumn | ByteColumn)[] // all four

  readonly sessions = new SymbolTable()
  readonly labels = new ValueTable() // names of transactions
  private readonly txnSession = new IntColumn() // txn -> session
  private readonly txnStatus = new ByteColumn() // txn -> status
  private readonly txnLabel = new IntColumn() // txn -> label id, NONE if it has no name
  txnLevel: IntColumn | null = null // txn -> level index, NONE if it is not known
  txnAudit: ByteColumn | null = null // txn -> 1 if it is an audit
  readonly times = new TimeColumns()
  private light: LightColumns | null = null
  private rows: RowColumns | null = null
  private spans: SpanColumns | null = null
  private versions: VersionColumns | null = null
  private after: AfterColumns | null = null
  /** Set by SqlStatements, which collects SQL statements for this history. */
  statements: StatementColumns | null = null
  private readonly listStart = new IntColumn(16) // list -> first element
  private readonly listValue = new IntColumn(16) // element -> value id

  readonly initial: Value | undefined

  /**
   * @param initial value of every key before the first write; undefined where there is none.
   * @param keys where keys get their numbers, if others share them
   * @param columns of one that is no longer needed, whose room is used again
   */
  constructor(
    initial: Value | undefined,
    opCapacity = 1024,
    readonly keys: SymbolTable = new SymbolTable(),
    columns: OpColumns | null = null,
  ) {
    const isSmall = typeof initial === 'bigint' && Number.isSafeInteger(Number(initial))
    this.initial = isSmall ? Number(initial) : initial
    this.opTxn = columns?.opTxn ?? new IntColumn(opCapacity)
    this.opKind = columns?.opKind ?? new ByteColumn(opCapacity)
    this.opKey = columns?.opKey ?? new IntColumn(opCapacity)
    this.opValue = columns?.opValue ?? new IntColumn(opCapacity)
    this.opColumns = [this.opTxn, this.opKind, this.opKey, this.opValue]
    for (const column of this.opColumns) column.length = 0
  }

  get txnCount(): number {
    return this.txnSession.length
  }

  get opCount(): number {
    return this.opTxn.length
  }

  /** The session of that name, made on first use. */
  session(name: Symbol64): number {
    return this.sessions.of(name)
  }

  get sessionCount(): number {
    return this.sessions.size
  }

  /** The next transaction of the session; `label` is the user's own id, null if there is none. */
  addTxn(session: number, status: number, label: Symbol64 = null): number {
    const txn = this.txnSession.length
    this.txnSession.push(session)
    this.txnStatus.push(status)
    this.txnLabel.push(label === null ? NONE : this.labels.of(label))
    if (this.txnLevel) this.txnLevel.push(NONE)
    if (this.txnAudit) this.txnAudit.push(0)
    this.times.push()
    return txn
  }

  setStatus(txn: number, status: number): void {
    this.txnStatus.data[txn] = status
  }

  setLabel(txn: number, label: Symbol64): void {
    this.txnLabel.data[txn] = label === null ? NONE : this.labels.of(label)
  }

  /** As `setLabel`, with the name interned in `labels` already. */
  setLabelId(txn: number, label: number): void {
    this.txnLabel.data[txn] = label
  }

  statusOf(txn: number): number {
    return this.txnStatus.data[txn]!
  }

  /** The transaction's own id, null if it has none. */
  labelOf(txn: number): Value {
    const label = this.txnLabel.data[txn]!
    return label === NONE ? null : this.labels.get(label)
  }

  sessionOf(txn: number): number {
    return this.txnSession.data[txn]!
  }

  /** @param text the time, if the double is not exactly it; see readTime */
  setStart(txn: number, time: number, text: string | null = null): void {
    this.times.setStart(txn, time, this.txnCount, text)
  }

  setFinish(txn: number, time: number, text: string | null = null): void {
    this.times.setFinish(txn, time, this.txnCount, text)
  }

  /** `txn` comes after `earlier` in session order, whatever their sessions. */
  addAfter(txn: number, earlier: number): void {
    this.after ??= new AfterColumns()
    this.after.add(txn, earlier)
  }

  setLevel(txn: number, level: number): void {
    if (!this.txnLevel) {
      this.txnLevel = new IntColumn(this.txnCount)
      for (let i = 0; i < this.txnCount; i++) this.txnLevel.push(NONE)
    }
    this.txnLevel.data[txn] = level
  }

  /** The version of the operation added last; false if others' are not comparable to it. */
  setVersion(version: GivenVersion): boolean {
    this.versions ??= new VersionColumns()
    return this.versions.set(this.opCount - 1, version)
  }

  /** The version of all that a transaction writes, unless a write has one of its own. */
  setTxnVersion(txn: number, version: GivenVersion): boolean {
    this.versions ??= new VersionColumns()
    return this.versions.setTxn(txn, version)
  }

  get hasVersions(): boolean {
    return this.versions !== null
  }

  /** Whether a lightweight operation saw the initial state, for which no value stands. */
  get hasFoundNothing(): boolean {
    if (this.light === null || this.initial !== undefined) return false
    return this.light.hasReplaced(this.values.of(null))
  }

  /** Says that the transaction is an audit (history.ts). */
  setAudit(txn: number): void {
    if (!this.txnAudit) {
      this.txnAudit = new ByteColumn(this.txnCount)
      for (let i = 0; i < this.txnCount; i++) this.txnAudit.push(0)
    }
    this.txnAudit.data[txn] = 1
  }

  /** Makes room for so many more operations, for parsers that fill the columns themselves. */
  reserveOps(more: number): void {
    const capacity = this.opCount + more
    for (const column of this.opColumns) column.grow(capacity)
  }

  /** Appends an operation with ids already interned; see `read`, `write` for plain values. */
  addOp(txn: number, kind: number, key: number, value: number): void {
    this.opTxn.push(txn)
    this.opKind.push(kind)
    this.opKey.push(key)
    this.opValue.push(value)
  }

  /** The id of a value; null always stands for the initial state, whatever value that has. */
  valueId(value: Value): number {
    return this.values.of(value === null && this.initial !== undefined ? this.initial : value)
  }

  read(txn: number, key: Symbol64, value: Value): void {
    this.addOp(txn, READ, this.keys.of(key), this.valueId(value))
  }

  write(txn: number, key: Symbol64, value: Value): void {
    this.addOp(txn, WRITE, this.keys.of(key), this.valueId(value))
  }

  append(txn: number, key: Symbol64, value: Value): void {
    this.addOp(txn, APPEND, this.keys.of(key), this.values.of(value))
  }

  readList(txn: number, key: Symbol64, values: readonly Value[]): void {
    const list = this.beginList()
    for (const value of values) this.listValue.push(this.values.of(value))
    this.addOp(txn, READ_LIST, this.keys.of(key), list)
  }

  /**
   * Appends a lightweight operation with ids already interned; `seen` is NONE if it succeeded, and
   * NOT_TOLD if it failed and did not say what it found.
   */
  addLight(
    txn: number,
    kind: number,
    key: number,
    expected: number,
    value: number,
    seen: number,
  ): void {
    this.light ??= new LightColumns()
    const failed = seen === NONE ? 0 : seen === NOT_TOLD ? UNTOLD : FOUND
    this.light.add(this.opCount, kind, expected, value, failed)
    if (failed === UNTOLD) {
      this.spans ??= new SpanColumns()
      return this.addOp(txn, ARRIVED_OTHER, key, this.values.of(`not ${this.values.get(expected)}`))
    }
    this.addOp(txn, READ, key, failed ? seen : expected)
    if (!failed) this.addOp(txn, WRITE, key, value)
  }

  /** Adds to a counter; `by` is the id of a positive integer. */
  addIncrement(txn: number, key: number, by: number): void {
    this.spans ??= new SpanColumns()
    this.addOp(txn, ARRIVED_INCREMENT, key, by)
  }

  /** A read of all keys from one to another, both ids of integers; its pairs come by `addPair`. */
  addRange(txn: number, first: number, last: number): SpanColumns {
    this.spans ??= new SpanColumns()
    this.addOp(txn, ARRIVED_RANGE, 0, this.spans.addRange(first, last))
    return this.spans
  }

  /** Adds an element, by its value id, to a set. */
  addToSet(txn: number, key: number, element: number): void {
    this.spans ??= new SpanColumns()
    this.addOp(txn, ARRIVED_ADD, key, element)
  }

  /** A read of a set; its elements come by `addPair`. */
  addSet(txn: number, key: number): SpanColumns {
    this.spans ??= new SpanColumns()
    this.addOp(txn, ARRIVED_SET, key, this.spans.addSet(key))
    return this.spans
  }

  /** A read that returned these rows, not one; what each held. */
  readRows(txn: number, key: Symbol64, rows: readonly (Value | readonly Value[])[]): void {
    const isList = Array.isArray(rows[0])
    const lists = rows.map((row) => {
      const list = this.beginList()
      if (isList) for (const value of row as Value[]) this.addElement(this.values.of(value))
      else this.addElement(this.valueId(row as Value))
      return list
    })
    this.addRows(txn, this.keys.of(key), lists, isList)
  }

  /** As `readRows`, with the list of each row made already. One row is a read like any other. */
  addRows(txn: number, key: number, lists: readonly number[], isList: boolean): void {
    const [only, other] = lists
    if (only !== undefined && other === undefined) {
      const value = isList ? only : this.listValue.data[this.listStart.data[only]!]!
      return this.addOp(txn, isList ? READ_LIST : READ, key, value)
    }
    this.rows ??= new RowColumns()
    this.addOp(txn, READ_ROWS, key, this.rows.add(lists, isList))
  }

  /** The read that arrived then returned one more row of its key, of that value. */
  addRow(arrival: number, value: number): void {
    const { opKind, opValue } = this
    this.rows ??= new RowColumns()
    if (opKind.data[arrival] === READ) {
      const first = this.beginList()
      this.addElement(opValue.data[arrival]!)
      opKind.data[arrival] = READ_ROWS
      opValue.data[arrival] = this.rows.add([first], false)
    }
    this.rows.addRow(opValue.data[arrival]!, this.beginList())
    this.addElement(value)
  }

  /** Starts a list for a READ_LIST op; fill it with `addElement`. */
  beginList(): number {
    this.listStart.push(this.listValue.length)
    return this.listStart.length - 1
  }

  addElement(value: number): void {
    this.listValue.push(value)
  }

  /**
   * The frozen history. Throws InputError for duplicate values and impossible times.
   * @param duplicateValues whether a register may be given one value twice
   */
  finish(places: Places | null = null, duplicateValues = false): History {
    const { txnCount } = this
    this.statements?.ignorePassedOver(this.partial?.tables ?? [])
    this.settleValues()
    if (this.spans && this.statements) throw spansWithStatements()
    const placeOf = (arrival: number) => places?.place(arrival) ?? null
    const laidBy = this.spans && expandSpans(this, this.spans, placeOf)
    const { arrivals: arrived, ...columns } = groupOps(laidBy ?? this, txnCount)
    const laidOut = layOutSessions(this.txnSession.view(), this.sessions.size)
    this.listStart.push(this.listValue.length)
    const { keys, values, sessions } = this
    const arrivals = laidBy ? throughSpans(laidBy, arrived) : arrived
    const opCount = columns.opTxn.length

    const draft = {
      sessionCount: sessions.size,
      txnCount,
      opCount,
      keyCount: keys.size,
      ...laidOut,
      txnSession: this.txnSession.view(),
      txnStatus: this.txnStatus.view(),
      txnCounts: new Uint8Array(txnCount),
      txnIsInitial: new Uint8Array(txnCount),
      ...columns,
      ...this.times.finish(),
      timeUnit: this.timeUnit,
      after: this.after?.finish(txnCount) ?? null,
      txnLevel: this.txnLevel ? Int8Array.from(this.txnLevel.view()) : null,
      txnAudit: this.txnAudit?.view() ?? null,
      readFrom: new Int32Array(0) as Int32Array,
      readTxn: new Int32Array(0) as Int32Array,
      writers: null as PossibleWriters | null,
      listStart: this.listStart.view(),
      listValue: this.listValue.view(),
      listFrom: new Int32Array(this.listValue.length),
      versions: null as Versions | null,
      light: this.light?.finish(opCount, arrivals) ?? null,
      spans: laidBy && this.spans!.finish(inPlace(laidBy.span.view(), arrived)),
      rows: this.rows?.finish() ?? null,
      sql: this.statements?.finish(columns.txnOpStart, arrivals) ?? null,
      initial: this.initial,
      keys,
      values,
      warnings: this.warnings,
      annotations: this.annotations,
      partial: this.partial,
      keyName: (key: number) => keys.get(key),
      valueOf: (op: number) => values.get(columns.opValue[op]!),
      ...this.nameEverything(),
      placeOf: (op: number) => places?.place(arrivals ? arrivals[op]! : op) ?? null,
    }
    checkTimes(draft)
    const open = laidBy && { open: inPlace(laidBy.open.view(), arrived), rest: laidBy.rest }
    Object.assign(draft, resolveReads(draft, duplicateValues, open))
    settleCounts(draft)
    if (draft.writers) {
      this.warnings.push(warnOfChoices(draft.writers, open?.open.some(Boolean) ?? false))
    }
    draft.versions = this.versions?.finish(draft, arrivals) ?? null
    if (draft.writers && draft.versions) throw manyWritersWithVersions()
    return draft
  }

  lightArrivals(): ReadonlySet<number> {
    return this.light?.arrivals() ?? new Set()
  }

  hasVersion(arrival: number): boolean {
    return this.versions?.has(arrival) ?? false
  }

  /** The names of transactions and sessions; see History. */
  private nameEverything() {
    const { sessions, labels } = this
    const txnLabel = this.txnLabel.view()
    const anyLabel = txnLabel.some((label) => label !== NONE)
    const txnNames = new TakenNames(labels.interned)
    const sessionNames = new TakenNames(sessions)
    return {
      txnName: (txn: number) => {
        const label = txnLabel[txn]!
        if (label === NONE) return txnNames.free(anyLabel ? `#${txn + 1}` : `T${txn + 1}`)
        const name = labels.get(label)
        return typeof name === 'string' ? name : txnNames.free(`T${name}`)
      },
      sessionName: (session: number) => {
        const name = sessions.get(session)
        return typeof name === 'string' ? name : sessionNames.free(`s${name}`)
      },
      txnLabel: (txn: number) => this.labelOf(txn),
      sessionLabel: (session: number) => sessions.get(session),
    }
  }

  /** Makes value ids final. */
  private settleValues(): void {
    // Numbers of lists, which stand in opValue too, are too small to be taken for ids that change.
    this.values.settle([
      this.opValue.view(),
      this.listValue.view(),
      ...(this.light?.valueColumns() ?? []),
      ...(this.spans?.valueColumns() ?? []),
      ...(this.statements?.valueColumns() ?? []),
    ])
  }
}

export function statusOf(name: string): number {
  return STATUS_NAMES.indexOf(name as StatusName)
}

/** Versions tell whom a read saw, and so does the choice of writers: one of them only. */
function manyWritersWithVersions(): InputError {
  const message = 'reads have several possible writers in a history that gives versions'
  const hint = 'leave out the versions, or let every read tell whom it saw: by values of their own'
  return new InputError('duplicate-value', message, null, hint)
}
