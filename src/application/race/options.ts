// What may be asked of a race, and what is said of arguments that make no sense.
// Main functions: expectRaceOptions, expectActors.

import { UsageError } from '../../base/errors.ts'
import { hintFor } from '../../base/slips.ts'
import type { LevelWord } from '../../levels/words.ts'
import { type Actor, isInRace } from './play.ts'

/** Who takes part: a name for each, and what it does. */
export type Actors = Readonly<Record<string, Actor>>

/**
 * How a race is run, and what each of its schedules must satisfy.
 *
 * @example
 * await race(pool, actors, { before: reset, level: 'si', maxSchedules: 50 })
 */
export interface RaceOptions {
  /** Brings the database into the state in which every schedule begins. */
  readonly before?: () => unknown
  /** What every schedule must satisfy; `ser` unless told. */
  readonly level?: LevelWord
  /** At most so many schedules; 200 unless told. */
  readonly maxSchedules?: number
  /** No new schedule after so many milliseconds; 60,000 unless told. */
  readonly budgetMs?: number
  /** A run in which nothing happens for so long is given up; 10,000 unless told. */
  readonly patienceMs?: number
  /** Run this schedule only: who is let go, one statement after the other. */
  readonly schedule?: readonly string[]
  /** `true`: go on after the first violation. */
  readonly all?: boolean
  /** `false`: try no cures for a violation. */
  readonly cures?: boolean
  /** `ignore`: what a transaction has read that its actor itself rolled back is not judged. */
  readonly abortedReads?: 'judge' | 'ignore'
}

export type FilledOptions = Required<Omit<RaceOptions, 'before' | 'schedule'>> &
  Pick<RaceOptions, 'before' | 'schedule'>

const USUAL: FilledOptions = {
  level: 'ser',
  maxSchedules: 200,
  budgetMs: 60_000,
  patienceMs: 10_000,
  all: false,
  cures: true,
  abortedReads: 'judge',
}

const KINDS: Record<keyof RaceOptions, [is: (value: unknown) => boolean, wanted: string]> = {
  before: [(value) => typeof value === 'function', 'a function'],
  level: [(value) => typeof value === 'string', 'a level'],
  maxSchedules: [(value) => Number.isInteger(value) && Number(value) > 0, 'a whole number above 0'],
  budgetMs: [(value) => typeof value === 'number' && value > 0, 'a number above 0'],
  patienceMs: [(value) => typeof value === 'number' && value > 0, 'a number above 0'],
  schedule: [(value) => Array.isArray(value), 'a list of names of actors'],
  all: [(value) => typeof value === 'boolean', 'true or false'],
  cures: [(value) => typeof value === 'boolean', 'true or false'],
  abortedReads: [(value) => value === 'judge' || value === 'ignore', "'judge' or 'ignore'"],
}

/** Throws UsageError. */
export function expectRaceOptions(
  options: RaceOptions,
  actors: ReadonlyMap<string, Actor>,
): FilledOptions {
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(KINDS, name)) {
      throw new UsageError(`race: unknown option "${name}"`, hintFor(name, Object.keys(KINDS)))
    }
    const [is, wanted] = KINDS[name as keyof RaceOptions]
    if (value !== undefined && !is(value)) {
      throw new UsageError(`race: ${name}: ${wanted} was expected`)
    }
  }
  for (const name of options.schedule ?? []) {
    if (actors.has(name)) continue
    throw new UsageError(
      `race: schedule: there is no actor "${name}"`,
      hintFor(name, [...actors.keys()]),
    )
  }
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  )
  return { ...USUAL, ...given }
}

/** Throws UsageError. */
export function expectActors(actors: Actors): Map<string, Actor> {
  if (isInRace()) {
    throw new UsageError(
      'race: an actor cannot start a race of its own',
      'wait for one race, then start the next',
    )
  }
  const entries = Object.entries(actors ?? {})
  if (entries.length < 2) {
    throw new UsageError(
      'race: at least two actors are needed',
      'race(pool, { ann: () => …, bob: () => … })',
    )
  }
  for (const [name, actor] of entries) {
    if (typeof actor === 'function') continue
    throw new UsageError(
      `race: actor "${name}" is not a function`,
      `write ${name}: () => …, so that it can be run again and again`,
    )
  }
  return new Map(entries)
}
