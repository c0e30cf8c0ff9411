// What scripted interleavings showed of a database, level by level, as data: what was asked for,
// what happened, what one gets, and how that compares with what is promised. Main functions: weigh,
// isBroken, isTakenBack.

import { implies, type LevelId, OWN_LEVELS } from '../levels/levels.ts'

/** A step as it went. */
export interface PlayedStep {
  /** Number of the transaction, from 1. */
  readonly txn: number
  readonly text: string
  /** What came back, in a few words. */
  readonly answer: string
  /** Whether it had to wait for another transaction. */
  readonly waited: boolean
}

/** What became of a schedule. */
export interface Outcome {
  readonly schedule: { readonly id: string; readonly name: string; readonly about: string }
  /** Why it makes no sense there; null if it was played. */
  readonly notPlayed: string | null
  readonly steps: readonly PlayedStep[]
  /** Transaction -> how it ended. */
  readonly ends: readonly string[]
  /** The strongest level that what was seen satisfies; null if none. */
  readonly strongest: LevelId | null
  /** The weakest that it violates; null if none. */
  readonly violated: LevelId | null
  /** The names of what violates that one. */
  readonly anomalies: readonly string[]
  /** What was recorded, in the native format. */
  readonly history: string
  /** What the documentation says about it, where that takes something back of the level. */
  readonly departure: { readonly words: string; readonly source: string } | null
}

export interface LevelOutcome {
  /** The database's own name of what was asked for. */
  readonly name: string
  /** What one is promised by that. */
  readonly promised: LevelId
  /**
   * The strongest level that no schedule broke, but for what the documentation takes back; null if
   * not even the weakest was kept.
   */
  readonly got: LevelId | null
  /** Whether anything went wrong that neither the level nor the documentation allows. */
  readonly isWeaker: boolean
  readonly outcomes: readonly Outcome[]
}

export interface Conformance {
  readonly database: string
  readonly place: string
  /** Nodes that transactions were played on, each on one of its own as far as there were enough. */
  readonly nodeCount: number
  /** Further nodes, which only answer reads: nothing was played there. */
  readonly replicaCount: number
  readonly levels: readonly LevelOutcome[]
}

/** What a level is worth, all schedules together. */
export function weigh(name: string, promised: LevelId, outcomes: readonly Outcome[]): LevelOutcome {
  const counted = outcomes.filter((each) => each.notPlayed === null && !isTakenBack(each, promised))
  const keeps = (level: LevelId) =>
    counted.every(({ strongest }) => strongest !== null && implies(strongest, level))
  const got = OWN_LEVELS.findLast(keeps) ?? null
  const isWeaker = outcomes.some((outcome) => isBroken(outcome, promised))
  return { name, promised, got, isWeaker, outcomes }
}

/** Whether a schedule breaks what was promised, and the documentation does not say so. */
export function isBroken(outcome: Outcome, promised: LevelId): boolean {
  return breaks(outcome, promised) && outcome.departure === null
}

/** Whether a schedule breaks the level, and the documentation says so. */
export function isTakenBack(outcome: Outcome, promised: LevelId): boolean {
  return breaks(outcome, promised) && outcome.departure !== null
}

function breaks({ violated }: Outcome, promised: LevelId): boolean {
  return violated !== null && implies(promised, violated)
}
