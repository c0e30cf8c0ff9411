// Writes histories as Jepsen's tools read them, in EDN or JSON lines: two events a transaction, in
// the order of time. Indices are kept where the history has Jepsen's own names and times; else
// events are numbered anew, by time where there is one, which keeps who finished before whom
// started, or one transaction after another. What was a keyword (a string such as ":x") becomes one
// again in EDN.

import { sentence } from '../../base/inert.ts'
import {
  APPEND,
  COMMITTED,
  type History,
  hasLists,
  INDETERMINATE,
  isOfList,
  NONE,
  READ,
  READ_LIST,
  READ_ROWS,
  WRITE,
} from '../../history/history.ts'
import { findStray } from '../../history/initial.ts'
import type { Value } from '../../history/values.ts'
import { type Capacity, findMisfits, Numbering, PLAIN } from '../fit.ts'
import { ByteWriter, RenderedKeys, renderJson, type Sink, writeValue } from '../sink.ts'

const CAPACITY: Capacity = {
  ...PLAIN,
  keys: (key) => key !== null,
  values: () => true,
  sessions: 'integers',
  initial: null,
  txnNames: 'all', // see jepsenMisfits
  times: true,
  indeterminate: 'all',
  lists: true,
  order: 'input',
}

/** How a syntax spells things. */
interface Syntax {
  readonly symbol: (value: Value) => string
  readonly separator: string // between items
  readonly verbs: { readonly [kind: number]: string } // how an operation begins
  readonly event: (type: string, process: string, index: number) => string
}

const TYPES = ['ok', 'fail', 'info']
const KEYWORD = /^:[A-Za-z*+!_?<>=][\w*+!?<>=.#$&%-]*$/

const EDN: Syntax = {
  symbol: (value) => {
    if (typeof value !== 'string') return value === null ? 'nil' : String(value)
    return KEYWORD.test(value) ? value : JSON.stringify(value)
  },
  separator: ' ',
  verbs: { [READ]: '[:r ', [READ_LIST]: '[:r ', [APPEND]: '[:append ', [WRITE]: '[:w ' },
  event: (type, process, index) =>
    `{:index ${index}, :type :${type}, :process ${process}, :f :txn, :value [`,
}

const JSON_LINES: Syntax = {
  symbol: renderJson,
  separator: ',',
  verbs: { [READ]: '["r",', [READ_LIST]: '["r",', [APPEND]: '["append",', [WRITE]: '["w",' },
  event: (type, process, index) =>
    `{"index":${index},"type":"${type}","process":${process},"f":"txn","value":[`,
}

export function jepsenMisfits(history: History): string[] {
  const reasons = findMisfits(history, CAPACITY)
  const kinds = new Set(Array.from(history.opKind, (_, op) => isOfList(history, op)))
  if (kinds.size > 1) reasons.push('lists and registers in one history')
  if (ownIndices(history) === null) {
    const named = Array.from(history.txnStatus.keys()).find((txn) => history.txnLabel(txn) !== null)
    if (named !== undefined) reasons.push(`names of transactions (${history.txnName(named)})`)
    const times = timesOf(history)
    if (times === null) reasons.push('transactions whose start and finish are not known')
    else if (breaksTies(history, times)) reasons.push('transactions that begin as others end')
  }
  const stray = findLateInitial(history)
  if (stray !== NONE) reasons.push(`late writes of the initial state (${history.txnName(stray)})`)
  const unknown = unknownRead(history)
  if (unknown >= 0) {
    const name = history.txnName(history.opTxn[unknown]!)
    reasons.push(`reads of the initial state in transactions that did not commit (${name})`)
  }
  return reasons.map(sentence)
}

/** Transactions come back in the order in which they completed: initial ones must be first then. */
function findLateInitial(history: History): number {
  if (!history.txnIsInitial.includes(1)) return NONE
  const { events } = ownIndices(history) ?? newIndices(history)
  const completed = events.filter((event) => (event & 1) === 1).map((event) => event >> 1)
  return findStray(history, completed)
}

/** A read that would come back as one that returned nothing yet, or -1. */
function unknownRead(history: History): number {
  const { opKind, opTxn, txnStatus, initial = null } = history
  return opKind.findIndex((kind, op) => {
    const isUnknown = kind === READ && txnStatus[opTxn[op]!] !== COMMITTED
    return isUnknown && history.valueOf(op) === initial
  })
}

export function writeJepsen(history: History, sink: Sink): void {
  new JepsenWriter(history, sink, EDN).write()
}

export function writeJepsenJson(history: History, sink: Sink): void {
  new JepsenWriter(history, sink, JSON_LINES).write()
}

/** Events of all transactions: 2 · txn its invocation, 2 · txn + 1 its completion. */
interface Timeline {
  readonly events: Int32Array
  /** event -> :index */
  indexOf(event: number): number
}

/** The events at the indices that names and times tell, null if those are no indices. */
function ownIndices(history: History): Timeline | null {
  const { txnCount, txnStartTime, txnFinishTime, txnStatus } = history
  if (!txnStartTime) return null
  const indices = new Float64Array(2 * txnCount)
  const events: number[] = []
  for (let txn = 0; txn < txnCount; txn++) {
    const start = txnStartTime[txn]!
    const label = history.txnLabel(txn)
    const open = txnStatus[txn] === INDETERMINATE
    if (!isIndex(start) || !isIndex(label)) return null
    const finish = txnFinishTime?.[txn] ?? Number.NaN
    if (open ? !Number.isNaN(finish) : finish !== label) return null
    indices[2 * txn] = start
    indices[2 * txn + 1] = label
    events.push(2 * txn)
    if (label !== start) events.push(2 * txn + 1)
    else if (!open) return null
  }
  const sorted = Int32Array.from(events).sort((a, b) => indices[a]! - indices[b]!)
  for (let i = 1; i < sorted.length; i++) {
    if (indices[sorted[i - 1]!] === indices[sorted[i]!]) return null
  }
  return { events: sorted, indexOf: (event) => indices[event]! }
}

function isIndex(value: Value): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** event -> time; null unless all transactions have times. What is open counts from its start. */
function timesOf(history: History): Float64Array | null {
  const { txnCount, txnStartTime, txnFinishTime, txnStatus } = history
  const times = new Float64Array(2 * txnCount)
  for (let txn = 0; txn < txnCount; txn++) {
    const start = txnStartTime?.[txn] ?? Number.NaN
    const open = txnStatus[txn] === INDETERMINATE
    times[2 * txn] = start
    times[2 * txn + 1] = open ? start : (txnFinishTime?.[txn] ?? Number.NaN)
  }
  return times.some(Number.isNaN) ? null : times
}

/** The events by their times where all have them, else one transaction after another. */
function newIndices(history: History): Timeline {
  const times = timesOf(history)
  const events = Int32Array.from({ length: 2 * history.txnCount }, (_, event) => event)
  if (times !== null) {
    const turn = turnsOf(history, times)
    events.sort((a, b) => times[a]! - times[b]! || turn[a]! - turn[b]! || a - b)
  }
  const index = new Int32Array(events.length)
  for (let i = 0; i < events.length; i++) index[events[i]!] = i
  return { events, indexOf: (event) => index[event]! }
}

/**
 * event -> its turn among those of the same instant. Starts come before finishes, since
 * transactions that touch overlap; but within a session one follows the other.
 */
function turnsOf(history: History, times: Float64Array): Int32Array {
  const turn = new Int32Array(times.length)
  let last = -1
  for (const txn of history.sessionTxns) {
    const start = 2 * txn
    const follows = last >= 0 && history.txnSession[last >> 1] === history.txnSession[txn]
    turn[start] = follows && times[last] === times[start] ? turn[last]! + 1 : 0
    turn[start + 1] = times[start] === times[start + 1] ? turn[start] + 1 : 1
    last = start + 1
  }
  return turn
}

/**
 * Whether numbering events anew puts the end of a transaction before the start of another one that
 * began at the same instant. A process does one thing at a time, so that of one session too: there
 * nothing but lin tells the difference.
 */
function breaksTies(history: History, times: Float64Array): boolean {
  const { events } = newIndices(history)
  const { txnStatus } = history
  let hasEnded = false // whether a transaction ended at the instant of the event before
  for (let i = 0; i < events.length; i++) {
    const event = events[i]!
    if (i > 0 && times[events[i - 1]!] !== times[event]) hasEnded = false
    if ((event & 1) === 1) hasEnded ||= txnStatus[event >> 1] !== INDETERMINATE
    else if (hasEnded) return true
  }
  return false
}

class JepsenWriter {
  private readonly writer: ByteWriter
  private readonly keys: RenderedKeys
  private readonly numbering: Numbering
  private readonly lists: boolean

  constructor(
    private readonly history: History,
    sink: Sink,
    private readonly syntax: Syntax,
  ) {
    this.writer = new ByteWriter(sink)
    this.keys = new RenderedKeys(history, (key) => syntax.symbol(key ?? 'nil'))
    this.numbering = new Numbering(history, CAPACITY)
    this.lists = hasLists(history)
  }

  write(): void {
    const { history, syntax, writer } = this
    const { events, indexOf } = ownIndices(history) ?? newIndices(history)
    const isLate = findLateInitial(history) !== NONE
    for (const event of events) {
      const txn = event >> 1
      if (isLate && history.txnIsInitial[txn]) continue // it is the initial state all the same
      const completed = (event & 1) === 1
      const process = String(this.numbering.session(history.txnSession[txn]!))
      const type = completed ? TYPES[history.txnStatus[txn]!]! : 'invoke'
      writer.text(syntax.event(type, process, indexOf(event)))
      this.writeOps(txn, completed)
      writer.text(']}\n')
    }
    writer.flush()
  }

  private writeOps(txn: number, completed: boolean): void {
    const { history, syntax, writer } = this
    let first = true
    // An indeterminate transaction may have no completion: what is known of it stands in both.
    const known = completed || history.txnStatus[txn] === INDETERMINATE
    for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
      const kind = history.opKind[op]!
      // A file holds one kind of objects, and no rows that were there twice or not at all.
      if (kind === READ_ROWS || isOfList(history, op) !== this.lists) continue
      if (!first) writer.text(syntax.separator)
      first = false
      writer.text(syntax.verbs[kind]!)
      this.keys.write(writer, history.opKey[op]!)
      writer.text(syntax.separator)
      if (kind === READ_LIST) this.writeList(op, known)
      else if (kind === READ && !known) writer.text(syntax.symbol(null))
      else if (kind === APPEND) this.writeElement(history.opValue[op]!)
      else this.writeRegister(history.opValue[op]!)
      writer.text(']')
    }
  }

  private writeList(op: number, known: boolean): void {
    const { history, writer, syntax } = this
    if (!known) return writer.text(syntax.symbol(null))
    const list = history.opValue[op]!
    const from = history.listStart[list]!
    writer.text('[')
    for (let i = from; i < history.listStart[list + 1]!; i++) {
      if (i > from) writer.text(syntax.separator)
      this.writeElement(history.listValue[i]!)
    }
    writer.text(']')
  }

  private writeElement(value: number): void {
    writeValue(this.writer, this.history, value, this.syntax.symbol)
  }

  private writeRegister(value: number): void {
    const numbered = this.numbering.value(value)
    if (typeof numbered === 'number' && numbered >= 0 && numbered < 2 ** 31) {
      this.writer.small(numbered)
    } else this.writer.text(this.syntax.symbol(numbered))
  }
}
