// What the error codes of MariaDB and MySQL say about the transaction they end (docs/databases.md
// has the table with its sources).
//
// Before COMMIT is sent every failure means aborted: some codes roll back the statement only, some
// the transaction, and whatever is left of it the session rolls back, or the server does when it
// finds the connection gone. A statement that commits itself has failed as a whole if the server
// says so by a code of a statement. Once COMMIT is sent, only the codes below are the server's word
// that it rolled back. Codes that are not listed count as silence.

import type { Fate } from '../database.ts'
import type { Phase } from '../registers.ts'

/** COMMIT was refused, and the transaction rolled back. */
const REFUSED_AT_COMMIT = new Set([
  1213, // ER_LOCK_DEADLOCK: in a Galera cluster, certification failed
  3101, // ER_TRANSACTION_ROLLBACK_DURING_COMMIT: MySQL's group replication refused it
])

/** A statement that commits itself was refused. */
const REFUSED_ALONE = new Set([
  ...REFUSED_AT_COMMIT,
  1020, // ER_CHECKREAD: the row has changed since the snapshot
  1062, // ER_DUP_ENTRY
  1205, // ER_LOCK_WAIT_TIMEOUT
])

/** No other transaction will fare better: the run has to stop. */
const HOPELESS = new Set([
  1044, // ER_DBACCESS_DENIED_ERROR
  1045, // ER_ACCESS_DENIED_ERROR
  1046, // ER_NO_DB_ERROR
  1049, // ER_BAD_DB_ERROR
  1054, // ER_BAD_FIELD_ERROR
  1064, // ER_PARSE_ERROR
  1142, // ER_TABLEACCESS_DENIED_ERROR
  1146, // ER_NO_SUCH_TABLE
  1193, // ER_UNKNOWN_SYSTEM_VARIABLE
  1227, // ER_SPECIFIC_ACCESS_DENIED_ERROR
  1290, // ER_OPTION_PREVENTS_STATEMENT: read-only, among others
  1792, // ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION
  1836, // ER_READ_ONLY_MODE
])

/** The server ends the connection after these. */
const LAST_WORDS = new Set([
  1053, // ER_SERVER_SHUTDOWN
  1152, // ER_ABORTING_CONNECTION
  1184, // ER_NEW_ABORTING_CONNECTION
  1927, // ER_CONNECTION_KILLED
  4031, // ER_CLIENT_INTERACTION_TIMEOUT
])

/** @param code null: the server said nothing */
export function fateOf(phase: Phase, code: number | null): Fate {
  if (phase === 'work') return 'aborted'
  if (code === null) return 'indeterminate'
  const refused = phase === 'alone' ? REFUSED_ALONE : REFUSED_AT_COMMIT
  return refused.has(code) ? 'aborted' : 'indeterminate'
}

/** True if the error speaks of the setup, not of one transaction. */
export function isHopeless(code: number | null): boolean {
  return code !== null && HOPELESS.has(code)
}

/** True if the connection is of no more use. */
export function isLastWord(code: number | null): boolean {
  return code === null || LAST_WORDS.has(code)
}
