// Which reads are to blame, and what their faults are called: each read once, under its common
// name, at the weakest level that forbids it. Reads that only contradict a faulty one, and cycles
// that share a component with one of a weaker level, are no faults of their own. Main class:
// Faults.

import { type History, NONE } from '../../history/history.ts'
import type { AnomalyName } from '../../levels/anomalies.ts'
import type { ForcedEdge } from '../order/components.ts'
import type { ReadCheck } from '../reads/read-consistency.ts'
import { findUnrepeated } from '../reads/unrepeated.ts'
import { countsOnlyEarlier, type WeakLevel } from './premises.ts'
import type { ForcedOrders } from './saturate.ts'
import { SessionReads } from './session-reads.ts'

export interface Fault {
  readonly edge: ForcedEdge
  /** A read of the writer that was missed, in an earlier transaction of the session, or NONE. */
  readonly earlier: number
}

/** Orders that several reads force together; no one of them is to blame. */
export const TOGETHER: Readonly<Record<WeakLevel, AnomalyName>> = {
  rc: 'NonMonoReadCM',
  ryw: 'ConflictCM',
  mr: 'ConflictCM',
  mw: 'ConflictCM',
  wfr: 'ConflictCM',
  ra: 'FracturedReadCM',
  cc: 'ConflictCM',
}

/** What names a read that misses several versions, if one of them shows it. */
const TELLING: Readonly<Record<WeakLevel, AnomalyName>> = {
  rc: 'NonMonotonicRead',
  ryw: 'ReadYourWritesViolation',
  mr: 'MonotonicReadsViolation',
  mw: 'MonotonicWritesViolation',
  wfr: 'WritesFollowReadsViolation',
  ra: 'FracturedRead',
  cc: 'SessionGuaranteeViolation',
}

export class Faults {
  private readonly told = new Set<number>() // reads
  private readonly history: History
  private readonly reads: ReadCheck

  /** @param onFault called with every read that misses something */
  constructor(
    { history, reads }: { history: History; reads: ReadCheck },
    private readonly onFault: (read: number) => void = () => {},
  ) {
    this.history = history
    this.reads = reads
  }

  /** Reads that miss what their transaction, their session or their causes had seen. */
  missed({ level, causal, alsoCausal }: ForcedOrders): Map<AnomalyName, Fault[]> {
    const groups = new Map<AnomalyName, Fault[]>()
    const { opTxn, opKey } = this.history
    const isUnrepeated = findUnrepeated(this.history, this.reads)
    const fresh = causal.filter(({ read }) => {
      if (this.told.has(read)) return false
      this.told.add(read)
      this.onFault(read)
      return countsOnlyEarlier(level) || !isUnrepeated(opTxn[read]!, opKey[read]!)
    })
    const all = (edge: ForcedEdge) => [edge, ...(alsoCausal.get(edge.read) ?? [])]
    const writers = new Set(level === 'cc' ? fresh.flatMap(all).map(({ from }) => from) : [])
    const bySession = new SessionReads(this.history, this.reads, writers)
    for (const first of fresh) {
      // Whichever of several that it missed was found first, the most telling one names the fault.
      const ways = all(first).map((edge) => {
        const earlier = bySession.before(edge.from, opTxn[edge.read]!)
        return { edge, earlier, name: this.nameOf(level, edge, earlier) }
      })
      const { edge, earlier, name } = ways.find((way) => way.name === TELLING[level]) ?? ways[0]!
      const group = groups.get(name)
      if (group) group.push({ edge, earlier })
      else groups.set(name, [{ edge, earlier }])
    }
    return groups
  }

  /** Reads whose forced orders contradict each other. */
  contradicting({ cyclic, final: { component } }: ForcedOrders): ForcedEdge[] {
    const known = new Set<number>()
    for (const { from, read } of cyclic) if (this.told.has(read)) known.add(component![from]!)
    for (const { read } of cyclic) this.told.add(read)
    return cyclic.filter(({ from }) => !known.has(component![from]!))
  }

  private nameOf(level: WeakLevel, edge: ForcedEdge, earlier: number): AnomalyName {
    if (countsOnlyEarlier(level)) return TELLING[level]
    if (level === 'cc') return earlier === NONE ? 'CausalityViolation' : 'SessionGuaranteeViolation'
    const { opTxn, txnOpStart } = this.history
    const reader = opTxn[edge.read]!
    for (let op = txnOpStart[reader]!; op < txnOpStart[reader + 1]!; op++) {
      if (this.reads.opSource[op] === edge.from) return 'FracturedRead'
    }
    return 'SessionGuaranteeViolation'
  }
}
