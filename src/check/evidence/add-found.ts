// Keeps what was found when the search for more runs out of budget: one anomaly is enough to show
// that a level is violated. Main function: addFound.

import { BudgetExceeded } from '../../base/errors.ts'
import type { Anomaly } from '../../verdict/verdict.ts'

/** Adds what a search finds; throws BudgetExceeded only if nothing was found before. */
export function addFound(anomalies: Anomaly[], search: () => readonly Anomaly[]): void {
  try {
    for (const anomaly of search()) anomalies.push(anomaly)
  } catch (error) {
    if (!(error instanceof BudgetExceeded) || anomalies.length === 0) throw error
  }
}
