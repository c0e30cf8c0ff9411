// What a check is asked for, and what all its deciders take from that: the deadline they share, how
// many examples they list, what their stages are called. Main type: CheckOptions.

import { Deadline, nowMs, type Stage } from '../base/deadline.ts'
import type { Algorithm } from './general/strong-levels.ts'

/**
 * What a history is judged with.
 *
 * @example
 * await check(history, 'ser', { budgetMs: 10_000 })
 */
export interface CheckOptions {
  /** List every occurrence of an anomaly, not one smallest example of each kind. */
  all?: boolean
  /** With `all`: how many occurrences of each kind are listed; the last one counts the others. */
  limit?: number
  /** At rc, ra and cc: name Plume's patterns, with all reads that show one, instead of faults. */
  byPattern?: boolean
  /** Verify every verdict independently before returning it; on unless set to false. */
  certify?: boolean
  /** Whether session order counts; true unless told. */
  sessionOrder?: boolean
  /** Whether real time counts like session order, at levels that do not ask for it themselves. */
  realTime?: boolean
  /**
   * SQL: whether the reads of transactions that their own programs rolled back are judged, each at
   * its level; 'judge' unless told.
   */
  abortedReads?: 'judge' | 'ignore'
  /** How strong levels are decided; both ways give the same verdicts. */
  algorithm?: Algorithm
  /** Called now and then during long work, with its level and phase, e.g. to show progress. */
  onTick?: ((stage: Readonly<Stage>) => void) | null
  /** Give up after so many milliseconds, with `unknown` for what is not decided; null: never. */
  budgetMs?: number | null
  /** When the budget of time began to run, as `nowMs` counts; now unless told. */
  budgetFromMs?: number
  /** Give up what would take more bytes of memory than that; null: nothing. */
  memoryBytes?: number | null
}

/**
 * How much of a budget of time may pass before a level is given up. What is left is for a violation
 * that was found to be shown, a verdict to be verified, a weaker level to be tried and told.
 */
const JUDGED_SHARE = 0.92

/** What the levels of one call have to share. */
export function deadlineFor(options: CheckOptions): Deadline {
  const { budgetMs, memoryBytes, onTick, budgetFromMs } = options
  const fromMs = budgetFromMs ?? nowMs()
  return new Deadline(budgetMs ?? null, memoryBytes ?? null, onTick ?? null, {
    share: JUDGED_SHARE,
    fromMs,
  })
}

/** How many examples of each kind are listed. */
export function exampleLimit({ all, limit }: CheckOptions): number {
  return all === true ? (limit ?? Number.POSITIVE_INFINITY) : 1
}

/** What is done in stages that are not named after a level. */
const PHASES: Readonly<Record<string, string>> = {
  reads: 'matching reads with writes',
  order: 'ordering',
  explain: 'explaining',
  certify: 'verifying',
}

/** What is done in a stage, in a word or two. */
export function phaseOf(stage: string): string {
  return PHASES[stage] ?? 'deciding'
}
