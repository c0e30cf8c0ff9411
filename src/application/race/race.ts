// `isobar/race`: runs pieces of an application against each other on a real database, in every
// order of their statements that matters, and has each run judged (course.ts). Main function: race.

import { nowMs } from '../../base/deadline.ts'
import { UsageError } from '../../base/errors.ts'
import { expectLevel } from '../../library/arguments.ts'
import { Course } from './course.ts'
import { tryCures } from './cures.ts'
import { Observer } from './observer.ts'
import { type Actors, expectActors, expectRaceOptions, type RaceOptions } from './options.ts'
import { expectPool } from './pool.ts'
import type { RaceResult } from './race-result.ts'

export type { SaveOptions } from '../../formats/save.ts'
export type { ClauseRef, RowRef, Step, StepKind } from '../observe/hooks.ts'
export type { Actors, RaceOptions } from './options.ts'
export type { Actor, Turn } from './play.ts'
export { RaceResult } from './race-result.ts'
export type { Coverage, Cure, RaceRun } from './race-run.ts'

/** A cure is tried by at most so many. */
const CURE_SCHEDULES = 60

/** Pools of races that are going on. */
const taken = new WeakSet<object>()

/**
 * Runs actors against each other in every order of their statements that matters.
 *
 * @example
 * const result = await race(pool, { ann: () => book(4), bob: () => book(4) }, { before: reset })
 * await expect(result).toBeIsolated('ser')
 *
 * @param pool the pool that the application itself uses: it is watched as long as the race takes
 * @throws UsageError, DatabaseError
 */
export async function race(
  pool: object,
  actors: Actors,
  options: RaceOptions = {},
): Promise<RaceResult> {
  const named = expectActors(actors)
  const filled = expectRaceOptions(options, named)
  expectLevel(filled.level, 'race: level')
  const own = expectPool(pool, named.size)
  if (taken.has(own)) {
    throw new UsageError('race: there is a race on this pool already', 'wait for it to end')
  }
  taken.add(own)
  try {
    const observer = await Observer.open(own)
    try {
      const endMs = nowMs() + filled.budgetMs
      const course = new Course(own, named, filled, observer)
      if (filled.schedule) return await course.runOne(filled.schedule)
      const result = await course.runAll()
      if (result.violation === null || !filled.cures) return result
      const maxSchedules = Math.min(filled.maxSchedules, CURE_SCHEDULES)
      const cures = await tryCures(result.violation, observer, async (treatment) => {
        const budgetMs = endMs - nowMs()
        if (budgetMs <= 0) return null
        const abortedReads = treatment.dropsAttempts ? 'ignore' : filled.abortedReads
        const options = { ...filled, all: false, maxSchedules, budgetMs, abortedReads }
        return new Course(own, named, options, observer, treatment).runAll()
      })
      return await result.withCures(cures)
    } finally {
      await observer.close()
    }
  } finally {
    taken.delete(own)
  }
}
