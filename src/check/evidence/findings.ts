// What a decider finds at a level.

import type { Anomaly, Proof, Staleness } from '../../verdict/verdict.ts'
import type { BaseOrder } from '../order/stale-reads.ts'

export interface Findings {
  anomalies: Anomaly[]
  /** The proof, if nothing was found. */
  proof: Proof | null
}

/** Findings, and the algorithm that came to them. */
export interface NamedFindings extends Findings {
  algorithm: string
  /** Satisfied, at stale. */
  staleness?: Staleness
}

/** Anomalies, and the transactions without which there are none of them. */
export interface Blame {
  readonly anomalies: readonly Anomaly[]
  readonly blamed: Set<number>
  /** An order of whoever is not on a circle of causes. */
  readonly rest: BaseOrder
}
