// What came of deciding a level on disk, and what that takes. Main type: Decision.

import type { CheckOptions } from '../../check/options.ts'
import type { Scratch } from '../../files/scratch.ts'
import type { CommitOrder } from '../../spill/commit-order.ts'
import type { Observers } from './settle-counts.ts'
import type { StaleReads } from './stale-reads.ts'
import type { Offence } from './sweep.ts'

export type Decision =
  | {
      readonly verdict: 'satisfied'
      readonly order: CommitOrder
      readonly stale: StaleReads | null // of that order, at si
    }
  | {
      readonly verdict: 'violated'
      readonly offences: readonly Offence[]
      readonly txns: ReadonlySet<number> // that show it, beside the offences
    }
  | { readonly verdict: 'unknown'; readonly reason: string }

export interface DecideTools {
  readonly scratch: Scratch
  /** Called now and then with what is done, and how much of it; may throw to give up. */
  readonly onStep: (phase: string, done: number, all: number) => void
  readonly memoryBytes: number
  /** For what the engine in memory decides. */
  readonly check: CheckOptions
  readonly observers: Observers
  /** The order that is tried first: the file's own, or one in which no read is late. */
  readonly first: CommitOrder
}
