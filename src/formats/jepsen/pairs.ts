// Makes transactions of events: an invocation and its completion are one transaction, named by the
// index of the completion; :ok committed, :fail aborted, :info and nothing at all indeterminate.
// The session is the process. Real time is the order of events: a transaction starts and finishes
// at the indices of its two events; after :info, when it took effect is open. Main class: Pairing.

import { counted } from '../../base/counted.ts'
import { InputError } from '../../base/errors.ts'
import type { HistoryBuilder } from '../../history/builder.ts'
import {
  ABORTED,
  APPEND,
  COMMITTED,
  type History,
  INDETERMINATE,
  NONE,
  READ,
  READ_LIST,
} from '../../history/history.ts'
import type { SymbolTable } from '../../history/symbols.ts'
import { ToldPlaces } from '../places.ts'
import { FAIL, INVOKE, type JepsenEvents, OK, READ_NIL } from './events.ts'

export interface HowToBuild {
  /** Whether keys are the elements of a set: a read of it tells of each whether it is there. */
  readonly hasSet: boolean
  /** Whether values may be written twice. */
  readonly duplicateValues: boolean
}

/** Reads of a set grow with it; what is larger would not fit. */
const MOST_OPS = 100_000_000

export class Pairing {
  private readonly pending: Int32Array // process -> its open invocation, NONE
  private readonly nameless: number[] = [] // open invocations without a process
  private readonly places = new ToldPlaces()
  private readonly lists: boolean
  private readonly lastRead: Int32Array // element of a set -> 1 + arrival that found it there last
  private numbered = true // whether every event has an :index
  private uninvoked = 0
  private abandoned = 0

  constructor(
    private readonly builder: HistoryBuilder,
    private readonly events: JepsenEvents,
    private readonly processes: SymbolTable, // names of the events' processes
    private readonly groups: SymbolTable, // names of independent keys
    private readonly how: HowToBuild,
  ) {
    this.lastRead = new Int32Array(how.hasSet ? builder.keys.size : 0)
    this.pending = new Int32Array(processes.size).fill(NONE)
    this.lists = findWorkload(events)
  }

  build(): History {
    const { events, builder, pending } = this
    for (const event of this.orderEvents()) {
      if (events.type.data[event] === INVOKE) this.invoke(event)
      else this.addTxn(this.takeInvocation(event), event)
    }
    const open = [...pending.filter((event) => event !== NONE), ...this.nameless]
    open.sort((a, b) => this.indexOf(a) - this.indexOf(b))
    for (const event of open) this.addTxn(event, NONE)
    this.warn()
    return builder.finish(this.places, this.how.duplicateValues)
  }

  /** Events by index; as they stand in the file if some have none. */
  private orderEvents(): Int32Array {
    const { events } = this
    const { count } = events
    const index = events.index.view()
    const order = Int32Array.from({ length: count }, (_, event) => event)
    this.numbered = !index.some(Number.isNaN)
    if (!this.numbered) return order
    let ascending = true
    for (let i = 1; i < count; i++) if (index[i - 1]! >= index[i]!) ascending = false
    if (ascending) return order
    order.sort((a, b) => index[a]! - index[b]! || a - b)
    for (let i = 1; i < count; i++) {
      const [a, b] = [order[i - 1]!, order[i]!]
      if (index[a] !== index[b]) continue
      const message = `index ${index[a]} is given twice (first at line ${events.line.data[a]})`
      throw new InputError('malformed', message, events.placeOf(b))
    }
    return order
  }

  private indexOf(event: number): number {
    const { index, position } = this.events
    return this.numbered ? index.data[event]! : position.data[event]!
  }

  private invoke(event: number): void {
    const process = this.events.process.data[event]!
    if (process === NONE) {
      this.nameless.push(event)
      return
    }
    const open = this.pending[process]!
    if (open !== NONE) {
      this.abandoned++
      this.addTxn(open, NONE)
    }
    this.pending[process] = event
  }

  /** The invocation that an event completes, or NONE. */
  private takeInvocation(event: number): number {
    const process = this.events.process.data[event]!
    if (process !== NONE) {
      const open = this.pending[process]!
      this.pending[process] = NONE
      return open
    }
    const at = this.nameless.findIndex((invocation) => this.asksFor(invocation, event))
    return at < 0 ? NONE : this.nameless.splice(at, 1)[0]!
  }

  /** Whether two events are about the same reads and writes, whatever the reads returned. */
  private asksFor(invocation: number, event: number): boolean {
    const { events } = this
    if (!events.hasOps.data[invocation] || !events.hasOps.data[event]) return true
    const { opKind, opKey, opValue } = events
    const from = events.opStart.data[invocation]!
    const offset = events.opStart.data[event]! - from
    const end = events.opEnd(invocation)
    if (events.opEnd(event) - offset !== end) return false
    for (let op = from; op < end; op++) {
      if (opKey.data[op] !== opKey.data[op + offset]) return false
      const [a, b] = [opKind.data[op]!, opKind.data[op + offset]!]
      if (isRead(a) !== isRead(b)) return false
      if (!isRead(a) && opValue.data[op] !== opValue.data[op + offset]) return false
    }
    return true
  }

  /** @param event the completion, NONE if there was none */
  private addTxn(invocation: number, event: number): void {
    const { builder, events } = this
    if (invocation === NONE) this.uninvoked++
    const named = event === NONE ? invocation : event
    const type = event === NONE ? INVOKE : events.type.data[event]!
    const source = event !== NONE && events.hasOps.data[event] ? event : invocation
    const status = type === OK ? COMMITTED : type === FAIL ? ABORTED : INDETERMINATE
    const group = source === NONE ? NONE : events.group.data[source]!
    const txn = builder.addTxn(this.sessionOf(named, group), status, this.indexOf(named))
    if (invocation !== NONE) {
      builder.setStart(txn, this.indexOf(invocation))
      if (status !== INDETERMINATE) builder.setFinish(txn, this.indexOf(event))
    }
    const isWhole = this.how.hasSet && status === COMMITTED && events.isSetRead.data[event] === 1
    if (isWhole) this.addSet(txn, event)
    else if (source !== NONE) this.addOps(txn, source, status)
  }

  private addOps(txn: number, event: number, status: number): void {
    const { builder, events } = this
    const end = events.opEnd(event)
    for (let op = events.opStart.data[event]!; op < end; op++) {
      let kind = events.opKind.data[op]!
      let value = events.opValue.data[op]!
      if (kind === READ_NIL) {
        if (status !== COMMITTED) continue // nobody knows what it read
        kind = this.lists ? READ_LIST : READ
        value = this.lists ? builder.beginList() : builder.valueId(null)
      }
      builder.addOp(txn, kind, events.opKey.data[op]!, value)
      this.places.push(events.opLine.data[op]!, events.opColumn.data[op]!)
    }
  }

  /** Of an element that was returned twice there are two; what was not returned is not in the set. */
  private addSet(txn: number, event: number): void {
    const { builder, events, lastRead } = this
    const from = builder.opCount
    for (let op = events.opStart.data[event]!; op < events.opEnd(event); op++) {
      const [key, value] = [events.opKey.data[op]!, events.opValue.data[op]!]
      if (lastRead[key]! > from) {
        builder.addRow(lastRead[key]! - 1, value)
        continue
      }
      builder.addOp(txn, READ, key, value)
      this.places.push(events.opLine.data[op]!, events.opColumn.data[op]!)
      lastRead[key] = builder.opCount
    }
    const nothing = builder.valueId(null)
    const { line, column } = events.placeOf(event)
    for (let key = 0; key < lastRead.length; key++) {
      if (lastRead[key]! > from) continue
      if (builder.opCount === MOST_OPS) {
        const message = `the reads of the set tell of more than ${MOST_OPS} elements together`
        throw new InputError('too-large', message, events.placeOf(event))
      }
      builder.addOp(txn, READ, key, nothing)
      this.places.push(line, column)
    }
  }

  /** The process; what independent keys and unnamed processes do is in no order. */
  private sessionOf(event: number, group: number): number {
    const { builder } = this
    const process = this.events.process.data[event]!
    if (process === NONE) return builder.session(`unnamed ${this.indexOf(event)}`)
    const name = this.processes.get(process)
    return builder.session(group === NONE ? name : `${name} ${this.groups.get(group)}`)
  }

  private warn(): void {
    const { warnings } = this.builder
    const warn = (count: number, what: string) => {
      if (count > 0) warnings.push(`${counted(count, 'operation')} ${what}`)
    }
    warn(this.uninvoked, 'completed without an :invoke: when they began is not known')
    warn(this.abandoned, 'never completed before the process began another one')
    if (!this.numbered && !this.events.index.view().every(Number.isNaN)) {
      warnings.push('not every operation has an :index: all are numbered by their place instead')
    }
  }
}

function isRead(kind: number): boolean {
  return kind === READ || kind === READ_LIST || kind === READ_NIL
}

/** Whether the history is about lists; one that is about registers too is refused. */
function findWorkload(events: JepsenEvents): boolean {
  const kinds = events.opKind.view()
  let list: number = NONE
  let register: number = NONE
  for (let op = 0; op < kinds.length && (list === NONE || register === NONE); op++) {
    if (kinds[op] === READ_NIL) continue
    if (kinds[op] === APPEND || kinds[op] === READ_LIST) list = list === NONE ? op : list
    else register = register === NONE ? op : register
  }
  if (list !== NONE && register !== NONE) {
    const first = events.placeOfOp(Math.min(list, register)).line
    throw new InputError(
      'mixed-workload',
      `list-append and register operations are mixed (the first of the other kind at line ${first})`,
      events.placeOfOp(Math.max(list, register)),
      'check each workload in a file of its own',
    )
  }
  return list !== NONE
}
