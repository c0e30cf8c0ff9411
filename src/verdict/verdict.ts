// What a check returns: evidence first as data. Transactions, operations and keys are the dense
// numbers of the history; report/ turns them into words, certify.ts verifies them on its own.

import { INITIAL } from '../history/history.ts'
import type { Source } from '../history/writers.ts'
import type { AnomalyName } from '../levels/anomalies.ts'
import type { LevelId } from '../levels/levels.ts'

/** Stands for the initial transaction wherever a transaction number is expected. */
export const INITIAL_TXN = INITIAL

/**
 * SO session order, WR reads-from, WW version order, RW anti-dependency, RT real time,
 * CO a commit order that a level's axiom forces.
 */
export type EdgeKind = 'SO' | 'WR' | 'WW' | 'RW' | 'RT' | 'CO'

/**
 * One step of an argument: `from` comes before `to`.
 *
 * - SO, RT: no operations, no premises.
 * - WR: ops = [write, read] (only [read] if the initial transaction wrote it).
 * - CO: ops = [write of from, read r, write of to (unless initial)]. The transaction of r read
 *   `key` from `to`; premises[0] is that WR edge, the rest lead from `from` to the reader of r.
 * - WW: ops = [write of from (unless initial), write of to]. No premises if `to` itself read the
 *   version of `from` before replacing it (ops then ends with that read), or if the order was
 *   observed in lists (ops then ends with the list read) or given by versions; else the premises
 *   are a path from `from` to `to`, or, with `refutes`, a cycle that the opposite order would
 *   close. From the initial transaction no reason is needed.
 * - RW: ops = [read, write of to]; premises = [WR into the reader, WW from its writer to `to`].
 *
 * Which chains of edges contradict a level is said in certify-shape.ts.
 */
export interface Edge {
  from: number
  to: number
  kind: EdgeKind
  key: number
  ops: number[]
  premises: Edge[]
  /** WW only: the premises are a cycle under the assumption that `to` precedes `from`. */
  refutes?: boolean
  /** Holds only inside the case that assumes it. */
  assumed?: boolean
  /**
   * SQL, WR only: the statement that passed the row `key` over. It saw the version of `from`, which
   * does not satisfy its predicate: because the case assumes so, or because there is no other.
   * ops = [write], empty if the initial transaction wrote it.
   */
  event?: number
}

/**
 * One step of an argument by cases: the assumptions cannot all hold. With a cycle, because they
 * close it; without one, because unit propagation through the steps before it says so. The steps of
 * an argument leave no possibility open: propagation through all of them ends in a contradiction.
 * What is assumed, each marked `assumed`, is
 *
 * - WW: the order of two transactions that write a common key, with its two writes;
 * - WR, in SQL histories: whose version of a row a statement saw when it passed the row over; if
 *   either is of an indeterminate transaction, that it took effect.
 *
 * In the cycle, edges that rest on an assumption are marked `assumed` as well: any WW edge with the
 * same ends, the same WR edge.
 */
export interface Case {
  assumptions: Edge[]
  cycle: Edge[]
}

/** What violates a level, with its evidence: edges of a cycle, or reads that nothing explains. */
export interface Anomaly {
  name: AnomalyName
  /** How many reads (or cycles, for names that are not about reads) show this anomaly. */
  count: number
  /** Transactions of the example, without the initial one; the reader or victim first. */
  txns: number[]
  /**
   * Further transactions that the evidence names: they only left the state from which those of the
   * example start (starting-state.ts). None at weak levels.
   */
  earlier: number[]
  /** For anomalies of single reads: the read, then the write it saw or should have seen. */
  ops: number[]
  /** The cycle; empty if the operations alone prove the point, or if `cases` does. */
  edges: Edge[]
  cases: Case[]
  /**
   * Where reads have several possible writers: it shows if these reads saw these writers, whomever
   * the others saw. The anomalies of a level then leave no choice of writers open.
   */
  given?: readonly Source[]
  /** SQL: the statement and the row it passed over, if that alone proves the point. */
  absence?: { event: number; key: number }
}

/** Every edge of an argument, down to its last reason, here or in a verdict file. */
export function findEdges<E extends { readonly premises: readonly E[] }>(
  edges: readonly E[],
  cases: readonly { readonly assumptions: readonly E[]; readonly cycle: readonly E[] }[],
): Set<E> {
  const found = new Set(edges)
  for (const { assumptions, cycle } of cases) {
    for (const edge of assumptions) found.add(edge)
    for (const edge of cycle) found.add(edge)
  }
  // A set that grows while it is gone through: premises join at the end.
  for (const edge of found) for (const premise of edge.premises) found.add(premise)
  return found
}

/** Every transaction that the edges and cases and their premises name, but for the initial one. */
export function findTxns(edges: readonly Edge[], cases: readonly Case[]): number[] {
  const txns = new Set<number>()
  for (const { from, to } of findEdges(edges, cases)) {
    txns.add(from)
    txns.add(to)
  }
  txns.delete(INITIAL_TXN)
  return [...txns].sort((a, b) => a - b)
}

/**
 * What tells two stories apart, but for their names: what is argued, not why each step holds, nor
 * at which of its steps a cycle is begun.
 */
export function storyOf({ txns, ops, edges, cases, absence, given }: Anomaly): string {
  const brief = (steps: readonly Edge[]) => steps.map((e) => [e.kind, e.from, e.to, e.key])
  if (edges.length > 0 && cases.length === 0) {
    const steps = brief(edges).map((step) => JSON.stringify(step))
    const first = steps.indexOf(steps.toSorted()[0]!)
    return JSON.stringify([...steps.slice(first), ...steps.slice(0, first), absence, given])
  }
  const told = cases.map(({ assumptions, cycle }) => [brief(assumptions), brief(cycle)])
  return JSON.stringify([txns, ops, brief(edges), told, absence, given])
}

/** The edges of an argument that rest on the order of two transactions in a session. */
export function findSessionEdges({ edges, cases }: Anomaly): Edge[] {
  return [...findEdges(edges, cases)].filter(
    ({ kind, from }) => kind === 'SO' && from !== INITIAL_TXN,
  )
}

/** Where the first counterexample begins: its transaction that the input names first, from 1. */
export function positionOf(result: LevelResult): number | null {
  let first = Number.POSITIVE_INFINITY
  for (const { txns } of result.anomalies) for (const txn of txns) first = Math.min(first, txn)
  return first === Number.POSITIVE_INFINITY ? null : first + 1
}

/** What is found of a level; `unknown` if it was not decided, which never counts as a pass. */
export type Outcome = 'satisfied' | 'violated' | 'unknown'

/**
 * How a satisfied level is proved. A commit order proves rc, ra, cc by their axioms and stronger
 * levels if it is even a serial order (in real time for sser, and key by key for lin); snapshots
 * prove si and pc. A witness proves what SQL transactions promise, each at its own level: a commit
 * order, and a writer for every row that was passed over although it has a version to return.
 */
export type Proof =
  | { kind: 'none' } // nothing to order: read consistency and cut isolation
  | { kind: 'commit-order'; order: Int32Array } // transactions that count, first to last
  | { kind: 'snapshots'; events: Int32Array } // 2·txn its snapshot, 2·txn + 1 its commit
  | { kind: 'witness'; order: Int32Array; choices: readonly Choice[] } // SQL: see Choice

/** SQL: who wrote the version of a row that a statement passed over. */
export interface Choice {
  readonly event: number
  readonly key: number
  readonly txn: number // INITIAL_TXN for the initial transaction
}

/** How stale reads are: the least bounds that hold. */
export interface Staleness {
  /**
   * How long a version that some read missed had been there, in the history's unit if it has one.
   */
  readonly time: string
  /** How many versions a read missed at most; counters have none. */
  readonly versions?: number
}

/** What was verified of a verdict. */
export type CertificateKind = 'commit-order' | 'snapshots' | 'witness' | 'cycle' | 'reads' | 'cases'

/** The verdict on a level, by the indices of transactions, operations and keys. */
export interface LevelResult {
  level: LevelId
  /** False if the level was judged without session order; absent if with it. */
  sessionOrder?: false
  /** True if real time counted like session order; absent if not, or if it is part of the level. */
  realTime?: true
  /** At stale: what was asked for behind the colon, `5s` or `3`; absent if nothing was. */
  bound?: string
  /** SQL: present if the reads of rolled back transactions were not judged though there are any. */
  abortedReads?: 'ignore'
  verdict: Outcome
  /** Why the verdict is unknown. */
  reason: string | null
  /** The level whose verdict settled this one. */
  impliedBy: LevelId | null
  algorithm: string
  elapsedMs: number
  stages: Record<string, number>
  anomalies: Anomaly[]
  proof: Proof | null
  /** Satisfied, where reads have several possible writers: whom each of them saw. */
  sources?: readonly Source[]
  /** Satisfied, at stale. */
  staleness?: Staleness
  certificate: { kind: CertificateKind; verified: boolean } | null
}
