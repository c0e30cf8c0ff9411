// The verdicts of pc, si, strong-si, ser, ser+lin and sser where the order of versions is known,
// of lists by their reads and of registers by the versions that the store gave: without search
// (ordered-graph.ts), a level is violated exactly if its graph has a cycle (docs/levels.md: graph
// forms). Where nobody saw the last appends, their order is free: any order of an acyclic graph
// gives one for pc, ser and sser, since nobody read what it decides. Only si asks more of them, not
// to overlap; if the order at hand does not comply, the general engine has to look. Serial orders
// were sought before (mini-levels.ts), so ser and sser come here to be refuted, ser+lin for an
// order too. O(n), with real time O(n log n). Main class: OrderedLevels.

import type { Deadline } from '../../base/deadline.ts'
import { assert } from '../../base/errors.ts'
import { findTopologicalOrder } from '../../graph/toposort.ts'
import { type History, NONE, type TimeScope } from '../../history/history.ts'
import type { Proof } from '../../verdict/verdict.ts'
import { addFound } from '../evidence/add-found.ts'
import type { Blame, NamedFindings } from '../evidence/findings.ts'
import { hasSnapshots, isExclusive, timeScopeOf, type VersionLevel } from '../problem/levels.ts'
import { describeReads } from '../reads/offences.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { findUnrepeated } from '../reads/unrepeated.ts'
import { findCycles } from './cycles.ts'
import { CyclicParts, KeptParts, txnOf } from './cyclic-parts.ts'
import { findEachKind } from './each-kind.ts'
import { OrderedEvidence } from './ordered-evidence.ts'
import { buildOrderedGraph, type OrderedGraphOptions, Successions } from './ordered-graph.ts'
import { TimeWindows } from './time-windows.ts'

export class OrderedLevels {
  private readonly applies: boolean
  private readonly evidence: OrderedEvidence
  private readonly graphs: KeptParts<OrderedGraphOptions>

  constructor(
    private readonly history: History,
    private readonly reads: ReadCheck,
    private readonly deadline: Deadline,
    private readonly limit: number,
    private readonly blame: () => Blame,
    private readonly isSettled: (level: VersionLevel, blame: Blame) => boolean,
  ) {
    this.applies = reads.versions?.isComplete ?? false
    this.evidence = new OrderedEvidence(history, reads)
    let successions: Successions | null = null
    this.graphs = new KeptParts((options) => {
      successions ??= new Successions(history, reads.versions!)
      return buildOrderedGraph(history, reads, successions, options)
    })
  }

  /**
   * Null if the history is beyond this algorithm.
   * @param serializable whether a serial order is known: then real time is to blame
   */
  check(level: VersionLevel, serializable: boolean): NamedFindings | null {
    if (!this.applies) return null
    const { history, reads, deadline, limit } = this
    const single = describeReads(history, reads, limit, deadline)
    deadline.check()
    const snapshots = hasSnapshots(level)
    const scope = timeScopeOf(level)
    const plain = this.graphFor(level)
    if (plain === null) return null
    // Only those who stand in windows of an order can be in cycles through real time.
    let windows: TimeWindows | null = null
    let timedParts: CyclicParts | null = null
    const inWindows = (time: TimeScope) => {
      windows ??= new TimeWindows(history, plain, time, deadline)
      return windows
    }
    const timed = (time: TimeScope) => {
      timedParts ??= new CyclicParts(inWindows(time).graph)
      return timedParts
    }
    let isAcyclic = false // as far as real time does not tell
    if ((snapshots || scope === 'by-key') && single.length === 0) {
      isAcyclic = scope !== null && !plain.hasCycle(deadline)
      const inTime = isAcyclic ? inWindows(scope!).findOrder() : null
      const order = scope === null ? findTopologicalOrder(plain.csr, undefined, deadline) : inTime
      const found = order?.filter((node) => history.txnCounts[snapshots ? node >> 1 : node] === 1)
      if (found !== undefined) {
        if (isExclusive(level) && this.overlaps(found)) return null
        const proof: Proof = snapshots
          ? { kind: 'snapshots', events: found }
          : { kind: 'commit-order', order: found }
        return { anomalies: [], proof, algorithm: this.algorithm() }
      }
    }
    const isUnrepeated = findUnrepeated(history, reads)
    const cycles = (parts: CyclicParts, blamed: Set<number>) =>
      findCycles(parts, limit, deadline, blamed, isUnrepeated, (cycle) =>
        this.evidence.cycle(parts.graph, cycle, level),
      )
    // Where a serial order is known, real time is to blame.
    const onlyTime = serializable ? scope : null
    const conflicts = (blamed: Set<number>) => {
      if (onlyTime !== null) return cycles(timed(onlyTime), blamed)
      return isAcyclic ? [] : cycles(plain, blamed)
    }
    const found = [...single]
    addFound(found, () => conflicts(new Set()))
    const late = (blamed: Set<number>) => cycles(timed(scope!), blamed)
    // Without anything else to blame, real time is; else it is looked at last.
    const isLate = scope !== null && found.length === 0
    if (isLate) addFound(found, () => late(new Set()))
    assert(found.length > 0, 'a history without an order has a cycle')
    const inTime = scope !== null && onlyTime === null && !isLate ? late : null
    const isSettled = (blame: Blame) => this.isSettled(level, blame)
    const search = { single, found, blame: this.blame, isSettled, conflicts, inTime }
    return { anomalies: findEachKind(search, limit), proof: null, algorithm: this.algorithm() }
  }

  /**
   * txn -> the strongly connected component of the level's graph that it is in, NONE if it is in
   * none with others; null if the history is beyond this algorithm.
   * @param blamed transactions to do without
   */
  componentsOf(level: 'si' | 'ser', blamed: ReadonlySet<number>): Int32Array | null {
    const parts = this.applies ? this.graphFor(level) : null
    if (parts === null) return null
    const { graph } = parts
    const componentOf = new Int32Array(this.history.txnCount).fill(NONE)
    for (const [component, edges] of parts.find(blamed, this.deadline).entries()) {
      for (const edge of edges) componentOf[txnOf(graph, graph.from[edge]!)] = component
    }
    return componentOf
  }

  /** Real time aside. */
  private graphFor(level: VersionLevel): CyclicParts | null {
    const width = hasSnapshots(level) ? 2 : 1
    const exclusive = isExclusive(level)
    return this.graphs.get({ width, sessions: true, realTime: null, exclusive, overwrites: true })
  }

  /** What tells the orders. */
  private algorithm(): 'lists' | 'versions' {
    return this.history.versions === null ? 'lists' : 'versions'
  }

  /** Whether two transactions of one tail overlap in the order; all others are kept apart by it. */
  private overlaps(events: Int32Array): boolean {
    const { keyCount, opTxn, txnCount } = this.history
    const { tailStart, tail } = this.reads.versions!
    const at = new Int32Array(2 * txnCount)
    for (let i = 0; i < events.length; i++) at[events[i]!] = i
    for (let key = 0; key < keyCount; key++) {
      if (tailStart[key] === tailStart[key + 1]) continue
      const appends = tail.subarray(tailStart[key], tailStart[key + 1])
      const txns = [...new Set(appends.map((op) => opTxn[op]!))]
      txns.sort((a, b) => at[2 * a + 1]! - at[2 * b + 1]!)
      let last: number = NONE
      for (const txn of txns) {
        if (last !== NONE && at[2 * txn]! < at[2 * last + 1]!) return true
        last = txn
      }
    }
    return false
  }
}
