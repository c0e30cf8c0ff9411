// The verdicts of Adya's levels besides PL-2: does some order of the versions of every key leave
// no cycle that the level forbids (docs/levels.md)? An order of the transactions that is at hand
// is tried first; else each part that shares no key with the others is searched
// (version-search.ts). What is found is cut down to a few transactions and shown on these alone.
// Parts that are too large to be searched whole are searched window by window, which can only
// refute them. Main class: AdyaLevels.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import type { History } from '../../history/history.ts'
import type { AdyaLevel } from '../../levels/levels.ts'
import { nameEvidence } from '../../verdict/anomaly-rules.ts'
import { certifyCycle } from '../../verdict/certify-cycles.ts'
import { certifyCommitOrder } from '../../verdict/certify-order.ts'
import { LEVEL_RULES } from '../../verdict/level-rules.ts'
import { splitTxns } from '../../verdict/starting-state.ts'
import { type Anomaly, findTxns, type Proof } from '../../verdict/verdict.ts'
import { addFound } from '../evidence/add-found.ts'
import type { Findings } from '../evidence/findings.ts'
import { type Argument, foldCases } from '../evidence/fold.ts'
import { minimise } from '../evidence/minimise.ts'
import { joinKinds } from '../examples.ts'
import { findParts, mergeOrders, txnsOf } from '../general/parts.ts'
import { describeOffences, describeUnrepeatable } from '../reads/offences.ts'
import { OFFENCES, type ReadCheck } from '../reads/read-consistency.ts'
import { findUnrepeated, tellsUnrepeated } from '../reads/unrepeated.ts'
import { type CycleLevel, Dependencies } from './dependencies.ts'
import { findDirtyWrites } from './dirty-writes.ts'
import { searchVersions } from './version-search.ts'

/** Transactions that are searched together. */
const MOST_TOGETHER = 1500
/** Transactions of a window. */
const WINDOW = 600
/** Cores up to this size are cut down transaction by transaction. */
const SMALL_CORE = 60
/** Violations of one part that are looked for, each without the transactions of those before. */
const MOST_FOUND = 4
/** Failures after which a window is given up, and with it a part that is too large anyway. */
const CASES_OF_WINDOW = 8

const BROKEN: ReadonlySet<string> = new Set(['LostCommit', 'DuplicateRow', 'VanishedRow'])

/** What else the checker knows of the history. */
export interface Surroundings {
  /** An order of the transactions that may be right. */
  readonly order: () => Int32Array
  /** A serial order, null if there is none. */
  readonly serialOrder: () => Int32Array | null
}

export class AdyaLevels {
  private readonly isUnrepeated
  private readonly strictReads: boolean // whether no read contradicts its own transaction

  /**
   * @param history without session order
   * @param reads those of adya-reads.ts
   */
  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly recorded: ReadCheck,
    private readonly around: Surroundings,
    private readonly limit: number,
    private readonly deadline: Deadline,
  ) {
    this.isUnrepeated = findUnrepeated(history, recorded)
    this.strictReads = reads === recorded
  }

  check(level: Exclude<AdyaLevel, 'pl-2'>): Findings {
    if (level === 'pl-1') return this.checkDirtyWrites()
    const { history, reads, limit, deadline } = this
    const anomalies = describeOffences(history, reads, limit, deadline)
    const isTold = LEVEL_RULES[level].repeatable && this.strictReads
    if (isTold) anomalies.push(...describeUnrepeatable(history, reads, limit, deadline))
    if (anomalies.length === 0) {
      const order = this.findOrder(level)
      if (order !== null) return { anomalies, proof: { kind: 'commit-order', order } }
    }
    let proof: Proof | null = null
    addFound(anomalies, () => {
      const { found, orders } = this.searchParts(level)
      if (anomalies.length + found.length === 0) {
        proof = { kind: 'commit-order', order: mergeOrders(orders, history.txnCount) }
      }
      const told = found.filter((one) => !isTold || !tellsUnrepeated(one, this.isUnrepeated))
      return joinKinds(told.length + anomalies.length > 0 ? told : found, limit)
    })
    return { anomalies, proof }
  }

  private checkDirtyWrites(): Findings {
    const { history, recorded, limit, deadline } = this
    const isBroken = (i: number) => BROKEN.has(OFFENCES[recorded.offendingKind[i]!]!)
    const broken: ReadCheck = {
      ...recorded,
      offendingOp: recorded.offendingOp.filter((_, i) => isBroken(i)),
      offendingKind: recorded.offendingKind.filter((_, i) => isBroken(i)),
    }
    const anomalies = describeOffences(history, broken, limit, deadline)
    const found = findDirtyWrites(history, limit, deadline)
    anomalies.push(...joinKinds(found.anomalies, limit))
    return { anomalies, proof: anomalies.length === 0 ? found.proof : null }
  }

  private findOrder(level: CycleLevel): Int32Array | null {
    const order = this.around.order()
    const isRight = certifyCommitOrder(this.history, level, order, this.deadline).length === 0
    return isRight ? order : null
  }

  private searchParts(level: CycleLevel): { found: Anomaly[]; orders: Int32Array[] } {
    const { history, reads, deadline } = this
    const found: Anomaly[] = []
    const orders: Int32Array[] = []
    for (const part of findParts(history, reads, false, deadline)) {
      const txns = txnsOf(history, part).filter((txn) => history.txnCounts[txn] === 1)
      addFound(found, () => {
        const result = this.searchPart(level, txns)
        if (result.order !== null) orders.push(result.order)
        return result.found
      })
      if (found.length >= Math.max(this.limit, MOST_FOUND)) break
    }
    return { found, orders }
  }

  /** An order of the part, or what violates the level in it. */
  private searchPart(
    level: CycleLevel,
    txns: Int32Array,
  ): { found: Anomaly[]; order: Int32Array | null } {
    if (txns.length > MOST_TOGETHER) return this.searchWindows(level, txns)
    return this.searchTogether(level, txns, Number.POSITIVE_INFINITY)
  }

  private searchTogether(
    level: CycleLevel,
    txns: Int32Array,
    mostCases: number,
  ): { found: Anomaly[]; order: Int32Array | null } {
    const found: Anomaly[] = []
    let left = txns
    addFound(found, () => {
      while (found.length < MOST_FOUND) {
        const argument = this.refute(level, left, mostCases)
        if (argument === null) break
        if (!('edges' in argument)) {
          if (left === txns) left = argument
          break
        }
        const anomaly = this.describe(level, argument)
        found.push(anomaly)
        const involved = new Set(anomaly.txns)
        left = left.filter((txn) => !involved.has(txn))
      }
      return []
    })
    return { found, order: found.length === 0 ? left : null }
  }

  /** Looks for violations among transactions that stand close together. */
  private searchWindows(
    level: CycleLevel,
    txns: Int32Array,
  ): { found: Anomaly[]; order: Int32Array | null } {
    const isOfPart = new Uint8Array(this.history.txnCount)
    for (const txn of txns) isOfPart[txn] = 1
    const order = this.around.order().filter((txn) => isOfPart[txn] === 1)
    const found: Anomaly[] = []
    addFound(found, () => {
      for (let from = 0; from < order.length; from += WINDOW / 2) {
        const window = order.slice(from, from + WINDOW)
        found.push(...this.searchTogether(level, window, CASES_OF_WINDOW).found)
        if (found.length >= MOST_FOUND) break
      }
      return []
    })
    if (found.length > 0) return { found, order: null }
    const serial = this.around.serialOrder()
    if (serial !== null) return { found, order: serial.filter((txn) => isOfPart[txn] === 1) }
    const size = `${txns.length} transactions share keys, and ${MOST_TOGETHER} are searched together`
    throw new BudgetExceeded(`no order of versions was found: ${size}`)
  }

  /** An order of the transactions that satisfies the level, or why there is none; null: neither. */
  private refute(
    level: CycleLevel,
    txns: Int32Array,
    mostCases = Number.POSITIVE_INFINITY,
  ): Int32Array | Argument | null {
    const sorted = txns.toSorted()
    const graph = new Dependencies(this.history, this.reads, level, sorted)
    const place = new Map(Array.from(txns, (txn, i) => [txn, i]))
    const priority = graph.txnAt.map((local) => place.get(sorted[local]!)!)
    const result = searchVersions(graph, priority, this.deadline, mostCases)
    if (result === null) return null
    return result.found ? result.order.map((local) => sorted[local]!) : result
  }

  private describe(level: CycleLevel, found: Argument): Anomaly {
    const { history } = this
    const { edges, cases } = this.fold(level, this.shrink(level, found))
    const name = nameEvidence(history, edges, cases)
    return { name, count: 1, ...splitTxns(history, edges, cases), ops: [], edges, cases }
  }

  /** The same argument among as few transactions as may be. */
  private shrink(level: CycleLevel, found: Argument): Argument {
    let best = found
    const tryKeeping = (txns: readonly number[]) => {
      const argument = this.refute(level, Int32Array.from(txns))
      if (argument === null || !('edges' in argument)) return null
      best = argument
      return findTxns(argument.edges, argument.cases)
    }
    const all = findTxns(found.edges, found.cases)
    const named = tryKeeping(all) ?? all
    if (named.length <= SMALL_CORE) minimise(named, tryKeeping)
    return best
  }

  /** Fewer cases where what is left still fits the level. */
  private fold(level: CycleLevel, argument: Argument): Argument {
    if (argument.cases.length === 0) return argument
    const folded = foldCases(argument.cases, {
      startsAtCommit: () => true,
      arrivesAtSnapshot: () => true,
    })
    if (folded.edges.length === 0) return argument
    const fits = certifyCycle(this.history, level, folded.edges).length === 0
    return fits ? folded : argument
  }
}
