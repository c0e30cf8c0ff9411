// What a plan asks for that cannot be had, said before anything runs: targets that do not exist or
// do not offer a level, workloads that cannot be judged at one, faults that cannot happen. Main
// function: expectPossiblePlan.

import { InputError, type Place } from '../base/errors.ts'
import { expectFaults, expectLevels, levelsAsked, parametersOf } from '../pipeline/run-work.ts'
import { expectPossible } from '../record/target.ts'
import { parseTarget } from '../record/targets.ts'
import { optionsOf, variableOf } from './job.ts'
import { combinationsOf, type NightPlan } from './plan.ts'
import { atPlace } from './read-plan.ts'

const HOLDS_SECRET = /:\/\/[^/@]*:[^/@]+@|\b(password|passwd|pwd|token|secret)=/i

/** Throws InputError with the place of what is impossible. */
export function expectPossiblePlan(plan: NightPlan): void {
  for (const { value, place } of plan.targets) expectTarget(value, place)
  for (const { job, places } of combinationsOf(plan)) {
    // What stands in a variable is known to workers only: they say it.
    if (variableOf(job.target) !== null) continue
    const setting = { directory: '', budgetMs: plan.budgetMs, version: '', environment: {} }
    const options = atPlace(places.dbLevel, () =>
      optionsOf({ ...job, seed: 1, repeat: 1, levels: null }, setting),
    )
    atPlace(places.workload, () => parametersOf(options))
    const judged = atPlace(places.levels, () => optionsOf({ ...job, seed: 1, repeat: 1 }, setting))
    atPlace(places.levels, () => expectLevels(judged))
    atPlace(places.faults, () => {
      expectFaults(options)
      expectPossible(options.target, { faults: options.faults, levels: [] })
    })
    atPlace(places.dbLevel, () =>
      expectPossible(options.target, { faults: options.faults, levels: levelsAsked(options) }),
    )
  }
}

function expectTarget(text: string, place: Place): void {
  if (HOLDS_SECRET.test(text)) {
    throw new InputError(
      'secret-in-plan',
      'a plan is stored and shown, and must not hold a password',
      place,
      'write env:NAME, and set NAME to the address where the workers run',
    )
  }
  if (text.startsWith('env:')) {
    if (variableOf(text) !== null) return
    throw new InputError('bad-plan', 'env: names no variable', place, 'e.g. env:STAGING_URL')
  }
  atPlace(place, () => parseTarget(text))
}
