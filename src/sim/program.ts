// What goes into a simulation and what comes out of it, both as plain arrays.

import type { FaultStrike } from './faults.ts'

/** What each session is to do; a plan of workload/ fits as it is. */
export interface Program {
  readonly sessionCount: number
  readonly keyCount: number
  readonly txnCount: number
  readonly opCount: number
  readonly txnSession: Int32Array // txn -> session; a session runs its own in ascending order
  readonly txnOpStart: Int32Array // txn -> its first op; txnOpStart[txnCount] = opCount
  readonly opKind: Uint8Array // op -> READ, WRITE, APPEND, READ_LIST
  readonly opKey: Int32Array // op -> key
  /** Transactions from here on run after all others have ended, and see everything. */
  readonly finalTxn: number
  /** Injected transactions read a key before they write it. */
  readonly readsBeforeWrites: boolean
  /** Injected transactions write only keys of their session: `key % sessionCount`. */
  readonly disjointWrites: boolean
  /** Injected transactions touch one key, once to read it and once to write it at most. */
  readonly lightweight: boolean
}

/** In `shown`: a write that nobody made. */
export const THIN_AIR = -3

/** What happened. Operations keep their places in the program; injected ones lie behind them. */
export interface Execution {
  readonly sessionCount: number
  readonly keyCount: number
  readonly txnCount: number
  readonly txnSession: Int32Array // txn -> session
  readonly txnOpStart: Int32Array // txn -> its first op
  readonly txnOpCount: Int32Array // txn -> how many operations it got to
  readonly txnStatus: Uint8Array // txn -> COMMITTED, ABORTED, INDETERMINATE
  readonly txnStart: Float64Array // txn -> step in which it began
  readonly txnFinish: Float64Array // txn -> step in which its end was known, NaN if never
  readonly ended: Int32Array // rank -> txn, in the order in which they ended
  readonly opKind: Uint8Array // op -> READ, WRITE, APPEND, READ_LIST
  readonly opKey: Int32Array // op -> key
  readonly opFrom: Int32Array // read -> write that it saw (of a list, the last element), or NONE
  readonly opPrev: Int32Array // write -> version of its key before it, or NONE
  readonly opStep: Int32Array // op -> step in which it ran
  /** read op -> the writes that it showed where no state of the store would: see THIN_AIR. */
  readonly shown: ReadonlyMap<number, readonly number[]>
  readonly strikes: readonly FaultStrike[]
}
