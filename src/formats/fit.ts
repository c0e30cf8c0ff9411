// What a format cannot hold. Each format names the features it lacks; `findMisfits` tells which of
// them a history uses, with one example each, so that a conversion can refuse or, asked to lose
// them, go on. `Numbering` is how lossy writers put names into formats that know only integers.

import {
  ABORTED,
  APPEND,
  COMMITTED,
  type History,
  INDETERMINATE,
  INITIAL,
  NONE,
  READ,
  WRITE,
} from '../history/history.ts'
import { INTERNED, type Value } from '../history/values.ts'

export interface Range {
  min: bigint
  max: bigint
}

/** What a format can hold; every field that is false (or a narrower range) is a reason to refuse. */
export interface Capacity {
  /** Smallest and largest integer for keys, values and sessions; null if it also holds strings. */
  integers: Range | null
  /** The initial value every key has in this format; undefined if there is none. */
  initial: Value | undefined
  /** Whether transactions keep their names: all of them, integers only, or not at all. */
  txnNames: 'all' | 'integers' | 'none'
  times: boolean
  levels: boolean
  indeterminate: boolean
  /** Whether aborted transactions come back one by one, with their reads. */
  aborted: 'whole' | 'writes' | 'none'
  emptyTxns: boolean
  lists: boolean
}

export const U64 = { min: 0n, max: 2n ** 64n - 1n }
export const I64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n }

/** Reasons why the history does not come back the same from this format; empty if it does. */
export function findMisfits(history: History, capacity: Capacity): string[] {
  const reasons: string[] = []
  const add = (reason: string | null) => {
    if (reason !== null) reasons.push(reason)
  }
  if (capacity.integers) {
    add(badKey(history, capacity.integers))
    add(badValue(history, capacity.integers))
    add(badSession(history, capacity.integers))
  }
  add(badInitial(history, capacity))
  if (!capacity.lists && history.opKind.some((kind) => kind >= APPEND)) add('lists')
  if (!capacity.times && (history.txnStartTime || history.txnFinishTime))
    add('start and finish times')
  if (!capacity.levels && history.txnLevel) add('levels of transactions')
  if (!capacity.indeterminate && history.txnStatus.includes(INDETERMINATE)) {
    add(`indeterminate transactions (${name(history, history.txnStatus.indexOf(INDETERMINATE))})`)
  }
  add(badAborted(history, capacity))
  if (!capacity.emptyTxns) add(badEmpty(history))
  add(badName(history, capacity))
  return reasons
}

function name(history: History, txn: number): string {
  return history.txnName(txn)
}

function fits(value: Value, range: Range): boolean {
  if (value === null || typeof value === 'string') return false
  return value >= range.min && value <= range.max
}

function misfit(what: string, value: Value): string {
  if (typeof value === 'string') return `${what} that are strings (${JSON.stringify(value)})`
  return `${what} out of its range (${value})`
}

function badKey(history: History, range: Range): string | null {
  for (let key = 0; key < history.keyCount; key++) {
    if (!fits(history.keyName(key), range)) return misfit('keys', history.keyName(key))
  }
  return null
}

function badSession(history: History, range: Range): string | null {
  for (let session = 0; session < history.sessionCount; session++) {
    const label = history.sessionLabel(session)
    if (!fits(label, range)) return misfit('sessions', label)
  }
  return null
}

function badValue(history: History, range: Range): string | null {
  const { interned } = history.values
  for (let symbol = 0; symbol < interned.size; symbol++) {
    const value = interned.get(symbol)
    if (value === history.initial) continue // it becomes the format's own
    if (!fits(value, range)) return misfit('values', value)
  }
  return null
}

/** The initial value becomes the format's own, which nothing else may have as its value. */
function badInitial(history: History, capacity: Capacity): string | null {
  const { initial } = capacity
  if (history.initial === initial) return null
  if (initial === undefined) {
    return history.readFrom.includes(INITIAL) ? 'reads of the initial state' : null
  }
  const id = history.values.of(initial)
  for (let op = 0; op < history.opCount; op++) {
    const isRegister = history.opKind[op] === READ || history.opKind[op] === WRITE
    if (isRegister && history.opValue[op] === id) {
      return `the value ${initial} where it is not the initial one`
    }
  }
  return null
}

function badAborted(history: History, capacity: Capacity): string | null {
  if (capacity.aborted === 'whole') return null
  const first = history.txnStatus.indexOf(ABORTED)
  if (first === NONE) return null
  if (capacity.aborted === 'none') return `aborted transactions (${name(history, first)})`
  let previous = NONE
  for (const txn of history.sessionTxns) {
    if (history.txnStatus[txn] === ABORTED) {
      if (history.txnLabel(txn) !== null)
        return `names of aborted transactions (${name(history, txn)})`
      for (let op = history.txnOpStart[txn]!; op < history.txnOpStart[txn + 1]!; op++) {
        if (history.opKind[op] === READ)
          return `reads of aborted transactions (${name(history, txn)})`
      }
      const touches =
        previous !== NONE &&
        history.txnStatus[previous] === ABORTED &&
        history.txnSession[previous] === history.txnSession[txn]
      if (touches) return `the boundary between aborted transactions (${name(history, txn)})`
    }
    previous = txn
  }
  return null
}

function badEmpty(history: History): string | null {
  for (let txn = 0; txn < history.txnCount; txn++) {
    if (history.txnOpStart[txn] === history.txnOpStart[txn + 1]) {
      return `transactions without operations (${name(history, txn)})`
    }
  }
  return null
}

function badName(history: History, capacity: Capacity): string | null {
  if (capacity.txnNames === 'all') return null
  let named = NONE
  let unnamed = NONE
  for (let txn = 0; txn < history.txnCount; txn++) {
    const label = history.txnLabel(txn)
    if (label !== null && (capacity.txnNames === 'none' || !fits(label, U64))) {
      return `names of transactions (${name(history, txn)})`
    }
    if (label !== null) named = txn
    else if (history.txnStatus[txn] !== ABORTED) unnamed = txn
  }
  if (named === NONE || unnamed === NONE) return null
  return `transactions without a name beside named ones (${name(history, unnamed)})`
}

/** Keys, values and sessions as integers: their own where all fit, else numbered. */
export class Numbering {
  private readonly history: History
  private readonly initial: number // value id of the initial value, NONE if there is none
  private readonly keysFit: boolean
  private readonly valuesFit: boolean
  private readonly sessionsFit: boolean

  constructor(history: History, capacity: Capacity & { integers: Range }) {
    this.history = history
    this.initial = history.initial === undefined ? NONE : history.values.of(history.initial)
    this.keysFit = badKey(history, capacity.integers) === null
    this.sessionsFit = badSession(history, capacity.integers) === null
    this.valuesFit =
      badValue(history, capacity.integers) === null && badInitial(history, capacity) === null
  }

  key(key: number): number | bigint {
    return this.keysFit ? (this.history.keyName(key) as number | bigint) : key
  }

  session(session: number): number | bigint {
    return this.sessionsFit ? (this.history.sessionLabel(session) as number | bigint) : session
  }

  /** The number of a value id; the initial value is 0. */
  value(value: number): number | bigint {
    if (value === this.initial) return 0
    // Numbered: small integers move up by one, the others come behind them all.
    if (!this.valuesFit) return value + 1
    return value < INTERNED ? value : (this.history.values.get(value) as number | bigint)
  }
}

/** Whether a lossy writer writes the transaction: unobserved indeterminate ones it leaves out. */
export function isKept(history: History, txn: number): boolean {
  const status = history.txnStatus[txn]
  return status === COMMITTED || status === ABORTED || history.txnCounts[txn] === 1
}
