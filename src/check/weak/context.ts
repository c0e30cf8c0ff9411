// What the weak levels share when several are checked on one history: the base order with its stale
// reads, and, made on first use only, causality and the indexes of writers by key.

import type { Deadline } from '../../base/deadline.ts'
import type { History } from '../../history/history.ts'
import { SessionReach } from '../../history/session-reach.ts'
import { buildBaseOrder } from '../order/base-order.ts'
import { Causality } from '../order/causality.ts'
import { orderComponents } from '../order/components.ts'
import { KeyWriters } from '../order/key-writers.ts'
import { repairOrder } from '../order/repair-order.ts'
import type { BaseOrder } from '../order/stale-reads.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { Premises } from './premises.ts'

export class WeakContext {
  private current: BaseOrder
  private isRepaired = false
  readonly premises: Premises
  private lazyCausal: BaseOrder | null = null
  private lazyCausality: Causality | null = null
  private lazyWriters: KeyWriters | null = null
  private lazySessions: SessionReach | null = null

  constructor(
    readonly history: History,
    readonly reads: ReadCheck,
    readonly deadline: Deadline,
    base: BaseOrder | null = null,
    /** What the history was made of, if session order goes beyond sessions. */
    readonly recorded: History = history,
  ) {
    this.current = base ?? buildBaseOrder(history, reads, deadline)
    this.premises = new Premises(this)
  }

  /** The same, as far as the order goes, for work that has other limits. */
  withDeadline(deadline: Deadline): WeakContext {
    return new WeakContext(this.history, this.reads, deadline, this.current, this.recorded)
  }

  get base(): BaseOrder {
    return this.current
  }

  /** Makes the base order better, for levels to which every stale read is a costly question. */
  repair(): void {
    if (this.isRepaired) return
    this.isRepaired = true
    this.current = repairOrder(this.history, this.reads, this.current, this.deadline)
  }

  readonly causality = (): Causality => {
    const { history, reads, deadline } = this
    this.lazyCausality ??= new Causality(history, reads, this.causalOrder(), deadline)
    return this.lazyCausality
  }

  /** An order of so ∪ wr alone: where known version orders close a cycle, causality need not. */
  readonly causalOrder = (): BaseOrder => {
    const { history, reads, base, deadline } = this
    if (base.component === null || reads.versions === null) return base
    this.lazyCausal ??= orderComponents(history, reads, base.order, [], deadline, false)
    return this.lazyCausal
  }

  get realKeyCount(): number {
    return this.recorded.keyCount
  }

  readonly sessions = (): SessionReach => {
    this.lazySessions ??= new SessionReach(this.recorded)
    return this.lazySessions
  }

  readonly writers = (): KeyWriters => {
    this.lazyWriters ??= new KeyWriters(this.history)
    return this.lazyWriters
  }
}
