// Decides a part of a history that shares no key with the rest: an order of its transactions whose
// versions have no cycle that the level forbids, or violations, each cut down to a few transactions
// and shown on these alone. Parts with many transactions, or many pairs of writers whose order is
// open, are not searched whole: cycles of what is known anyway are found, an order that respects
// that is tried, then windows of it are searched, which can only refute. Main class: PartSearch.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import type { History } from '../../history/history.ts'
import { nameEvidence } from '../../verdict/anomaly-rules.ts'
import { certifyCycle } from '../../verdict/certify-cycles.ts'
import { splitTxns } from '../../verdict/starting-state.ts'
import { type Anomaly, findTxns } from '../../verdict/verdict.ts'
import { addFound } from '../evidence/add-found.ts'
import type { Blame } from '../evidence/findings.ts'
import { type Argument, foldCases } from '../evidence/fold.ts'
import { minimise } from '../evidence/minimise.ts'
import { strengthen } from '../evidence/strengthen.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { type CycleLevel, Dependencies } from './dependencies.ts'
import { findEvidentCycle } from './evident-cycles.ts'
import { Reasons } from './reasons.ts'
import { searchVersions } from './version-search.ts'

/** Transactions that are searched together. */
const MOST_TOGETHER = 1500
/** Pairs of writers of a key whose order is open, in what is searched together. */
const MOST_PAIRS = 200_000
/** Transactions of a window. */
const WINDOW = 600
/** Cores up to this size are cut down transaction by transaction. */
const SMALL_CORE = 60
/** Violations of one part that are looked for, each without the transactions of those before. */
export const MOST_FOUND = 4
/** Failures after which a window is given up, and with it a part that is too large anyway. */
const CASES_OF_WINDOW = 8

/** What else the checker knows of the history. */
export interface Surroundings {
  /** An order of the transactions that may be right. */
  readonly order: () => Int32Array
  /** An order that satisfies a stronger level, null if there is none. */
  readonly strongOrder: () => Int32Array | null
  /** What weaker levels find, for levels that imply them. */
  readonly blame?: () => Blame
}

/** Violations, or if there are none an order of the part. */
export interface PartFindings {
  readonly found: Anomaly[]
  readonly order: Int32Array | null
}

/** An order of transactions, why there is none, or null: neither was found. */
type Outcome = Int32Array | Argument | null

export class PartSearch {
  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly level: CycleLevel,
    private readonly around: Surroundings,
    private readonly deadline: Deadline,
  ) {}

  search(txns: Int32Array): PartFindings {
    if (this.isSearchable(this.build(txns))) return this.findAll(txns, (left) => this.refute(left))
    const evident = this.findAll(this.alongOrder(txns), (left) => this.refuteEvident(left))
    if (evident.found.length > 0 || evident.order !== null) return evident
    const found = this.searchWindows(txns)
    if (found.length > 0) return { found, order: null }
    const strong = this.around.strongOrder()
    if (strong !== null) return { found, order: this.only(strong, txns) }
    const size = `${txns.length} transactions share keys, and ${MOST_TOGETHER} of them`
    throw new BudgetExceeded(
      `no order of versions was found: ${size}, with ${MOST_PAIRS} pairs of writers, are searched together`,
    )
  }

  /** Violations one after the other, each among those whom no other involves. */
  private findAll(txns: Int32Array, refute: (txns: Int32Array) => Outcome): PartFindings {
    const found: Anomaly[] = []
    let order: Int32Array | null = null
    let left = txns
    addFound(found, () => {
      while (found.length < MOST_FOUND) {
        const outcome = refute(left)
        if (outcome === null) break
        if (!('edges' in outcome)) {
          if (found.length === 0) order = outcome
          break
        }
        const anomaly = this.describe(outcome)
        found.push(anomaly)
        const involved = new Set(anomaly.txns)
        left = left.filter((txn) => !involved.has(txn))
      }
      return []
    })
    return { found, order }
  }

  /** Looks for violations among transactions that stand close together. */
  private searchWindows(txns: Int32Array): Anomaly[] {
    const order = this.alongOrder(txns)
    const found: Anomaly[] = []
    addFound(found, () => {
      for (let from = 0; from < order.length && found.length < MOST_FOUND; from += WINDOW / 2) {
        const window = order.slice(from, from + WINDOW)
        const inside = this.findAll(window, (left) => this.refute(left, CASES_OF_WINDOW))
        for (const anomaly of inside.found) found.push(anomaly)
      }
      return []
    })
    return found
  }

  private alongOrder(txns: Int32Array): Int32Array {
    return this.only(this.around.order(), txns)
  }

  private only(order: Int32Array, txns: Int32Array): Int32Array {
    const isOfPart = new Uint8Array(this.history.txnCount)
    for (const txn of txns) isOfPart[txn] = 1
    return order.filter((txn) => isOfPart[txn] === 1)
  }

  private build(txns: Int32Array): Dependencies {
    return new Dependencies(this.history, this.reads, this.level, txns.toSorted())
  }

  private isSearchable({ txnCount, openCount }: Dependencies): boolean {
    return txnCount <= MOST_TOGETHER && openCount <= MOST_PAIRS
  }

  /** Whether some order of versions will do, by search. */
  private refute(txns: Int32Array, mostCases = Number.POSITIVE_INFINITY): Outcome {
    const graph = this.build(txns)
    if (!this.isSearchable(graph)) return null
    graph.openPairs()
    const result = searchVersions(graph, priorityOf(graph, txns), this.deadline, mostCases)
    if (result === null) return null
    return result.found ? result.order.map((local) => graph.txns[local]!) : result
  }

  /** Whether what is known has a cycle; else whether an order that respects that will do. */
  private refuteEvident(txns: Int32Array): Outcome {
    const { deadline } = this
    const graph = this.build(txns)
    const known = findEvidentCycle(graph, priorityOf(graph, txns), deadline)
    if ('kind' in known) {
      const reasons = new Reasons(graph, new Int8Array(0), [])
      return { edges: reasons.explain(known, new Set()).cycle, cases: [] }
    }
    const place = new Int32Array(graph.nodeCount)
    for (const [i, node] of known.entries()) place[node] = i
    graph.orderVersions(place)
    const order = findEvidentCycle(graph, place, deadline)
    if ('kind' in order) return null
    return order.filter((node) => node < graph.txnCount).map((local) => graph.txns[local]!)
  }

  private describe(found: Argument): Anomaly {
    const { history } = this
    const { edges, cases } = this.withStrongest(this.fold(this.shrink(found)))
    const name = nameEvidence(history, edges, cases)
    return { name, count: 1, ...splitTxns(history, edges, cases), ops: [], edges, cases }
  }

  /** The same argument among as few transactions as may be. */
  private shrink(found: Argument): Argument {
    let best = found
    const tryKeeping = (txns: readonly number[]) => {
      const argument = this.refute(Int32Array.from(txns))
      if (argument === null || !('edges' in argument)) return null
      best = argument
      return findTxns(argument.edges, argument.cases)
    }
    const all = findTxns(found.edges, found.cases)
    const named = tryKeeping(all) ?? all
    if (named.length <= SMALL_CORE) minimise(named, tryKeeping)
    return best
  }

  /** A cycle with the strongest edges known, as far as the level lets them follow. */
  private withStrongest(argument: Argument): Argument {
    if (argument.cases.length > 0) return argument
    const strongest = strengthen(this.history, this.reads, () => true, argument)
    const fits = certifyCycle(this.history, this.level, strongest.edges).length === 0
    return fits ? strongest : argument
  }

  /** Fewer cases where what is left still fits the level. */
  private fold(argument: Argument): Argument {
    if (argument.cases.length === 0) return argument
    const folded = foldCases(argument.cases, {
      startsAtCommit: () => true,
      arrivesAtSnapshot: () => true,
    })
    if (folded.edges.length === 0) return argument
    const fits = certifyCycle(this.history, this.level, folded.edges).length === 0
    return fits ? folded : argument
  }
}

/** node -> where its transaction stands among these. */
function priorityOf({ txnAt, txns: sorted }: Dependencies, txns: Int32Array): number[] {
  const place = new Map(Array.from(txns, (txn, i) => [txn, i]))
  return txnAt.map((local) => place.get(sorted[local]!)!)
}
