// Decides a part of a history that shares no key with the rest: an order of its transactions whose
// versions have no cycle that the level forbids, or violations, each cut down to a few transactions
// and shown on these alone. Parts with many transactions, or many pairs of writers whose order is
// open, are not searched whole: cycles of what is known anyway are found, in the groups that can
// have any (cyclic-groups.ts); if there are none, an order that respects what is known is tried,
// then windows of it are searched, which can only refute. Main class: PartSearch.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { type History, NONE } from '../../history/history.ts'
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
import { findCyclicGroups } from './cyclic-groups.ts'
import { type CycleLevel, Dependencies, placesOfWrites } from './dependencies.ts'
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
/** Violations of one part that are searched for, each without the transactions of those before. */
const MOST_FOUND = 4
/** The same of those that are evident. */
export const MOST_EVIDENT = 100
/** Transactions of a group that are looked at together. */
const LARGE_GROUP = 1200
/** Failures, or decisions, after which a window is given up: an order of it would prove nothing. */
const PATIENCE_OF_WINDOW = 8

/** What else the checker knows of the history. */
export interface Surroundings {
  /** An order of the transactions that may be right. */
  readonly order: () => Int32Array
  /** An order that satisfies a stronger level, null if there is none. */
  readonly strongOrder: () => Int32Array | null
  /**
   * txn -> the component of what is known that it is in without those who are to blame, NONE if it
   * is alone; null if that is not at hand.
   */
  readonly components: (blamed: ReadonlySet<number>) => Int32Array | null
  /** What weaker levels find, for levels that imply them. */
  readonly blame?: () => Blame
  /** Whether what is left without anybody who is to blame is known to satisfy the level. */
  readonly isSettled: (blame: Blame | null) => boolean
}

/** Violations, or if there are none an order of the part. */
export interface PartFindings {
  readonly found: Anomaly[]
  readonly order: Int32Array | null
}

/** An order of transactions, why there is none, or null: neither was found. */
type Outcome = Int32Array | Argument | null
type Refute = (txns: Int32Array) => Outcome

/** What is true of a part at all levels. */
export class Part {
  private lazyAlong: Int32Array | null = null
  private lazyGroups: readonly Int32Array[] | null = null
  private place: Int32Array | null = null // txn -> where it stands in the order at hand, or NONE

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    readonly txns: Int32Array,
    private readonly components: Int32Array | null, // see findCyclicGroups
    private readonly around: Surroundings,
    private readonly deadline: Deadline,
  ) {}

  /** Its transactions in the order at hand. */
  alongOrder(): Int32Array {
    this.lazyAlong ??= this.only(this.around.order())
    return this.lazyAlong
  }

  only(order: Int32Array): Int32Array {
    const isOfPart = new Uint8Array(this.history.txnCount)
    for (const txn of this.txns) isOfPart[txn] = 1
    return order.filter((txn) => isOfPart[txn] === 1)
  }

  /** Transactions of the part and whom they read from, in the order at hand. */
  withSources(txns: Int32Array): Int32Array {
    const { txnOpStart, txnCount } = this.history
    this.place ??= positionsOf(this.alongOrder(), txnCount)
    const { place } = this
    const all = new Set(txns)
    for (const txn of txns) {
      for (let op = txnOpStart[txn]!; op < txnOpStart[txn + 1]!; op++) {
        const source = this.reads.opSource[op]!
        if (source >= 0 && place[source] !== NONE) all.add(source)
      }
    }
    return Int32Array.from(all).sort((a, b) => place[a]! - place[b]!)
  }

  cyclicGroups(): readonly Int32Array[] {
    const { history, reads, deadline } = this
    const txns = this.alongOrder()
    this.lazyGroups ??= findCyclicGroups(history, reads, txns, deadline, this.components)
    return this.lazyGroups
  }
}

export class PartSearch {
  private readonly places: Int32Array

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly level: CycleLevel,
    private readonly around: Surroundings,
    private readonly deadline: Deadline,
  ) {
    this.places = placesOfWrites(history, reads)
  }

  search(part: Part): PartFindings {
    const { txns } = part
    if (txns.length <= MOST_TOGETHER && this.isSearchable(this.build(txns))) {
      return this.findAll(txns, (left) => this.refute(left))
    }
    const near = this.searchGroups(part)
    if (near.length > 0) return { found: near, order: null }
    const along = part.alongOrder()
    const evident = this.findAll(along, this.refuteEvident)
    if (evident.found.length > 0 || evident.order !== null) return evident
    // Each is asked once: it takes longest to see that there is nothing more.
    const refute = (left: Int32Array) => this.refute(left, PATIENCE_OF_WINDOW)
    const found = this.searchWindows(windowsOf(along, WINDOW), MOST_FOUND, refute, 1)
    if (found.length > 0) return { found, order: null }
    const strong = this.around.strongOrder()
    if (strong !== null) return { found, order: part.only(strong) }
    const size = `${txns.length} transactions share keys, and ${MOST_TOGETHER} of them`
    throw new BudgetExceeded(
      `no order of versions was found: ${size}, with ${MOST_PAIRS} pairs of writers, are searched together`,
    )
  }

  /** Violations one after the other, each among those whom no other involves. */
  private findAll(txns: Int32Array, refute: Refute, most = MOST_FOUND): PartFindings {
    const found: Anomaly[] = []
    let order: Int32Array | null = null
    let left = txns
    addFound(found, () => {
      while (found.length < most) {
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

  /** Evident violations, group by group, of whoever can be on a cycle and whom they read from. */
  searchGroups(part: Part): Anomaly[] {
    const windows: Int32Array[] = []
    for (const group of part.cyclicGroups()) {
      for (const window of windowsOf(group, LARGE_GROUP)) windows.push(part.withSources(window))
    }
    return this.searchWindows(windows, MOST_EVIDENT, this.refuteEvident)
  }

  /** Looks for violations among transactions that stand close together. */
  private searchWindows(
    windows: Iterable<Int32Array>,
    most: number,
    refute: Refute,
    mostOfEach = most,
  ): Anomaly[] {
    const found: Anomaly[] = []
    const involved = new Set<number>()
    addFound(found, () => {
      for (const window of windows) {
        const left = window.filter((txn) => !involved.has(txn))
        const mostHere = Math.min(mostOfEach, most - found.length)
        for (const anomaly of this.findAll(left, refute, mostHere).found) {
          found.push(anomaly)
          for (const txn of anomaly.txns) involved.add(txn)
        }
        if (found.length >= most) break
      }
      return []
    })
    return found
  }

  private build(txns: Int32Array): Dependencies {
    const { history, reads, level, places, deadline } = this
    return new Dependencies(history, reads, level, txns.toSorted(), places, deadline)
  }

  private isSearchable({ txnCount, openCount }: Dependencies): boolean {
    return txnCount <= MOST_TOGETHER && openCount <= MOST_PAIRS
  }

  /** Whether some order of versions will do, by search. */
  private refute(txns: Int32Array, patience = Number.POSITIVE_INFINITY): Outcome {
    const graph = this.build(txns)
    if (!this.isSearchable(graph)) return null
    graph.openPairs()
    const result = searchVersions(graph, priorityOf(graph, txns), this.deadline, patience)
    if (result === null) return null
    return result.found ? result.order.map((local) => graph.txns[local]!) : result
  }

  /** Whether what is known has a cycle; else whether an order that respects that will do. */
  private readonly refuteEvident = (txns: Int32Array): Outcome => {
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

function positionsOf(order: Int32Array, txnCount: number): Int32Array {
  const place = new Int32Array(txnCount).fill(NONE)
  for (const [i, txn] of order.entries()) place[txn] = i
  return place
}

/** Those that stand close together, if they are more than that many; each is in two windows. */
function* windowsOf(order: Int32Array, size: number): Iterable<Int32Array> {
  if (order.length <= size) yield order
  else
    for (let from = 0; from < order.length; from += size / 2) yield order.slice(from, from + size)
}

/** node -> where its transaction stands among these. */
function priorityOf({ txnAt, txns: sorted }: Dependencies, txns: Int32Array): number[] {
  const place = new Map(Array.from(txns, (txn, i) => [txn, i]))
  return txnAt.map((local) => place.get(sorted[local]!)!)
}
