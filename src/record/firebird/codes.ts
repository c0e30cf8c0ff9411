// What the error codes of Firebird say about the transaction they end (docs/databases.md has the
// table with its sources).
//
// Before COMMIT is sent every failure means aborted: a statement that fails is undone by itself,
// and the session rolls back the rest, or the server does when it finds the connection gone.
// Firebird looks for conflicts when rows are written, and has no constraints that wait for COMMIT:
// nothing but damage makes it refuse one, so an error there counts as silence.

import type { Fate } from '../database.ts'
import type { Phase } from '../registers.ts'

/** No other transaction will fare better: the run has to stop. */
const HOPELESS = new Set([
  335544352, // isc_no_priv
  335544361, // isc_read_only_trans
  335544569, // isc_dsql_error: the statement is wrong, or there is no such table
  335544765, // isc_read_only_database
])

/** The server ends the connection after these, or has lost the database. */
const LAST_WORDS = new Set([
  335544324, // isc_bad_db_handle
  335544506, // isc_shutinprog
  335544528, // isc_shutdown
  335544648, // isc_conn_lost
  335544721, // isc_network_error
  335544726, // isc_net_read_err
  335544727, // isc_net_write_err
  335544741, // isc_lost_db_connection
  335544856, // isc_att_shutdown
])

/** Firebird has no statements that commit themselves: here, they are followed by a COMMIT. */
export function fateOf(phase: Phase): Fate {
  return phase === 'commit' ? 'indeterminate' : 'aborted'
}

/** True if the error speaks of the setup, not of one transaction. */
export function isHopeless(code: number | null): boolean {
  return code !== null && HOPELESS.has(code)
}

/** True if the connection is of no more use. */
export function isLastWord(code: number | null): boolean {
  return code === null || LAST_WORDS.has(code)
}
