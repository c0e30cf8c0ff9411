// What would cure a violation: changes that are usual for it are tried on the same actors, by a
// race of their own each, and told with what they cost. Main function: tryCures.

import { UsageError } from '../../base/errors.ts'
import { compareAndSet, comparisonsFor } from './compare-and-set.ts'
import { constrained, constraintsFor } from './constraint.ts'
import type { Observer } from './observer.ts'
import type { RaceResult } from './race-result.ts'
import type { Cure, RaceRun } from './race-run.ts'
import { forUpdate, serializable, type Treatment } from './treatment.ts'

const MAX_SELECTS = 4

/** @param tryOut runs a race with a change; null if there is no time left for it */
export async function tryCures(
  violation: RaceRun,
  observer: Observer,
  tryOut: (treatment: Treatment) => Promise<RaceResult | null>,
): Promise<Cure[]> {
  const selects = new Set(
    violation.turns
      .filter(({ step }) => step.kind === 'read' && step.inTransaction && !step.locks)
      .map(({ step }) => step.text),
  )
  const constraints = await Promise.all(
    constraintsFor(violation).map((constraint) => constrained(observer, constraint)),
  )
  const treatments = [
    ...comparisonsFor(violation).map(compareAndSet),
    ...[...selects].slice(0, MAX_SELECTS).map(forUpdate),
    ...constraints.filter((constraint) => constraint !== null),
    serializable(),
  ]
  const cures: Cure[] = []
  for (const treatment of treatments) {
    const result = await attempt(treatment, tryOut)
    if (result === null) continue
    const { runs, coverage } = result
    const waits = runs.flatMap(({ turns }) => turns.filter(({ waited }) => waited)).length
    cures.push({
      name: treatment.name,
      isConfirmed: result.verdict === 'satisfied',
      coverage,
      retriesPerRun: treatment.retries() / Math.max(1, runs.length),
      waitsPerRun: waits / Math.max(1, runs.length),
      refusalsPerRun: treatment.refusals() / Math.max(1, runs.length),
    })
  }
  return cures
}

/** A change that makes no sense, such as a lock on a sum, makes the actor fail alone. */
async function attempt(
  treatment: Treatment,
  tryOut: (treatment: Treatment) => Promise<RaceResult | null>,
): Promise<RaceResult | null> {
  try {
    return await tryOut(treatment)
  } catch (error) {
    if (error instanceof UsageError) return null
    throw error
  }
}
