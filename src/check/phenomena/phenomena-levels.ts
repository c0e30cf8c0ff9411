// The verdicts of psi, and of Adya's levels from PL-CS on: does some order of the versions of every key leave
// no cycle that the level forbids (docs/levels.md)? An order of the transactions that is at hand
// is tried first; else each part that shares no key with the others is searched, small ones first
// (part-search.ts). A part that could not be decided does not keep violations of others from being
// told. Main class: PhenomenaLevels.

import type { Deadline } from '../../base/deadline.ts'
import { BudgetExceeded } from '../../base/errors.ts'
import { addAll } from '../../base/grow.ts'
import type { History } from '../../history/history.ts'
import { certifyCommitOrder } from '../../verdict/certify-order.ts'
import { LEVEL_RULES } from '../../verdict/level-rules.ts'
import type { Anomaly, Proof } from '../../verdict/verdict.ts'
import { addFound } from '../evidence/add-found.ts'
import type { Blame, Findings } from '../evidence/findings.ts'
import { joinKinds } from '../examples.ts'
import { findParts, mergeOrders, txnsOf } from '../general/parts.ts'
import { describeOffences, describeUnrepeatable } from '../reads/offences.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { findUnrepeated, tellsUnrepeated } from '../reads/unrepeated.ts'
import type { CycleLevel } from './dependencies.ts'
import { MOST_EVIDENT, Part, PartSearch, type Surroundings } from './part-search.ts'

export class PhenomenaLevels {
  private readonly isUnrepeated
  private lazyParts: readonly Part[] | null = null
  private lazyWhole: Part | null | undefined
  private readonly strictReads: boolean // whether no read contradicts its own transaction

  /**
   * @param history for Adya's levels without session order
   * @param reads for Adya's levels those of adya-reads.ts
   * @param recorded reads as they are
   */
  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    recorded: ReadCheck,
    private readonly around: Surroundings,
    private readonly limit: number,
    private readonly deadline: Deadline,
  ) {
    this.isUnrepeated = findUnrepeated(history, recorded)
    this.strictReads = reads === recorded
  }

  check(level: CycleLevel): Findings {
    const { history, reads, limit, deadline } = this
    const anomalies = describeOffences(history, reads, limit, deadline)
    const isTold = LEVEL_RULES[level].repeatable && this.strictReads
    if (isTold) addAll(anomalies, describeUnrepeatable(history, reads, limit, deadline))
    if (anomalies.length === 0) {
      const order = this.findOrder(level)
      if (order !== null) return { anomalies, proof: { kind: 'commit-order', order } }
    }
    let proof: Proof | null = null
    let blame: Blame | null = null
    addFound(anomalies, () => {
      blame = this.around.blame?.() ?? null
      return blame?.anomalies ?? []
    })
    addFound(anomalies, () => {
      if (anomalies.length > 0 && this.around.isSettled(blame)) return []
      const { found, orders } = this.searchParts(level, blame?.blamed ?? new Set())
      if (anomalies.length + found.length === 0) {
        proof = { kind: 'commit-order', order: mergeOrders(orders, history.txnCount) }
      }
      const told = found.filter((one) => !isTold || !tellsUnrepeated(one, this.isUnrepeated))
      return told.length + anomalies.length > 0 ? told : found
    })
    // Together: what is blamed and what the search finds may be of one kind.
    return { anomalies: joinKinds(anomalies, limit), proof }
  }

  private findOrder(level: CycleLevel): Int32Array | null {
    const { history, around, deadline } = this
    const isRight = (order: Int32Array) =>
      certifyCommitOrder(history, level, order, deadline).length === 0
    const order = around.order()
    if (isRight(order)) return order
    // Where versions are known the stronger level is soon decided; elsewhere it is asked last.
    const strong = history.versions === null ? null : around.strongOrder()
    return strong !== null && isRight(strong) ? strong : null
  }

  /** @param blamed transactions to do without */
  private searchParts(
    level: CycleLevel,
    blamed: ReadonlySet<number>,
  ): { found: Anomaly[]; orders: Int32Array[] } {
    const { history, reads, around, deadline } = this
    const search = new PartSearch(history, reads, level, around, deadline)
    const whole = this.findWhole(blamed)
    const evident = whole === null ? [] : search.searchGroups(whole)
    if (evident.length > 0) return { found: evident, orders: [] }
    const found: Anomaly[] = []
    const orders: Int32Array[] = []
    let undecided: BudgetExceeded | null = null
    // Whoever is to blame is so at each level that anybody is.
    this.lazyParts ??= this.findParts(blamed)
    for (const part of this.lazyParts) {
      try {
        const result = search.search(part)
        if (result.order !== null) orders.push(result.order)
        for (const anomaly of result.found) found.push(anomaly)
      } catch (error) {
        if (!(error instanceof BudgetExceeded)) throw error
        undecided ??= error
      }
      if (found.length >= Math.max(this.limit, MOST_EVIDENT)) break
    }
    if (undecided !== null && found.length === 0) throw undecided
    return { found, orders }
  }

  /** All of it, where no order of versions is open and it is known who can be on cycles. */
  private findWhole(blamed: ReadonlySet<number>): Part | null {
    const { history, reads, around, deadline } = this
    if (this.lazyWhole !== undefined) return this.lazyWhole
    this.lazyWhole = null
    const isKnown = reads.versions !== null && reads.versions.tail.length === 0
    const components = isKnown ? around.components(blamed) : null
    if (components === null) return null
    const txns = around.order().filter((txn) => !blamed.has(txn))
    this.lazyWhole = new Part(history, reads, txns, components, around, deadline)
    return this.lazyWhole
  }

  /** Small ones first. */
  private findParts(blamed: ReadonlySet<number>): Part[] {
    const { history, reads, around, deadline } = this
    return findParts(history, reads, false, deadline)
      .map((sessions) => txnsOf(history, sessions).filter((txn) => !blamed.has(txn)))
      .toSorted((a, b) => a.length - b.length)
      .map((txns) => new Part(history, reads, txns, null, around, deadline))
  }
}
