// What a race has run: one schedule with its verdict, how many there were of those that matter, and
// what was tried against a violation.

import type { CheckResult } from '../../library/check-result.ts'
import type { Outcome } from '../../verdict/verdict.ts'
import type { Turn } from './play.ts'

/** One schedule that was run. */
export interface RaceRun {
  /** Who was let go, one statement after the other. */
  readonly schedule: readonly string[]
  readonly turns: readonly Turn[]
  /** Actor -> what it threw; those that are not here ended well. */
  readonly errors: ReadonlyMap<string, unknown>
  /** The verdict on what was recorded; null if no transaction did anything. */
  readonly result: CheckResult | null
  readonly verdict: Outcome
  /** Why statements could not be recorded; without any the verdict is on everything. */
  readonly unrecorded: readonly string[]
  /** Mistakes that were noticed, such as a level that was set on another connection. */
  readonly warnings: readonly string[]
}

/** How much of a race was run. */
export interface Coverage {
  /** Schedules that were run. */
  readonly runs: number
  /** Those of them that differ by more than the order of what commutes. */
  readonly schedules: number
  /** Every schedule that matters was run. */
  readonly isComplete: boolean
  /** Why not, in a few words; null if it is. */
  readonly limit: string | null
}

/** Something that was tried against a violation, and what came of it. */
export interface Cure {
  /** In a few words: `FOR UPDATE behind SELECT …`. */
  readonly name: string
  /** Whether every schedule that was run satisfies the level with it. */
  readonly isConfirmed: boolean
  readonly coverage: Coverage
  /** How many times an actor had to try again, for each run. */
  readonly retriesPerRun: number
  /** How many statements had to wait for another actor, for each run. */
  readonly waitsPerRun: number
  /** How often a constraint refused what an actor wanted, for each run. */
  readonly refusalsPerRun: number
}
