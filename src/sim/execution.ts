// What comes out of a simulation, as plain arrays.

import type { FaultStrike } from './faults.ts'
import type { Outcome } from './schedule.ts'

/** In `shown`: a write that nobody made. */
export const THIN_AIR = -3

/** What happened. Operations keep their places in the plan; injected ones lie behind them. */
export interface Execution extends Outcome {
  readonly keyCount: number
  readonly txnCount: number
  readonly txnOpStart: Int32Array // txn -> its first op
  readonly txnOpCount: Int32Array // txn -> how many operations it got to
  readonly opKind: Uint8Array // op -> READ, WRITE, APPEND, READ_LIST
  readonly opKey: Int32Array // op -> key
  readonly opFrom: Int32Array // read -> write that it saw (of a list, the last element), or NONE
  readonly opPrev: Int32Array // write -> version of its key before it, or NONE
  readonly opStep: Int32Array // op -> step in which it ran
  /** read op -> the writes that it showed where no state of the store would: see THIN_AIR. */
  readonly shown: ReadonlyMap<number, readonly number[]>
  readonly strikes: readonly FaultStrike[]
}
