// What is asked of a workload, and what is found in it.

export const WORKLOAD_KINDS = ['counter', 'bank', 'monotonic'] as const
export type WorkloadKind = (typeof WORKLOAD_KINDS)[number]

export interface WorkloadOptions {
  /** By the names of operations unless told. */
  readonly kind?: WorkloadKind
  /** Banks: what all accounts hold together; what most reads show unless told. */
  readonly total?: bigint
  /** Banks: whether accounts may be overdrawn. */
  readonly negativeBalances?: boolean
}

/** Something that the invariant forbids. */
export interface WorkloadFinding {
  readonly name: string
  /** Line of the operation that shows it. */
  readonly line: number
  readonly says: string
}
