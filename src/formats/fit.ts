// What a format cannot hold. Each format says what it can; `findMisfits` tells what of a history
// would not come back, with one example each, so that a conversion can refuse or, asked to lose it,
// go on. `Numbering` is how writers put names into formats that know only integers.

import { quote, sentence } from '../base/inert.ts'
import {
  ABORTED,
  COMMITTED,
  type History,
  hasLists,
  INDETERMINATE,
  INITIAL,
  NONE,
  READ,
  WRITE,
} from '../history/history.ts'
import { findStray } from '../history/initial.ts'
import { ADD, INCREMENT, RANGE, SET, TOTAL } from '../history/spans.ts'
import { INTERNED, type Value } from '../history/values.ts'

/** What a format can hold. */
export interface Capacity {
  readonly keys: (key: Value) => boolean
  readonly values: (value: Value) => boolean
  /** Sessions have names, or are integers, or are known only by their position, from 0. */
  readonly sessions: 'names' | 'integers' | 'positions'
  /** The initial value every key has in this format; undefined if there is none. */
  readonly initial: Value | undefined
  /** Whether transactions keep their names: all of them, integers only, or not at all. */
  readonly txnNames: 'all' | 'integers' | 'none'
  readonly times: boolean
  readonly levels: boolean
  /** Indeterminate transactions: anywhere, only the last of a session, or nowhere. */
  readonly indeterminate: 'all' | 'last' | 'none'
  /** Aborted transactions: as they are, only the writes of a run of them, or not at all. */
  readonly aborted: 'whole' | 'writes' | 'none'
  readonly emptyTxns: boolean
  readonly lists: boolean
  /** Transactions are told as in the input, or session by session, in one file or in several. */
  readonly order: 'input' | 'sessions' | 'files'
}

/** A test for integers in a range. */
function integersIn(min: bigint, max: bigint): (value: Value) => boolean {
  return (value) => value !== null && typeof value !== 'string' && value >= min && value <= max
}

export const isU64 = integersIn(0n, 2n ** 64n - 1n)
export const isI64 = integersIn(-(2n ** 63n), 2n ** 63n - 1n)
/** What the name of a session's file can end with, so that it is read as a number. */
const isFileNumber = integersIn(0n, 999_999_999n)

/** Formats of registers, session by session, without names or times; others differ from it. */
export const PLAIN: Capacity = {
  keys: isU64,
  values: isU64,
  sessions: 'positions',
  initial: 0,
  txnNames: 'none',
  times: false,
  levels: false,
  indeterminate: 'none',
  aborted: 'whole',
  emptyTxns: true,
  lists: false,
  order: 'sessions',
}

/** Reasons why the history does not come back the same from this format; empty if it does. */
export function findMisfits(history: History, capacity: Capacity): string[] {
  const lists = !capacity.lists && hasLists(history)
  const times = !capacity.times && (history.txnStartTime || history.txnFinishTime)
  const reasons = [
    badKey(history, capacity),
    badValue(history, capacity),
    badSession(history, capacity, capacity.order === 'files' ? isFileNumber : isU64),
    badInitial(history, capacity),
    badLead(history, capacity),
    lists ? 'lists' : null,
    history.versions ? 'versions of reads and writes' : null,
    history.light ? 'lightweight transactions' : null,
    spansOf(history),
    history.rows ? 'reads that did not return one row' : null,
    history.txnAudit ? 'audits' : null,
    history.sql ? 'SQL statements' : null,
    history.partial ? 'that not everything was recorded (partial)' : null,
    history.after ? 'transactions that come after others (after)' : null,
    times ? 'start and finish times' : null,
    !capacity.levels && history.txnLevel ? 'levels of transactions' : null,
    badIndeterminate(history, capacity),
    badAborted(history, capacity),
    capacity.emptyTxns ? null : badEmpty(history),
    badName(history, capacity),
  ]
  return reasons.filter((reason) => reason !== null).map(sentence)
}

function spansOf({ spans }: History): string | null {
  if (spans === null) return null
  const has = (...kinds: number[]) => spans.kind.some((kind) => kinds.includes(kind))
  const what = [
    has(RANGE) ? 'range reads' : null,
    has(INCREMENT, TOTAL) ? 'counters' : null,
    has(ADD, SET) ? 'sets' : null,
  ]
  return what.filter((each) => each !== null).join(' and ') || null
}

function misfit(what: string, value: Value): string {
  if (typeof value === 'string') return `${what} that are such strings (${quote(value)})`
  return `${what} out of its range (${value})`
}

/** Keys and values of shares of counters and elements of sets, which nobody told: what lacks these says so. */
function shareNames(history: History): ReadonlySet<Value> {
  const { spans, opKey } = history
  const names = new Set<Value>()
  spans?.opSpan.forEach((span, op) => {
    if (span === NONE || spans.kind[span] === RANGE || spans.kind[span] === TOTAL) return
    for (let each = op; each < op + spans.size[span]!; each++) {
      names.add(history.keyName(opKey[each]!)).add(history.valueOf(each))
    }
  })
  return names
}

function badKey(history: History, capacity: Capacity): string | null {
  const untold = shareNames(history)
  for (let key = 0; key < history.keyCount; key++) {
    const name = history.keyName(key)
    if (!capacity.keys(name) && !untold.has(name)) return misfit('keys', name)
  }
  return null
}

function badSession(history: History, { sessions }: Capacity, isInteger = isU64): string | null {
  if (sessions === 'names') return null
  for (let session = 0; session < history.sessionCount; session++) {
    const label = history.sessionLabel(session)
    const fits = sessions === 'integers' ? isInteger(label) : label === session
    if (!fits) return `names of sessions (${quote(String(label))})`
  }
  return null
}

function badValue(history: History, capacity: Capacity): string | null {
  const { interned } = history.values
  const untold = shareNames(history)
  for (let symbol = 0; symbol < interned.size; symbol++) {
    const value = interned.get(symbol)
    const isOwn = value === history.initial // it becomes the format's
    if (!isOwn && !capacity.values(value) && !untold.has(value)) return misfit('values', value)
  }
  return null
}

/** The initial value becomes the format's own, which nothing else may have as its value. */
function badInitial(history: History, capacity: Capacity): string | null {
  const { initial } = capacity
  if (history.initial === initial) return null
  if (initial === undefined) {
    const initialTxn = history.txnIsInitial.includes(1) || history.readFrom.includes(INITIAL)
    return initialTxn ? 'the initial state' : null
  }
  const id = findValue(history, initial)
  const isTaken = (kind: number, op: number) =>
    (kind === READ || kind === WRITE) && history.opValue[op] === id
  if (id === NONE || !history.opKind.some(isTaken)) return null
  return `the value ${initial} where it is not the initial one`
}

/** Told session by session, what spells out the initial state may come too late to be known. */
function badLead(history: History, { order }: Capacity): string | null {
  if (order === 'input' || !history.txnIsInitial.includes(1)) return null
  const txns = sessionsInOrder(history, order).flatMap((s) => [...txnsOf(history, s)])
  const stray = findStray(history, txns)
  if (stray === NONE) return null
  return `transactions of several sessions that write the initial state (${history.txnName(stray)})`
}

/** Sessions as a format tells them: as they are numbered, or by the numbers of their files. */
function sessionsInOrder(history: History, order: Capacity['order']): number[] {
  const sessions = Array.from({ length: history.sessionCount }, (_, session) => session)
  if (order !== 'files' || !sessions.every((s) => isU64(history.sessionLabel(s)))) return sessions
  const number = (session: number) => Number(history.sessionLabel(session))
  return sessions.sort((a, b) => number(a) - number(b))
}

function txnsOf({ sessionTxns, sessionTxnStart }: History, session: number): Int32Array {
  return sessionTxns.subarray(sessionTxnStart[session], sessionTxnStart[session + 1])
}

/** The id of a value that occurs, or NONE; unlike interning, it leaves the history as it is. */
function findValue(history: History, value: Value): number {
  if (typeof value === 'number' && value >= 0 && value < INTERNED) return value
  const { interned } = history.values
  for (let symbol = 0; symbol < interned.size; symbol++) {
    if (interned.get(symbol) === value) return INTERNED + symbol
  }
  return NONE
}

function badIndeterminate(history: History, capacity: Capacity): string | null {
  if (capacity.indeterminate === 'all') return null
  const { sessionTxns, txnSession, txnStatus } = history
  const txn = sessionTxns.find((txn, slot) => {
    const isLast = txnSession[sessionTxns[slot + 1]!] !== txnSession[txn]
    return txnStatus[txn] === INDETERMINATE && (capacity.indeterminate === 'none' || !isLast)
  })
  return txn === undefined ? null : `indeterminate transactions (${history.txnName(txn)})`
}

function badAborted(history: History, capacity: Capacity): string | null {
  if (capacity.aborted === 'whole') return null
  const first = history.txnStatus.indexOf(ABORTED)
  if (first === NONE) return null
  if (capacity.aborted === 'none') return `aborted transactions (${history.txnName(first)})`
  let previous = NONE
  for (const txn of history.sessionTxns) {
    if (history.txnStatus[txn] === ABORTED) {
      const name = history.txnName(txn)
      if (history.txnLabel(txn) !== null) return `names of aborted transactions (${name})`
      const kinds = history.opKind.subarray(history.txnOpStart[txn], history.txnOpStart[txn + 1])
      if (kinds.includes(READ)) return `reads of aborted transactions (${name})`
      const inSession = history.txnSession[previous] === history.txnSession[txn]
      const touches = inSession && history.txnStatus[previous] === ABORTED
      if (touches) return `the boundary between aborted transactions (${name})`
    }
    previous = txn
  }
  return null
}

function badEmpty(history: History): string | null {
  const { txnStatus, txnOpStart } = history
  const txn = txnStatus.findIndex((_, txn) => txnOpStart[txn] === txnOpStart[txn + 1])
  return txn === NONE ? null : `transactions without operations (${history.txnName(txn)})`
}

function badName(history: History, capacity: Capacity): string | null {
  if (capacity.txnNames === 'all') return null
  let named = NONE
  let unnamed = NONE
  for (let txn = 0; txn < history.txnCount; txn++) {
    const label = history.txnLabel(txn)
    if (label !== null && (capacity.txnNames === 'none' || !isU64(label))) {
      return `names of transactions (${history.txnName(txn)})`
    }
    if (label !== null) named = txn
    else if (history.txnStatus[txn] !== ABORTED) unnamed = txn
  }
  if (named === NONE || unnamed === NONE) return null
  return `transactions without a name beside named ones (${history.txnName(unnamed)})`
}

export interface NumberedOp {
  readonly op: number
  readonly isRead: boolean
  readonly key: Value
  readonly value: Value
}

/** Keys, values, sessions and transactions by their own names where all fit, else by number. */
export class Numbering {
  private readonly initial: number // value id of the initial value, NONE if there is none
  private readonly keysFit: boolean
  private readonly valuesFit: boolean
  private readonly sessionsFit: boolean
  private readonly namesFit: boolean

  constructor(
    private readonly history: History,
    capacity: Capacity,
  ) {
    this.initial = history.initial === undefined ? NONE : findValue(history, history.initial)
    this.keysFit = badKey(history, capacity) === null
    this.sessionsFit = badSession(history, capacity) === null
    this.namesFit = history.txnStatus.every(
      (status, txn) => status === ABORTED || isU64(history.txnLabel(txn)),
    )
    this.valuesFit = badValue(history, capacity) === null && badInitial(history, capacity) === null
  }

  key(key: number): Value {
    return this.keysFit ? this.history.keyName(key) : key
  }

  session(session: number): Value {
    return this.sessionsFit ? this.history.sessionLabel(session) : session
  }

  /** The value of an id; null for the initial state. */
  value(value: number): Value {
    if (value === this.initial) return null
    // Numbered: small integers move up by one, so that 0 is free; the others come behind them.
    if (!this.valuesFit) return value + 1
    return value < INTERNED ? value : this.history.values.get(value)
  }

  /** Whether every small integer is its own value, the format's initial 0 included. */
  keepsSmallValues(): boolean {
    return this.valuesFit && (this.initial === 0 || this.initial >= INTERNED || this.initial < 0)
  }

  /** The reads and writes of registers of a transaction; a value of null is the initial state. */
  ops(txn: number): NumberedOp[] {
    const { txnOpStart, opKind, opKey, opValue } = this.history
    const ops: NumberedOp[] = []
    for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
      const isRead = opKind[op] === READ
      if (!isRead && opKind[op] !== WRITE) continue
      ops.push({ op, isRead, key: this.key(opKey[op]!), value: this.value(opValue[op]!) })
    }
    return ops
  }

  /** An id that comes back as the same name: the user's own where all have one, else T1, T2, … */
  txn(txn: number): number | bigint {
    return this.namesFit ? (this.history.txnLabel(txn) as number | bigint) : txn + 1
  }
}

/** Whether a lossy writer writes the transaction: unobserved indeterminate ones it leaves out. */
export function isKept(history: History, txn: number): boolean {
  const status = history.txnStatus[txn]
  return status === COMMITTED || status === ABORTED || history.txnCounts[txn] === 1
}

/**
 * session -> those of its transactions that a lossy writer writes. What spells out the initial
 * state but would come too late is left out: it is the initial state all the same.
 */
export function keptBySession(
  history: History,
  { order, aborted, indeterminate }: Capacity,
): Int32Array[] {
  const { txnIsInitial, txnStatus } = history
  const kept: Int32Array[] = []
  let led = true
  for (const session of sessionsInOrder(history, order)) {
    kept[session] = txnsOf(history, session).filter((txn, i, { length }) => {
      const isOpen = indeterminate === 'last' && txnStatus[txn] === INDETERMINATE
      if (!isKept(history, txn) && !(isOpen && i === length - 1)) return false
      if (aborted === 'none' && txnStatus[txn] === ABORTED) return false
      if (!txnIsInitial[txn]) led = false
      return led || !txnIsInitial[txn]
    })
  }
  return kept
}
