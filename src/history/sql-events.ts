// SQL statements in the dense history. A row is a key: table and primary key, named as in
// orders(17). What a statement did to single rows are plain operations, so that everything that
// knows reads and writes knows them too: a row that a SELECT, UPDATE or DELETE returned or touched
// is a read of the version it saw, a row that an INSERT, UPDATE or DELETE wrote is a write. The
// value of such an operation is the id of the statement that wrote the version, null for the
// initial one; what the row held then stands here. A statement's operations lie side by side, reads
// before writes; a SELECT that returned nothing has none. An INSERT that was refused, because a row
// was there already, is a statement of its own kind: it read that row, and wrote nothing.

import type { Place } from '../base/errors.ts'
import type { SqlColumn, SqlRow, SqlValue } from '../sql/value.ts'

export const SELECT = 0
export const INSERT = 1
export const UPDATE = 2
export const DELETE = 3
export const REFUSED = 4

export const STATEMENT_NAMES = ['select', 'insert', 'update', 'delete', 'refused'] as const
/** The kind of a SQL statement. */
export type StatementName = (typeof STATEMENT_NAMES)[number]

/** A table of a SQL history. */
export interface SqlTable {
  readonly name: string
  readonly columns: readonly SqlColumn[]
  /** Positions of the primary key's columns, in the order of the key. */
  readonly keyColumns: readonly number[]
}

/** The predicate of a statement without a WHERE clause. */
export const EVERY_ROW = 'TRUE'

/** A WHERE clause as it was written; the same text with the same parameters is one predicate. */
export interface SqlPredicate {
  readonly table: number
  readonly text: string
  readonly params: readonly SqlValue[]
  /** Where its text stands first in the input. */
  readonly place: Place | null
}

/** What is told of SQL statements beyond the versions that they read and wrote. */
export interface SqlEvents {
  readonly tables: readonly SqlTable[]
  readonly keyTable: Int32Array // key -> its table, NONE for a register
  readonly keyValues: readonly SqlRow[] // key -> values of its primary key
  readonly initialRow: readonly (SqlRow | null)[] // key -> its row at first, null if there is none
  readonly opRow: readonly (SqlRow | null)[] // write op -> the row as written, null if deleted
  /** read op -> 1 if the row was returned or touched, 0 if it was passed over, and only named. */
  readonly opReturned: Uint8Array
  readonly opEvent: Int32Array // op -> its statement, NONE for an operation on a register

  readonly eventCount: number
  readonly eventTxn: Int32Array // event -> txn
  readonly eventKind: Uint8Array // event -> SELECT, INSERT, UPDATE, DELETE, REFUSED
  readonly eventTable: Int32Array // event -> table
  /** event -> predicate; NONE for INSERT, that of the rows it met for REFUSED. */
  readonly eventPredicate: Int32Array
  readonly eventWrite: Int32Array // event -> value id of its write, NONE if it has none
  /** event -> its first op, or where one would stand; its ops are those whose opEvent it is. */
  readonly eventOpStart: Int32Array
  readonly txnEventStart: Int32Array // txn -> its first event; one more entry at the end
  /** txn -> 1 if its own program rolled it back, rather than the database. */
  readonly txnRolledBack: Uint8Array
  readonly predicates: readonly SqlPredicate[]
  eventPlace(event: number): Place | null
}

/** Whether a statement looked through its table, and passed over the rows that it does not name. */
export function looksThrough({ eventKind }: SqlEvents, event: number): boolean {
  return eventKind[event] !== INSERT && eventKind[event] !== REFUSED
}
