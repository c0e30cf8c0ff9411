// Adya's levels and psi, which ask for orders of versions without a circle of dependencies: which
// reads they see, which order of the transactions they begin with, and which decider they take.
// What is at hand for other levels is used, and decides nothing here. Main class: AdyaLevels.

import type { Deadline } from '../../base/deadline.ts'
import type { History } from '../../history/history.ts'
import type { Proof } from '../../verdict/verdict.ts'
import type { Blame, NamedFindings } from '../evidence/findings.ts'
import { withoutOwnWrites } from '../reads/adya-reads.ts'
import { checkReads, type ReadCheck } from '../reads/read-consistency.ts'
import { isSerialRest, runsWithout } from '../versions/serial-rest.ts'
import { WeakContext } from '../weak/context.ts'
import { WeakLevels } from '../weak/weak-levels.ts'
import { checkDirtyWrites } from './dirty-writes.ts'
import { PhenomenaLevels } from './phenomena-levels.ts'
import { findPlainOrder } from './plain-order.ts'

/** What the levels of one history share. */
export interface SharedWork {
  readonly history: History
  /** The history whose session order counts, be it within sessions or beyond them. */
  readonly ordered: History
  readonly limit: number // of examples of each kind
  readonly deadline: Deadline
  readonly reads: ReadCheck
  context(): WeakContext
  /** What proves that another level holds; null if it does not. */
  proofOf(level: 'ser' | 'si' | 'cc'): Proof | null
  /** Where versions are known: txn -> its component in the graph of a level, if it is known. */
  componentsOf(level: 'ser' | 'si', blamed: ReadonlySet<number>): Int32Array | null
  blame(): Blame
  /** Whether si was judged, and holds of all but single reads. */
  isSnapshotRest(): boolean
}

export class AdyaLevels {
  private lazyReads: ReadCheck | null = null
  private lazyContext: WeakContext | null = null
  private lazyLevels: PhenomenaLevels | null = null
  private lazyPsi: PhenomenaLevels | null = null

  constructor(private readonly shared: SharedWork) {}

  /** Whether no read contradicts its own transaction, so that other levels see the same. */
  get seesTheSame(): boolean {
    return this.reads() === this.shared.reads
  }

  /** pl-1, with whatever session order counts. */
  checkDirtyWrites(): NamedFindings {
    const { history, ordered, reads, limit, deadline } = this.shared
    // What comes after what counts, and no reads in its place.
    const seen = ordered === history ? reads : checkReads(ordered, deadline)
    const plain = findPlainOrder(ordered, seen, { isTimed: false, isRead: false }, deadline)
    if (plain !== null) return plain
    return { ...checkDirtyWrites(ordered, seen, limit, deadline), algorithm: 'dependencies' }
  }

  /** pl-2, with whatever session order counts. */
  checkPl2(): NamedFindings {
    const levels = new WeakLevels(() => this.context(), this.reads(), this.shared.limit)
    return { ...levels.checkPl2(), algorithm: 'saturation' }
  }

  /** strong-pl-1 or strong-pl-2 as far as an order of all that must be one is at hand. */
  findTimely(level: 'strong-pl-1' | 'strong-pl-2'): NamedFindings | null {
    const { ordered, deadline } = this.shared
    const isRead = level === 'strong-pl-2'
    return findPlainOrder(ordered, this.reads(), { isTimed: true, isRead }, deadline)
  }

  check(level: 'pl-cs' | 'pl-2l' | 'pl-2+' | 'pl-3u' | 'pl-2.99'): NamedFindings {
    const { history, reads: recorded, limit, deadline, proofOf, componentsOf } = this.shared
    const order = () => this.context().base.order
    const strongOrder = () => commitOrderOf(proofOf('ser'))
    const reads = this.reads()
    // Where a read was not repeated, a level that does not say so may tell of it by a cycle.
    const isSettled = () =>
      reads.unrepeatable.length === 0 &&
      isSerialRest(history, reads, this.context().base, new Set())
    const components = (blamed: ReadonlySet<number>) =>
      this.seesTheSame ? componentsOf('ser', blamed) : null
    const around = { order, strongOrder, components, isSettled }
    this.lazyLevels ??= new PhenomenaLevels(history, reads, recorded, around, limit, deadline)
    return { ...this.lazyLevels.check(level), algorithm: 'dependencies' }
  }

  /** What satisfies si satisfies psi, what violates cc violates it: both help, neither decides. */
  checkPsi(): NamedFindings {
    const { history, reads, limit, deadline, proofOf, componentsOf, blame } = this.shared
    const strongOrder = () => commitOrderOf(proofOf('si'))
    let known: ReturnType<typeof commitOrderOf> = null // asked for part by part
    const order = () => {
      known ??= commitOrderOf(proofOf('cc')) ?? this.shared.context().base.order
      return known
    }
    const isSettled = (found: Blame | null) =>
      found !== null &&
      (isSerialRest(history, reads, found.rest, found.blamed) ||
        runsWithout(history, reads, found.blamed, deadline) ||
        (found.blamed.size === 0 && this.shared.isSnapshotRest()))
    const components = (blamed: ReadonlySet<number>) => componentsOf('si', blamed)
    const around = { order, strongOrder, components, blame, isSettled }
    this.lazyPsi ??= new PhenomenaLevels(history, reads, reads, around, limit, deadline)
    return { ...this.lazyPsi.check('psi'), algorithm: 'dependencies' }
  }

  /** Other reads than those of other levels only where some contradict their own transaction. */
  private reads(): ReadCheck {
    this.lazyReads ??= withoutOwnWrites(this.shared.history, this.shared.reads)
    return this.lazyReads
  }

  /** Another order than that of other levels, where there are other reads. */
  private context(): WeakContext {
    if (this.seesTheSame) return this.shared.context()
    const { history, deadline } = this.shared
    this.lazyContext ??= new WeakContext(history, this.reads(), deadline)
    return this.lazyContext
  }
}

/** The order in which transactions commit, as far as a proof says. */
function commitOrderOf(proof: Proof | null): Int32Array | null {
  if (proof?.kind === 'commit-order') return proof.order
  if (proof?.kind !== 'snapshots') return null
  return proof.events.filter((event) => event % 2 === 1).map((event) => event >> 1)
}
