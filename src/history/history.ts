// The dense history: what every checker reads. Transactions, operations, keys, sessions are
// numbered from 0; a transaction's operations lie side by side in program order; transactions in
// the order in which the input first speaks of them. Built by HistoryBuilder.

import type { Place } from '../base/errors.ts'
import type { LightOps } from './light.ts'
import type { RowSets } from './rows.ts'
import type { SpanOps } from './spans.ts'
import type { SqlEvents } from './sql-events.ts'
import type { SymbolTable } from './symbols.ts'
import type { Value, ValueTable } from './values.ts'

/** No such thing. */
export const NONE = -1
/** In `readFrom`: the read saw the initial state. */
export const INITIAL = -2

export const READ = 0
export const WRITE = 1
export const APPEND = 2
export const READ_LIST = 3
export const READ_ROWS = 4 // a read that did not return exactly one row (rows.ts)

/**
 * All bits set for writes and appends, none for reads. No processor foresees which come: a replay
 * that chooses by these bits takes half the time of one that branches.
 */
export function writeMask(kind: number): number {
  return ((kind + 1) << 30) >> 31
}

export const COMMITTED = 0
export const ABORTED = 1
export const INDETERMINATE = 2

export const STATUS_NAMES = ['committed', 'aborted', 'indeterminate'] as const
/** How a transaction ended, as far as is known. */
export type StatusName = (typeof STATUS_NAMES)[number]

export const TIME_UNITS = ['ns', 'us', 'ms', 's'] as const
/** What times are told in. */
export type TimeUnit = (typeof TIME_UNITS)[number]

/** Where the operations stand in the input; what it knows depends on the format. */
export interface Places {
  /** `arrival` counts operations in the order in which the parser met them. */
  place(arrival: number): Place | null
}

/** Something that happened beside the transactions, such as a fault that a test put in. */
export interface Annotation {
  /** When, in the unit of the transactions' times. */
  readonly time: number
  /** Who did it, e.g. nemesis. */
  readonly source: string
  readonly text: string
}

/** What a recorder could not tell of (docs/levels.md#partial-histories). */
export interface Omissions {
  /** Why things were left out, and how many. */
  readonly reasons: Readonly<Record<string, number>>
  /** Tables that may hold versions of rows which the history does not tell of. */
  readonly tables: readonly string[]
}

/** Which transactions real time puts in order: all of them, or those that share a key. */
export type TimeScope = 'all' | 'by-key'

/** Who says of whom that it comes after it. */
export interface AfterEdges {
  readonly start: Int32Array // txn -> its first entry; one more at the end
  readonly txn: Int32Array // entry -> a transaction that it comes after
}

/** Versions that the store gave. */
export interface Versions {
  /** op -> version, NaN if it has none; ordered as the versions are. */
  readonly opVersion: Float64Array
  /** key -> the version of its initial state, NaN if nothing tells. */
  readonly initial: Float64Array
  readonly orderStart: Int32Array // key -> first slot in `order`; one more entry at the end
  /** slot -> last write of a key by a transaction that counts, by version; empty: not known. */
  readonly order: Int32Array
  /** The version of an operation as the input wrote it, null if it has none. */
  text(op: number): string | null
}

/** Reads that may have seen one or the other, such as of values that were written twice. */
export interface PossibleWriters {
  readonly reads: Int32Array // choice -> read op, ascending
  readonly again: Int32Array // choice -> another read op that sees the same, NONE if none does
  readonly group: Int32Array // choice -> all that gave its key its value
  readonly likeliest: Int32Array // choice -> position in its group
  readonly start: Int32Array // group -> its first entry in `writes`; one more at the end
  readonly writes: Int32Array // entry -> write op, or INITIAL
  /** What choices must add up to; null if each stands by itself. */
  readonly sums: Sums | null
}

/** Choices that go together only if the second of their two writers, where taken, add up. */
export interface Sums {
  readonly start: Int32Array // sum -> its first entry in `choice`; one more at the end
  readonly choice: Int32Array // entry -> a choice between INITIAL and a write
  readonly weight: Float64Array // entry -> what that write adds
  readonly total: Float64Array // sum -> what they add up to
}

/**
 * A history as it is judged: transactions, operations, keys and sessions are numbers from 0, and
 * arrays say what is known of each.
 */
export interface History {
  readonly sessionCount: number
  readonly txnCount: number
  readonly opCount: number
  readonly keyCount: number

  readonly sessionTxnStart: Int32Array // session -> its first slot in sessionTxns
  readonly sessionTxns: Int32Array // slot -> txn, session by session, in session order
  readonly txnSession: Int32Array // txn -> session
  readonly txnIndex: Int32Array // txn -> position within its session
  readonly txnStatus: Uint8Array // txn -> COMMITTED, ABORTED, INDETERMINATE, as recorded
  /**
   * txn -> 1 if it takes part in every order: committed, or indeterminate and observed (directly or
   * through others), and not merely a part of the initial transaction.
   */
  readonly txnCounts: Uint8Array
  readonly txnIsInitial: Uint8Array // txn -> 1 if it is part of the initial transaction
  readonly txnOpStart: Int32Array // txn -> its first op; txnOpStart[txnCount] = opCount
  /** txn -> start, NaN if unknown; ordered as the times are, see times.ts for their digits. */
  readonly txnStartTime: Float64Array | null
  readonly txnFinishTime: Float64Array | null // txn -> finish, NaN if unknown
  /** In which unit times are; null if the input does not say. */
  readonly timeUnit: TimeUnit | null
  /** Who comes after whom beyond sessions; null if nobody names others. */
  readonly after: AfterEdges | null
  /** Present where `after` has real time in it (real-time.ts): whose, and the history without. */
  readonly inTime?: { readonly scope: TimeScope; readonly of: History }
  /** What it was made of, transaction by transaction, if its operations are others. */
  readonly asTold?: History
  readonly txnLevel: Int8Array | null // txn -> index into levels/ of the level it ran at, or NONE
  /**
   * txn -> 1 if it is an audit: it ran while nothing else did, on a database that had come to rest,
   * so whatever was acknowledged before it started must show. Null if there is none.
   */
  readonly txnAudit: Uint8Array | null

  readonly opTxn: Int32Array // op -> txn that issued it
  readonly opKind: Uint8Array // op -> READ, WRITE, APPEND, READ_LIST, READ_ROWS
  readonly opKey: Int32Array // op -> key
  readonly opValue: Int32Array // op -> value id; of READ_LIST its list, of READ_ROWS its set
  /** read op -> the write op it saw, INITIAL, or NONE (nobody wrote it). NONE for writes, lists. */
  readonly readFrom: Int32Array
  readonly readTxn: Int32Array // read op -> the transaction of that write, INITIAL or NONE
  /** Who else it may have been, where values were written twice; null if no read has a choice. */
  readonly writers: PossibleWriters | null

  readonly listStart: Int32Array // list -> its first element; one more entry at the end
  readonly listValue: Int32Array // element -> value id
  readonly listFrom: Int32Array // element -> append op that wrote it, or NONE

  /** Versions as the store numbers them; null if no operation has one. */
  readonly versions: Versions | null
  /** Which operations were written as lightweight transactions; null if none was. */
  readonly light: LightOps | null
  /** Which operations were written as range reads, of counters or of sets; null if none was. */
  readonly spans: SpanOps | null
  /** What reads returned that did not return one row; null if there is none. */
  readonly rows: RowSets | null
  /** SQL statements and the rows they saw and wrote; null if there is none. */
  readonly sql: SqlEvents | null

  /** The value every key has before anything is written; undefined if the format has none. */
  readonly initial: Value | undefined
  readonly keys: SymbolTable
  readonly values: ValueTable
  /** Things worth telling the user that are not errors, e.g. a torn last line. */
  readonly warnings: readonly string[]
  readonly annotations: readonly Annotation[]
  /** Null if the history tells everything. */
  readonly partial: Omissions | null

  keyName(key: number): Value
  valueOf(op: number): Value
  /** The user's own name of the transaction, e.g. T7. */
  txnName(txn: number): string
  sessionName(session: number): string
  /** The transaction's id as the input gave it, null if it gave none; formats write it back. */
  txnLabel(txn: number): Value
  /** The session as the input named it: an integer or a string. */
  sessionLabel(session: number): Value
  /** The start as the input wrote it, null if it is not known. */
  startText(txn: number): string | null
  finishText(txn: number): string | null
  /** Where the operation stands in the input, if the format kept it. */
  placeOf(op: number): Place | null
}

/** Elements of the list that a READ_LIST op returned, as values; of a long list the first ones. */
export function listOf(history: History, op: number, limit = Number.POSITIVE_INFINITY): Value[] {
  const list = history.opValue[op]!
  const elements: Value[] = []
  const from = history.listStart[list]!
  for (let i = from; i < Math.min(history.listStart[list + 1]!, from + limit); i++) {
    elements.push(history.values.get(history.listValue[i]!))
  }
  return elements
}

/** The lists that an operation returned: of READ_LIST its own, of READ_ROWS one for each row. */
export function listsOf({ opKind, opValue, rows }: History, op: number): ArrayLike<number> {
  if (opKind[op] === READ_LIST) return [opValue[op]!]
  if (opKind[op] !== READ_ROWS) return []
  const set = opValue[op]!
  return rows!.rowList.subarray(rows!.setStart[set]!, rows!.setStart[set + 1]!)
}

/** What each row held that a READ_ROWS returned: a value, or the elements of a list. */
export function rowsOf(history: History, op: number): (Value | Value[])[] {
  const { listStart, listValue, values, rows } = history
  const isList = rows!.setIsList[history.opValue[op]!] === 1
  return Array.from(listsOf(history, op), (list) => {
    const held = listValue.subarray(listStart[list]!, listStart[list + 1]!)
    return isList ? Array.from(held, (id) => values.get(id)) : values.get(held[0]!)
  })
}

/** True if the operation is on a list; a read that returned no row may be of either. */
export function isOfList({ opKind, opValue, rows }: History, op: number): boolean {
  const kind = opKind[op]!
  if (kind === READ_ROWS) return rows!.setIsList[opValue[op]!] === 1
  return kind === APPEND || kind === READ_LIST
}

/** True if any operation is on a list. */
export function hasLists(history: History): boolean {
  const { opKind, opCount, rows } = history
  if (rows === null) return opKind.some((kind) => kind >= APPEND)
  for (let op = 0; op < opCount; op++) if (isOfList(history, op)) return true
  return false
}

/** True if all that count have both times (an observed indeterminate needs no finish). */
export function hasTimes(history: History): boolean {
  const { txnStartTime, txnFinishTime, txnCounts, txnStatus, txnCount } = history
  if (!txnStartTime || !txnFinishTime) return !txnCounts.includes(1)
  for (let txn = 0; txn < txnCount; txn++) {
    if (!txnCounts[txn]) continue
    if (Number.isNaN(txnStartTime[txn]!)) return false
    if (txnStatus[txn] === COMMITTED && Number.isNaN(txnFinishTime[txn]!)) return false
  }
  return true
}
