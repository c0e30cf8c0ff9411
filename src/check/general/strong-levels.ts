// The verdicts of pc, si, ser and sser on any history, with a proof or a minimal core. A serial
// order found on the way to the weak levels settles all but sser at once. Else the parts of the
// history that do not communicate (parts.ts) are decided one by one, by the engine or by the
// search; their orders merge into one, and a violation is cut down to a few transactions and
// explained on those alone. Main class: StrongLevels.

import type { Deadline } from '../../base/deadline.ts'
import { assert, BudgetExceeded } from '../../base/errors.ts'
import { buildCsr } from '../../graph/csr.ts'
import type { History } from '../../history/history.ts'
import type { Anomaly, Proof } from '../../verdict/verdict.ts'
import type { Findings } from '../evidence/findings.ts'
import type { BaseOrder } from '../order/stale-reads.ts'
import type { StrongLevel } from '../problem/levels.ts'
import { ProblemBuilder, type RegisterProblem } from '../problem/register-problem.ts'
import { searchOrder } from '../published/search.ts'
import { describeReads } from '../reads/offences.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { findUnrepeated, tellsUnrepeated } from '../reads/unrepeated.ts'
import type { PartOf } from './core.ts'
import { describeViolation } from './describe.ts'
import { decide, refuteByKnown, type Violation } from './engine.ts'
import { findParts, mergeByStart, mergeOrders, txnsOf } from './parts.ts'
import { ofRegisters, type Problem } from './problem.ts'
import { findRecorded, type Recorded } from './recorded-order.ts'
import { Verifier } from './verify.ts'

/** What a user may ask for; auto takes short cuts where there are any. */
export const ALGORITHMS = ['auto', 'solve', 'search'] as const
/** How strong levels are decided: `search` by the published algorithms. */
export type Algorithm = (typeof ALGORITHMS)[number]

/** Transactions that refuteNearby looks at together. */
const WINDOW = 4096

export class StrongLevels {
  private readonly builder: ProblemBuilder
  private lazyBlocks: Int32Array[] | null = null // biconnected parts
  private lazyConnected: Int32Array[] | null = null // connected parts
  private lazyRecorded: Recorded | null = null
  private readonly settled = new Set<StrongLevel>()

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly base: () => BaseOrder,
    private readonly deadline: Deadline,
    private readonly limit: number,
    private readonly algorithm: Algorithm,
  ) {
    this.builder = new ProblemBuilder(history, reads)
  }

  check(level: StrongLevel): Findings {
    const { history, reads, limit, deadline } = this
    const anomalies = describeReads(history, reads, limit, deadline)
    if (this.algorithm === 'auto' && level !== 'sser' && anomalies.length === 0) {
      const { order, component, stale } = this.base()
      if (component === null && stale.read.length === 0) {
        return { anomalies, proof: { kind: 'commit-order', order } }
      }
    }
    const orders = this.decideParts(level, anomalies)
    if (anomalies.length === 0) return { anomalies, proof: this.buildProof(level, orders) }
    const isUnrepeated = findUnrepeated(history, reads)
    const told = anomalies.filter((anomaly) => !tellsUnrepeated(anomaly, isUnrepeated))
    return { anomalies: told, proof: null }
  }

  /**
   * A violation among transactions that stand close together in the base order, or null: looks at
   * one window of it after another. Leaving out the rest never breaks a satisfied history.
   */
  refuteNearby(level: StrongLevel): Anomaly | null {
    const { order } = this.base()
    const found: Anomaly[] = []
    for (let from = 0; from < order.length && found.length === 0; from += WINDOW / 2) {
      const anomaly = this.refuteAmong(order.subarray(from, from + WINDOW), level)
      if (anomaly) found.push(anomaly)
    }
    return found[0] ?? null
  }

  /** A violation among these transactions, or null: leaving out the rest never makes one. */
  refuteAmong(txns: Int32Array, level: StrongLevel): Anomaly | null {
    const found: Anomaly[] = []
    this.decidePart(this.builder.build(txns, this.deadline), level, found)
    return found[0] ?? null
  }

  /** Whether single reads are all that violates the level, as its check has shown. */
  isSettled(level: StrongLevel): boolean {
    return this.settled.has(level)
  }

  /** The orders of the parts; what violates the level is added to the anomalies. */
  private decideParts(level: StrongLevel, anomalies: Anomaly[]): Int32Array[] {
    const orders: Int32Array[] = []
    const parts = this.partsFor(level)
    try {
      for (const part of parts) {
        this.deadline.check()
        const txns = parts.length === 1 ? null : txnsOf(this.history, part)
        const problem = this.builder.build(txns, this.deadline)
        const order = this.decidePart(problem, level, anomalies)
        if (order !== null) orders.push(order)
        else if (anomalies.length >= this.limit) break
      }
      if (orders.length === parts.length) this.settled.add(level)
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      // What was found before the budget ran out violates the level all the same.
      if (anomalies.length === 0) {
        const progress = `${orders.length} of ${parts.length} independent parts satisfy it`
        if (parts.length === 1) throw error
        throw new BudgetExceeded(error.limit, [...error.progress, progress])
      }
    }
    return orders
  }

  private recorded(): Recorded {
    this.lazyRecorded ??= findRecorded(this.history, this.reads, this.base)
    // Who asks for the engine gets it.
    return this.algorithm === 'auto' ? this.lazyRecorded : { ...this.lazyRecorded, isLikely: false }
  }

  private partsFor(level: StrongLevel): Int32Array[] {
    if (level === 'sser') {
      this.lazyConnected ??= findParts(this.history, this.reads, false, this.deadline)
      return this.lazyConnected
    }
    this.lazyBlocks ??= findParts(this.history, this.reads, true, this.deadline)
    return this.lazyBlocks
  }

  /**
   * The order of a part, as events of the history (see Proof), or null and further anomalies: one,
   * or with a higher limit one after another, among the transactions that no other involves.
   */
  private decidePart(
    registers: RegisterProblem,
    level: StrongLevel,
    anomalies: Anomaly[],
  ): Int32Array | null {
    const { deadline } = this
    if (this.algorithm === 'search') {
      const order = searchOrder(registers, level, deadline)
      if (order !== null) {
        const problem = ofRegisters(registers, level)
        return toEvents(problem, order, new Verifier(problem, deadline))
      }
    }
    let current = registers
    while (true) {
      const problem = ofRegisters(current, level)
      const decision = decide(problem, deadline, this.recorded())
      if (decision.satisfied) {
        assert(this.algorithm !== 'search' || current !== registers, 'both deciders agree')
        return current === registers ? toEvents(problem, decision.order, decision.verifier) : null
      }
      const anomaly = this.describe(current, decision, level)
      anomalies.push(anomaly)
      if (anomalies.length >= this.limit) return null
      const involved = new Set(anomaly.txns)
      current = this.builder.build(
        current.txnOf.filter((txn) => !involved.has(txn)),
        deadline,
      )
    }
  }

  private describe(registers: RegisterProblem, found: Violation, at: StrongLevel): Anomaly {
    // Real time is blamed only where nothing else is plainly to blame.
    const plain = at === 'sser' ? this.refuteWithoutTime(registers) : null
    const level = plain ? 'ser' : at
    const partOf: PartOf = (txns, _, deadline) =>
      ofRegisters(this.builder.build(txns, deadline), level)
    return describeViolation(plain ?? found, partOf, this.deadline)
  }

  /** What violates ser without any search, null if nothing does or there is no time to look. */
  private refuteWithoutTime(registers: RegisterProblem): Violation | null {
    try {
      return refuteByKnown(ofRegisters(registers, 'ser'), this.deadline.part(0.5))
    } catch (error) {
      if (!(error instanceof BudgetExceeded)) throw error
      return null
    }
  }

  private buildProof(level: StrongLevel, orders: readonly Int32Array[]): Proof {
    if (level === 'sser') return { kind: 'commit-order', order: mergeByStart(this.history, orders) }
    const width = level === 'ser' ? 1 : 2
    const merged = mergeOrders(orders, width * this.history.txnCount)
    return width === 2
      ? { kind: 'snapshots', events: merged }
      : { kind: 'commit-order', order: merged }
  }
}

/**
 * A commit order as events: transactions for ser and sser, snapshots and commits else, each
 * snapshot as late as what it read allows.
 */
function toEvents(problem: Problem, order: Int32Array, verifier: Verifier): Int32Array {
  const { txnOf, moments } = problem
  const isSplit = order.length > 0 && moments.begin[order[0]!] !== moments.commit[order[0]!]
  if (!isSplit) return order.map((txn) => txnOf[txn]!)
  const snapshots = buildCsr(order.length, verifier.findSnapshots(order), order)
  const events = new Int32Array(2 * order.length)
  let count = 0
  for (let place = 0; place < order.length; place++) {
    for (let slot = snapshots.start[place]!; slot < snapshots.start[place + 1]!; slot++) {
      events[count++] = 2 * txnOf[snapshots.target[slot]!]!
    }
    events[count++] = 2 * txnOf[order[place]!]! + 1
  }
  return events
}
