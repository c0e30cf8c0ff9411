// The verdicts of ser, si, sser and pc on read-modify-write histories, in linear time (MTC, Wei et
// al.: CHECKSER, CHECKSI with the DIVERGENCE pattern first, CHECKSSER with a chain of instants in
// place of n² edges). Any history of which the base order or a run of it gives a serial order is
// settled here too, and strong-si by such an order, or by a cycle through instants.
// What is left, pc where it takes a choice between diverging versions, and other shapes, is for the
// general engine.
// Main class: MiniLevels.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import { type History, hasTimes, type TimeScope } from '../../history/history.ts'
import type { LevelId } from '../../levels/levels.ts'
import type { Anomaly } from '../../verdict/verdict.ts'
import { addFound } from '../evidence/add-found.ts'
import type { Blame, NamedFindings } from '../evidence/findings.ts'
import { joinKinds, listExamples } from '../examples.ts'
import type { BaseOrder } from '../order/stale-reads.ts'
import { hasSnapshots, timeScopeOf, type VersionLevel } from '../problem/levels.ts'
import { describeOffences, describeReads, pairsOf } from '../reads/offences.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { findUnrepeated } from '../reads/unrepeated.ts'
import { findCycles } from './cycles.ts'
import { KeptParts } from './cyclic-parts.ts'
import { buildDependencies, type DependencyOptions } from './dependency-graph.ts'
import { findEachKind } from './each-kind.ts'
import { MiniEvidence } from './evidence.ts'
import { findLinearOrder } from './linearizable.ts'
import { findSerialOrder } from './serial-order.ts'
import { isSerialRest } from './serial-rest.ts'
import type { EdgeCycle } from './short-cycles.ts'
import { findSnapshotOrder } from './snapshot-order.ts'
import { findSuccessors, type Successors } from './successors.ts'
import { isTimely } from './time-gate.ts'

interface SerialOrder {
  readonly order: Int32Array
  readonly algorithm: 'order' | 'mini' // 'order' if the base order settled it
}

export class MiniLevels {
  private lazySuccessors: Successors | null = null
  private lazySerial: SerialOrder | null | undefined
  private readonly found = new Map<VersionLevel, NamedFindings | null>()
  private readonly graphs: KeptParts<DependencyOptions>

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly base: () => BaseOrder,
    private readonly deadline: Deadline,
    private readonly limit: number,
    private readonly blame: () => Blame,
  ) {
    this.graphs = new KeptParts((options) =>
      buildDependencies(history, reads, this.successors(), options),
    )
  }

  /** True if a serial order is known, so that ser and all below it hold. */
  hasSerialOrder(): boolean {
    return this.serial() !== null
  }

  /** Null if the history is beyond these algorithms. sser and strong-si need times. */
  check(level: VersionLevel): NamedFindings | null {
    const known = this.found.get(level)
    if (known !== undefined) return known
    const findings = this.prove(level) ?? this.refute(level)
    this.found.set(level, findings)
    return findings
  }

  /** An order that satisfies the level, null if there is none or none was found. */
  private prove(level: VersionLevel): NamedFindings | null {
    const { history, reads, deadline } = this
    const serial = this.serial()
    if (serial !== null) {
      if (timeScopeOf(level) === null || isTimely(history, serial.order)) return byOrder(serial)
      deadline.check()
      const order = findSerialOrder(history, reads, true, deadline) ?? this.findOrder(level)
      return order && byOrder({ order, algorithm: 'mini' })
    }
    if (!hasSnapshots(level) || timeScopeOf(level) !== null || this.hasOffences()) return null
    // A run that gets through proves pc in any case, and si where no version was replaced twice.
    if (reads.versions !== null || (level === 'si' && !this.hasOneSuccessorEach())) return null
    deadline.check()
    const events = findSnapshotOrder(history, reads, deadline)
    return events && { anomalies: [], proof: { kind: 'snapshots', events }, algorithm: 'mini' }
  }

  /** Of what shares a key only, real time leaves orders that a run in all of it does not find. */
  private findOrder(level: VersionLevel): Int32Array | null {
    const realTime = timeScopeOf(level)
    if (realTime !== 'by-key' || !this.hasOneSuccessorEach()) return null
    const { csr } = this.graphs.get({ width: 1, sessions: true, realTime })!
    const order = findTopologicalOrder(csr, undefined, this.deadline)
    return order?.filter((node) => this.history.txnCounts[node] === 1) ?? null
  }

  /** The base order if it is serial, else one from a serial run, else null. */
  private serial(): SerialOrder | null {
    if (this.lazySerial !== undefined) return this.lazySerial
    this.lazySerial = null
    if (this.hasOffences()) return null
    const { order, component, stale } = this.base()
    if (component !== null) return null
    if (stale.read.length === 0) this.lazySerial = { order, algorithm: 'order' }
    else {
      this.deadline.check()
      const found = findSerialOrder(this.history, this.reads, false, this.deadline)
      if (found) this.lazySerial = { order: found, algorithm: 'mini' }
    }
    return this.lazySerial
  }

  private hasOffences(): boolean {
    return this.reads.offendingOp.length > 0 || this.reads.unrepeatable.length > 0
  }

  /**
   * What contradicts the level, where no order was found. Null if nothing does that is known from
   * reads alone: then the general engine has to look.
   */
  private refute(level: VersionLevel): NamedFindings | null {
    const { history, reads, limit, deadline } = this
    const single = describeReads(history, reads, limit, deadline)
    const nobody = { blamed: new Set<number>(), rest: this.base() }
    if (single.length > 0 && this.isSettled(level, nobody)) {
      return { anomalies: joinKinds(single, limit), proof: null, algorithm: 'order' }
    }
    if (reads.versions !== null) return null
    const successors = this.successors()
    const width = hasSnapshots(level) ? 2 : 1
    const cycles = (realTime: TimeScope | null, blamed: Set<number>) =>
      this.cycles(successors, level, { width, sessions: true, realTime }, blamed)
    // Real time is blamed only where nothing else is to blame.
    const scope = timeScopeOf(level)
    const onlyTime = this.hasSerialOrder() ? scope : null
    const conflicts = (blamed: Set<number>) => {
      const found: Anomaly[] = []
      if (level !== 'pc') addFound(found, () => this.lostUpdates(successors, blamed))
      addFound(found, () => cycles(onlyTime, blamed))
      return found
    }
    const found = [...single]
    addFound(found, () => conflicts(new Set()))
    // What is serializable has no other kind of cycle; snapshots may be without one and too old.
    const isLate = level === 'strong-si' && onlyTime === null && found.length === 0
    if (isLate) addFound(found, () => cycles(scope, new Set()))
    if (found.length === single.length && !successors.isReadModifyWrite) return null
    // Two successors of one version may come in either order at pc, and strong-si may hold where no
    // serial order is one in real time.
    const isOpen = level === 'strong-si' || (level === 'pc' && !this.hasOneSuccessorEach())
    if (found.length === 0 && isOpen) return null
    assert(found.length > 0, 'a read-modify-write history without an order has a cycle')
    const isMore = scope !== null && onlyTime === null && !isLate
    const inTime = isMore ? cycles.bind(null, scope) : null
    const isSettled = (blame: Blame) => this.isSettled(level, blame)
    const search = { single, found, blame: this.blame, isSettled, conflicts, inTime }
    return { anomalies: findEachKind(search, limit), proof: null, algorithm: 'mini' }
  }

  /** Whether what is left without those who are to blame satisfies the level, as far as known. */
  isSettled(level: VersionLevel, { blamed, rest }: Pick<Blame, 'blamed' | 'rest'>): boolean {
    const { history, reads } = this
    if (!isSerialRest(history, reads, rest, blamed)) return false
    return timeScopeOf(level) === null || isTimely(history, rest.order)
  }

  /** lin, on a history of lightweight operations; without times their chains alone are judged. */
  checkLinear(): NamedFindings {
    const { history, reads, limit, deadline } = this
    const anomalies = describeOffences(history, reads, limit, deadline)
    const successors = this.successors()
    // An offending read leaves the write after it without a place in its chain.
    if (!successors.isReadModifyWrite) return { anomalies, proof: null, algorithm: 'mini' }
    addFound(anomalies, () => this.lostUpdates(successors, new Set()))
    if (anomalies.length === 0) {
      const order = findLinearOrder(history, reads, successors)
      if (order) return byOrder({ order, algorithm: 'mini' })
    }
    const realTime = hasTimes(history) ? 'all' : null
    const options = { width: 1, sessions: false, realTime } as const
    addFound(anomalies, () => this.cycles(successors, 'lin', options, new Set()))
    assert(anomalies.length > 0, 'operations that are not linearizable form a cycle')
    return { anomalies, proof: null, algorithm: 'mini' }
  }

  /**
   * Two who read one version and replace it, unless one of them then read another version.
   * @param blamed transactions to do without; those of the pairs are added
   */
  private lostUpdates(successors: Successors, blamed: Set<number>): Anomaly[] {
    const { opTxn, opKey } = this.history
    const evidence = new MiniEvidence(this.history, this.reads, successors, 'ser')
    const isUnrepeated = findUnrepeated(this.history, this.reads)
    const pairs = pairsOf(successors.divergent).filter((pair) =>
      pair.every((read) => {
        const txn = opTxn[read]!
        return !blamed.has(txn) && !isUnrepeated(txn, opKey[read]!)
      }),
    )
    const describe = ([one, other]: [number, number]) => evidence.lostUpdate(one, other)
    return listExamples(pairs, this.limit, this.deadline, describe)
  }

  /** A shortest cycle of each component; by default the shortest one of each name. */
  private cycles(
    successors: Successors,
    level: LevelId,
    options: DependencyOptions,
    blamed: Set<number>,
  ): Anomaly[] {
    const { history, reads, deadline, limit } = this
    deadline.check()
    const parts = this.graphs.get(options)!
    const evidence = new MiniEvidence(history, reads, successors, level)
    const isUnrepeated = findUnrepeated(history, reads)
    const describe = (cycle: EdgeCycle) => evidence.cycle(parts.graph, cycle)
    return findCycles(parts, limit, deadline, blamed, isUnrepeated, describe)
  }

  /** True if the history is read-modify-write and no version was replaced twice. */
  private hasOneSuccessorEach(): boolean {
    const { isReadModifyWrite, divergent } = this.successors()
    return isReadModifyWrite && divergent.length === 0
  }

  private successors(): Successors {
    this.lazySuccessors ??= findSuccessors(this.history, this.reads)
    return this.lazySuccessors
  }
}

function byOrder({ order, algorithm }: SerialOrder): NamedFindings {
  return { anomalies: [], proof: { kind: 'commit-order', order }, algorithm }
}
