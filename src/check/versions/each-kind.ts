// Every kind of anomaly that a history shows at a strong level, so that none hides another: first
// what circles and single reads are to blame for, as the weak levels find it, then what is found
// without the transactions to blame, and last, where others are to blame too, what real time shows.
// Main function: findEachKind.

import { BudgetExceeded } from '../../base/errors.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import type { Blame } from '../evidence/findings.ts'
import { joinKinds } from '../examples.ts'

export interface Search {
  /** What single reads show by themselves. */
  readonly single: readonly Anomaly[]
  /** What was found without blaming anybody, the above included: told if there is no time. */
  readonly found: Anomaly[]
  readonly blame: () => Blame
  /** Whether nothing is left to be found without those who are to blame. */
  readonly isSettled: (blame: Blame) => boolean
  /** Finds conflicts without the transactions that are blamed, and adds those that it blames. */
  readonly conflicts: (blamed: Set<number>) => readonly Anomaly[]
  /** The same by real time; null if that does not count, or counted in `found`. */
  readonly inTime: ((blamed: Set<number>) => readonly Anomaly[]) | null
}

/** @param limit how many examples of each kind are listed */
export function findEachKind(search: Search, limit: number): Anomaly[] {
  const { single, found, isSettled, conflicts, inTime } = search
  try {
    const blame = search.blame()
    const { anomalies, blamed } = blame
    if (anomalies.length === 0 && inTime === null) return joinKinds(found, limit)
    const isOver = isSettled(blame)
    const others = isOver ? [] : conflicts(blamed)
    const late = isOver ? [] : (inTime?.(blamed) ?? [])
    // What there is one of was found already, and is told more plainly there: by what was missed.
    const plain = anomalies.map(
      (anomaly) =>
        found.find(({ name, count }) => name === anomaly.name && count + anomaly.count === 2) ??
        anomaly,
    )
    return joinKinds([...single, ...plain, ...others, ...late], limit)
  } catch (error) {
    if (error instanceof BudgetExceeded) return joinKinds(found, limit)
    throw error
  }
}
