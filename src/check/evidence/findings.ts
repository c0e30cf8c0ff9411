// What a decider finds at a level.

import type { Anomaly, Proof, Staleness } from '../../verdict/verdict.ts'

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

/** What order/ knows of an order of transactions, as far as others ask. */
export interface KnownOrder {
  readonly order: Int32Array // position -> txn
  readonly component: Int32Array | null // txn -> component; null if each is a single transaction
  readonly stale: { readonly read: Int32Array } // reads of versions that are not the latest
}

/** Anomalies, and the transactions without which there are none of them. */
export interface Blame {
  readonly anomalies: readonly Anomaly[]
  readonly blamed: Set<number>
  /** An order of whoever is not on a circle of causes. */
  readonly rest: KnownOrder
}
